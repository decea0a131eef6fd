"""What the stages of a method have found out."""

from dataclasses import dataclass, field
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from skpresto._label_quality.findings import LabelFindings
from skpresto._training.trainer import Trainer
from skpresto._warn import warn_caller


@dataclass(frozen=True)
class Outcome:
    """What the stages of a method have found out, from which ``fit`` publishes it.

    Parameters
    ----------
    findings : LabelFindings
        About the training labels, with class numbers.
    further : dict, default={}
        Further fitted attributes by name, such as ``stop_epoch_``.
    is_interrupted : bool, default=False
        Whether training was ended before its time.
    """

    findings: LabelFindings
    further: dict[str, Any] = field(default_factory=dict)
    is_interrupted: bool = False


def outcome_of_interrupt(estimator: Any, trainer: Trainer) -> Outcome:
    """Return what the predictions of networks say whose training was interrupted."""
    warn_caller(
        f"{type(estimator).__name__}: training was interrupted in the stage "
        f"{trainer.net.stage_!r}; the networks are kept after {trainer.n_epochs} of "
        f"{estimator.max_epochs} epochs, and labels are assessed by their predictions "
        "so far. Call fit again for a complete training.",
        ConvergenceWarning,
    )
    trainer.predict_unseen_samples()
    agreement = trainer.history.agreement(trainer.labels)
    findings = LabelFindings(
        is_safe=trainer.history.is_safe(trainer.labels),
        quality=agreement,
        suggested=trainer.history.vote(),
        agreement=agreement,
        basis="votes",
    )
    return Outcome(findings, is_interrupted=True)

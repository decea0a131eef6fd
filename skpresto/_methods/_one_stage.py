"""Methods that train in one stage."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from torch import Tensor

from skpresto._classifier.base import BaseNoisyLabelClassifier
from skpresto._classifier.outcome import Outcome
from skpresto._label_quality.findings import LabelFindings
from skpresto._label_quality.mean_probabilities import MeanProbabilities
from skpresto._methods._report import early_visits, report_labels
from skpresto._networks.forward import sample_losses
from skpresto._training.policy import Policy
from skpresto._training.request import FitRequest
from skpresto._training.stage import Stage
from skpresto._training.trainer import Trainer


def losses_of(trainer: Trainer) -> Callable[[Tensor, Tensor], Tensor]:
    """Return the present criterion, as a function of logits and targets."""
    return lambda logits, targets: sample_losses(
        trainer.net.criterion_, logits, targets
    )


class OneStageClassifier(BaseNoisyLabelClassifier):
    """Train new networks in one stage, on what a policy selects."""

    #: Number of networks trained side by side.
    _n_networks = 1
    #: Whether label quality is computed from all visits, since late predictions are not
    #: those of memorized labels.
    _counts_late_visits = False

    @abstractmethod
    def _policy(self, trainer: Trainer, request: FitRequest) -> Policy:
        """Return what decides what is learned; it may train other networks first."""

    def _begin(self, trainer: Trainer, policy: Policy) -> None:
        """Do what is due when the networks are built, before the first epoch."""

    def _visits(self, trainer: Trainer) -> MeanProbabilities:
        """Return what collects the predictions that label quality is computed from."""
        if self._counts_late_visits:
            return MeanProbabilities(trainer.labels, trainer.data.n_classes)
        return early_visits(trainer, self.max_epochs)

    def _report(
        self, trainer: Trainer, visits: MeanProbabilities, policy: Policy
    ) -> LabelFindings:
        """Return what the training says about the labels."""
        is_safe = self._is_safe(trainer, policy)
        return report_labels(
            trainer, visits, is_safe=is_safe, noise_rate=policy.noise_rate
        )

    def _is_safe(self, trainer: Trainer, policy: Policy) -> Tensor | None:
        """Return which labels the method accepts; None means by vote."""
        return policy.selected

    def _further(self, policy: Policy) -> dict[str, Any]:
        """Return further fitted attributes."""
        return {}

    def _train(self, trainer: Trainer, request: FitRequest) -> Outcome:
        policy = self._policy(trainer, request)
        visits = self._visits(trainer)
        trainer.start(self._n_networks, must_differ=self._n_networks > 1)
        self._begin(trainer, policy)
        trainer.run(Stage("train", policy, self.max_epochs, recorders=[visits]))
        return Outcome(self._report(trainer, visits, policy), self._further(policy))

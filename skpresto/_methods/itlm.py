"""Iterative trimmed loss minimization: train again on the smallest losses."""

from numbers import Integral

import torch
from torch import Tensor, nn

from skpresto._classifier.base import BaseNoisyLabelClassifier
from skpresto._classifier.outcome import Outcome
from skpresto._data.features import on_device
from skpresto._data.training_data import PredictionRows
from skpresto._methods._epochs import ROUND_CONSTRAINT, round_epochs_of
from skpresto._methods._noise_rate import (
    NOISE_RATE_CONSTRAINT,
    given_or_estimated_noise_rate,
)
from skpresto._methods._report import (
    early_visits,
    has_weight,
    report_labels,
    selected_or_predicted,
)
from skpresto._methods._small_loss import is_small_loss, n_kept
from skpresto._networks.forward import require_predictions, sample_losses
from skpresto._sklearn import Interval
from skpresto._training.policy import LearnFromSubset
from skpresto._training.request import FitRequest
from skpresto._training.stage import Stage
from skpresto._training.trainer import Trainer


class LearnFromTrimmedSet(LearnFromSubset):
    """Learn from a set of samples that is chosen anew between rounds of training.

    Parameters
    ----------
    is_candidate : Tensor of shape (n_samples,), dtype=bool
        Samples that may be chosen: those with a weight. All of them are learned in the
        first round.
    """

    def __init__(self, is_candidate: Tensor) -> None:
        super().__init__(is_candidate)
        self.is_candidate = is_candidate

    def trim(self, losses: Tensor, noise_rate: float) -> None:
        """Keep the smallest losses, as many as labels are expected to be correct.

        Parameters
        ----------
        losses : Tensor of shape (n_samples,)
            Loss of each sample for the network of the round before.
        noise_rate : float
            Fraction of wrong labels, 1 - alpha in the paper. Of N samples,
            floor(alpha * N) are kept, at least one.
        """
        n_candidates = int(self.is_candidate.sum())
        among = losses.masked_fill(~self.is_candidate, torch.inf).unsqueeze(0)
        self.is_learned = is_small_loss(among, n_kept(n_candidates, noise_rate))[0]


def evaluated_losses(trainer: Trainer) -> Tensor:
    """Return the loss of every training sample at present, in evaluation mode."""
    net, data = trainer.net, trainer.data

    def losses_of(rows: PredictionRows) -> Tensor:
        with torch.no_grad():
            parts = [
                sample_losses(net.criterion_, outputs, on_device(batch[1], net.device))
                for batch, outputs in net.evaluated(rows)
            ]
        return torch.cat(parts)

    trainer.check_networks()
    rows = PredictionRows(data.X, None, data.labels)
    losses = trainer.machinery.predict(losses_of, rows)
    require_predictions(losses.isnan())
    return losses.to(trainer.labels.device)


class ITLMClassifier(BaseNoisyLabelClassifier):
    """Train in rounds, each time on the samples with the smallest losses before.

    Iterative trimmed loss minimization [1]_ trains a network on all labels, keeps the
    samples with the smallest losses, as many as labels should be correct, and trains a
    new network on them; that is repeated. A network comes to predict wrong labels when
    it is trained for long, which makes their losses small, so all rounds but the last
    are short. The cost is one fit and ``rounds`` short ones, and one more if the noise
    rate is estimated.

    Parameters
    ----------
    module : nn.Module class or instance, default=None
        The network, as in :class:`~skpresto.PrestoppingClassifier`.
    noise_rate : float in [0, 1), default=None
        Fraction of wrong labels, 1 - alpha in the paper. ``None`` estimates it as in
        :class:`~skpresto.CoTeachingClassifier`, which takes about one more fit.
    rounds : int, default=8
        Number of times that samples are chosen and a new network is trained on them.
    round_epochs : int or float, default=0.25
        Epochs of all rounds but the last, as a number or as a fraction of
        ``max_epochs``.
    q : int, default=10
        Number of latest predictions stored per sample. It does not affect training if
        ``noise_rate`` is given; the estimate of the noise rate depends on it.
    class_weight, criterion, optimizer, lr, max_epochs, batch_size, device
    callbacks, n_jobs, random_state, verbose, **net_params
        How the network is trained, as in :class:`~skpresto.PrestoppingClassifier`.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, input_shape_, net_, n_epochs_
        As in :class:`~skpresto.PrestoppingClassifier`.
    history_ : list of EpochRecord
        One record per epoch, with the name of its stage; can be passed to
        ``pandas.DataFrame``.
    safe_mask_ : ndarray of shape (n_samples,), dtype=bool
        Whether the last network was trained on the sample. A sample of weight 0 is
        safe if its label is predicted.
    label_quality_ : ndarray of shape (n_samples,)
        As in :class:`~skpresto.PrestoppingClassifier`, from the visits of the last
        round, first half of the epochs.
    label_agreement_, suggested_labels_, label_findings_
        As in :class:`~skpresto.PrestoppingClassifier`.
    noise_rate_ : float
        The noise rate used: as given, or estimated.

    See Also
    --------
    INCVClassifier : Select by predictions of a network not trained on the sample.

    Notes
    -----
    Of N samples, ``floor((1 - noise_rate) * N)`` are kept, at least one; of equal
    losses, the first is kept. Losses are those of ``criterion`` in evaluation mode. The
    authors' release trains for 80, then four times 20 and four times 133 epochs, and
    uses the epoch with the best accuracy on noisy test rows in each round; no test row
    is used here.

    References
    ----------
    .. [1] Y. Shen, S. Sanghavi, "Learning with bad training data via iterative trimmed
       loss minimization", ICML 2019.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from skpresto.baselines import ITLMClassifier
    >>> X, y = make_blobs(n_samples=200, random_state=0)
    >>> clf = ITLMClassifier(noise_rate=0.1, rounds=2, max_epochs=8, random_state=0)
    >>> clf = clf.fit(X, y)
    >>> int(clf.safe_mask_.sum())
    180
    """

    _parameter_constraints = {
        **BaseNoisyLabelClassifier._parameter_constraints,
        "noise_rate": NOISE_RATE_CONSTRAINT,
        "rounds": [Interval(Integral, 1, None, closed="left")],
        "round_epochs": ROUND_CONSTRAINT,
    }

    def __init__(
        self,
        module=None,
        *,
        noise_rate=None,
        rounds=8,
        round_epochs=0.25,
        q=10,
        class_weight=None,
        criterion=nn.CrossEntropyLoss,
        optimizer=torch.optim.SGD,
        lr=0.1,
        max_epochs=60,
        batch_size=128,
        device="cpu",
        callbacks=None,
        n_jobs=None,
        random_state=None,
        verbose=0,
        **net_params,
    ):
        self._store(locals())

    def _train(self, trainer: Trainer, request: FitRequest) -> Outcome:
        noise_rate = given_or_estimated_noise_rate(self, trainer)
        policy = LearnFromTrimmedSet(has_weight(trainer))
        n_epochs = round_epochs_of(self)
        for number in range(self.rounds):
            trainer.start()
            trainer.run(Stage(f"round {number}", policy, n_epochs))
            policy.trim(evaluated_losses(trainer), noise_rate)
        visits = early_visits(trainer, self.max_epochs)
        trainer.start()
        trainer.run(Stage("final", policy, self.max_epochs, recorders=[visits]))
        findings = report_labels(
            trainer,
            visits,
            is_safe=selected_or_predicted(trainer, policy.is_learned),
            noise_rate=noise_rate,
        )
        return Outcome(findings)

"""MORPH: Prestopping with a noise rate that is estimated on the way, and two views."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real

import torch
from torch import Tensor, nn

from skpresto._classifier.base import BaseNoisyLabelClassifier
from skpresto._classifier.outcome import Outcome
from skpresto._classifier.warnings import warn_of_lost_classes, warn_unless_settled
from skpresto._data.augment import AUGMENT_CONSTRAINT, Augment, augment_of
from skpresto._data.batch import Batch
from skpresto._methods._epochs import EPOCHS_CONSTRAINT, as_epochs
from skpresto._methods._report import early_visits, report_labels
from skpresto._methods._two_phases import LearnFromSafeSet, run_two_phases
from skpresto._sklearn import Interval
from skpresto._training.policy import Policy, Selection
from skpresto._training.request import FitRequest
from skpresto._training.trainer import StopPoint, Trainer
from skpresto.stopping import LossMixtureStop


@dataclass
class LearnSafeSetAndConsistency(LearnFromSafeSet):
    """Learn from safe samples, and equal probabilities for two views of all samples.

    The loss of a batch is the mean loss of its safe samples, plus ``weight(epoch)``
    times the mean over all samples of the squared distance of the probabilities of both
    views.

    Parameters
    ----------
    augment : Augment
        Makes the second view.
    weight : callable
        Weight of the distance, by the number of epochs completed.
    sample_weight : Tensor of shape (n_samples,), or None
        Weights of the samples in both means.
    """

    augment: Augment
    weight: Callable[[int], float]
    sample_weight: Tensor | None = None

    may_select_nothing = False
    needs_views = True

    def select(self, batch: Batch) -> Selection:
        """Return the whole batch, with its loss as a mean over all samples."""
        is_safe = (self.history.vote_of_batch() == batch.labels).to(batch.losses.dtype)
        own = torch.ones_like(is_safe)
        if self.sample_weight is not None:
            own = self.sample_weight.index_select(0, batch.index).to(own.dtype)
        of_safe = (own * is_safe).sum()
        # Weights whose mean over all samples is the mean over safe ones.
        share = is_safe * (own.sum() / of_safe.where(of_safe > 0, 1))
        weight = self.weight(batch.epoch)

        def objective(logits: Tensor, losses: Tensor) -> Tensor:
            assert batch.view is not None
            views = logits, batch.view(self.augment)
            first, second = (torch.softmax(view.float(), dim=2) for view in views)
            distance = (first - second).square().sum(dim=2)
            return share * losses + weight * distance.to(losses.dtype)

        return Selection(objective=objective)


def ramp_up(progress: float) -> float:
    """Return the Gaussian ramp ``exp(-5 * (1 - progress)**2)``, 1 from the end on.

    Examples
    --------
    >>> [round(ramp_up(t), 3) for t in (0, 0.5, 1, 2)]
    [0.007, 0.287, 1.0, 1.0]
    """
    return math.exp(-5 * (1 - min(progress, 1)) ** 2)


class MorphClassifier(BaseNoisyLabelClassifier):
    """Move on from all labels to memorized ones where an estimated noise rate says so.

    MORPH [1]_ is the successor of Prestopping by its authors. Phase I trains on all
    labels. After each epoch, the noise rate is estimated by a mixture of two normal
    distributions, fitted to the losses of the samples, which are summed up over the
    epochs; phase I ends as soon as as many labels are memorized as should be correct.
    Phase II trains on the *maximal safe set*, as in
    :class:`~skpresto.PrestoppingClassifier`, and on equal predictions for two views of
    each sample where there are any. Neither clean labels nor a noise rate are needed.
    The cost is one fit, and 1.3 to 1.5 with two views.

    Parameters
    ----------
    module : nn.Module class or instance, default=None
        The network, as in :class:`~skpresto.PrestoppingClassifier`.
    augment : callable, "auto" or None, default="auto"
        Makes the second view of the samples of a batch in phase II: a function of the
        features, as the module gets them, that returns other features of the same
        shape, on the same device. "auto" mirrors and moves images (samples of shape
        ``(channels, height, width)``) at random, and is None for other samples; if
        mirror images are of other classes, as with digits, pass a function of your own.
        None compares no views.
    consistency : float, default=5.0
        Weight of the squared distance between the probabilities of both views, w_max in
        the paper.
    ramp_epochs : int or float, default=0.25
        Epochs of phase II until that weight is reached, as a number or as a fraction of
        ``max_epochs``.
    q : int, default=10
        Number of latest predictions stored per sample. With a longer history the safe
        set changes more slowly.
    class_weight, criterion, optimizer, lr, max_epochs, batch_size, device
    callbacks, n_jobs, random_state, verbose, **net_params
        How the network is trained, as in :class:`~skpresto.PrestoppingClassifier`.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, input_shape_, net_, n_epochs_
        As in :class:`~skpresto.PrestoppingClassifier`.
    history_ : list of EpochRecord
        One record per epoch, with the name of its stage: "phase 1", "phase 2". Those of
        phase I have the estimate as ``estimated_noise_rate``. Can be passed to
        ``pandas.DataFrame``.
    safe_mask_ : ndarray of shape (n_samples,), dtype=bool
        The safe set at the end of phase II: whether the given label is the majority
        prediction.
    label_quality_ : ndarray of shape (n_samples,)
        As in :class:`~skpresto.PrestoppingClassifier`.
    label_agreement_, suggested_labels_, label_findings_
        As in :class:`~skpresto.PrestoppingClassifier`.
    noise_rate_ : float
        The noise rate that was estimated at the end of phase I.
    stop_epoch_ : int
        Number of epochs of phase I.

    See Also
    --------
    skpresto.PrestoppingClassifier : Finds the stop point with held-out rows.
    skpresto.stopping.LossMixtureStop : The end of phase I as a rule for others.

    Notes
    -----
    The safe set changes with the predictions of training passes, as in Prestopping; in
    the paper, those of a batch are predicted anew after each step on it. With two
    views, all samples of a batch are learned from, so ``selected_fraction`` is 1. The
    weight of their distance is ``consistency * exp(-5 * (1 - t)**2)``, where t grows
    from 0 to 1 over ``ramp_epochs``; the paper does not say how long. Its learning rate
    follows a cosine, which ``callbacks`` can provide.

    References
    ----------
    .. [1] H. Song, M. Kim, D. Park, Y. Shin, J.-G. Lee, "Robust learning by
       self-transition for handling noisy labels", KDD 2021.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from skpresto.baselines import MorphClassifier
    >>> X, y = make_blobs(n_samples=200, random_state=0)
    >>> clf = MorphClassifier(max_epochs=20, random_state=0).fit(X, y)
    >>> clf.noise_rate_ == clf.history_[clf.stop_epoch_ - 1].estimated_noise_rate
    True
    """

    _parameter_constraints = {
        **BaseNoisyLabelClassifier._parameter_constraints,
        "augment": AUGMENT_CONSTRAINT,
        "consistency": [Interval(Real, 0, None, closed="left")],
        "ramp_epochs": EPOCHS_CONSTRAINT,
    }

    def __init__(
        self,
        module=None,
        *,
        augment="auto",
        consistency=5.0,
        ramp_epochs=0.25,
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
        rule = LossMixtureStop()
        augment = augment_of(self.augment, trainer.data.X.sample_shape)
        ramp = max(1, as_epochs(self.ramp_epochs, self.max_epochs))

        def learn_safe(stop: StopPoint) -> Policy:
            if augment is None:
                return LearnFromSafeSet(trainer.history)
            return LearnSafeSetAndConsistency(
                trainer.history,
                augment,
                lambda epoch: self.consistency * ramp_up((epoch - stop.epoch) / ramp),
                trainer.sample_weight,
            )

        visits = early_visits(trainer, self.max_epochs)
        trainer.start()
        stop = run_two_phases(
            trainer, rule, self.max_epochs, visits, learn_safe=learn_safe
        )
        warn_unless_settled(self, rule, stop)
        rate = trainer.records[stop.epoch - 1].estimated_noise_rate
        findings = report_labels(trainer, visits, noise_rate=rate)
        warn_of_lost_classes(self, request, findings.is_safe)
        return Outcome(findings, {"stop_epoch_": stop.epoch})

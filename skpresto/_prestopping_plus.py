"""Prestopping+: a fresh network, the safe set, and corrected labels for the rest."""

from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from skpresto._prestopping import PrestoppingClassifier
from skpresto._sklearn import Interval
from skpresto._training.batch import Batch, Selection
from skpresto._training.policy import RunningShare, SelectionPolicy
from skpresto._training.refurbishment import Refurbisher
from skpresto._training.trainer import Trainer
from skpresto._training.two_phases import Vote
from skpresto._warm_up import (
    EPOCHS_CONSTRAINT,
    n_epochs_of,
    warn_if_nothing_is_corrected,
)


class LearnSafeAndRefurbished(SelectionPolicy):
    """Learn the safe samples as given and others once their label is corrected.

    Parameters
    ----------
    refurbisher : Refurbisher
        Corrects labels.
    is_safe : Tensor of shape (n_samples,), dtype=bool
        The safe set to begin with.
    warm_up : int
        Number of epochs in which only that is learnt from.
    vote : LabelHistory or WeightedVote, default=None
        Says which samples are safe after the warm-up; None goes on with ``is_safe``.
    """

    def __init__(
        self,
        refurbisher: Refurbisher,
        is_safe: Tensor,
        warm_up: int,
        vote: Vote | None = None,
    ) -> None:
        self.refurbisher = refurbisher
        self.is_safe = is_safe
        self.warm_up = warm_up
        self.vote = vote
        self._corrected = RunningShare()

    def select(self, batch: Batch) -> Selection:
        """Return the safe samples, and after the warm-up the corrected ones too."""
        is_safe = self.is_safe.index_select(0, batch.index)
        if batch.epoch < self.warm_up:
            return Selection(weights=is_safe.to(batch.losses.dtype).unsqueeze(0))
        if self.vote is not None:
            is_safe = self.vote.agrees_of_batch(batch.labels)[0] > 0
        corrected = self.refurbisher.labels_of_batch(batch)
        is_corrected = (corrected >= 0) & ~is_safe
        labels = torch.where(is_corrected, corrected, batch.labels)
        weights = (is_safe | is_corrected).to(batch.losses.dtype).unsqueeze(0)
        self._corrected.add(labels != batch.labels)
        return Selection(weights=weights, labels=labels)

    def epoch_summary(self) -> dict[str, float]:
        """Return which share was learnt from under another label."""
        return {"corrected_fraction": self._corrected.take()}


class Outcome(NamedTuple):
    """What a whole run leaves behind."""

    vote: Vote
    is_safe: Tensor
    refurbisher: Refurbisher


class PrestoppingPlusClassifier(PrestoppingClassifier):
    """Prestopping, then a fresh network on its safe set and on corrected labels.

    After a whole run of :class:`PrestoppingClassifier`, a new network is trained on
    its safe set; samples outside join as soon as the network keeps predicting one
    class for them, under that class as their corrected label [1]_. Labels of safe
    samples are never changed. It takes about three times as long as Prestopping
    (twice with ``restarts=0``) and is the more accurate of the two.

    Parameters
    ----------
    module : nn.Module class or instance, default=None
        The network, as in :class:`PrestoppingClassifier`.
    q : int, default=10
        Number of latest predictions remembered for each sample: they vote on the safe
        set, and must agree before a label is corrected.
    stop : StopRule, default=None
        Chooses the end of phase I. ``None`` means
        :class:`~skpresto.stopping.ValidationStop` if ``fit`` is given ``X_val``, and
        :class:`~skpresto.stopping.AgreementStop` otherwise.
    trust : "vote" or float in (0, 1), default="vote"
        When a label is safe, as in :class:`PrestoppingClassifier`.
    epsilon : float in [0, 1], default=0.05
        Largest uncertainty (entropy of the history, divided by its greatest possible
        value) at which a label is corrected. With the default, only labels that all q
        predictions agree on are, up to about a hundred classes.
    warm_up : int or float, default=0.25
        Epochs in which the fresh network learns from the safe set alone, as a number
        or as a share of ``max_epochs``.
    restarts : int, default=1
        Further runs with a fresh network; corrected labels are kept. Each takes as
        long as plain training and adds a network to those that predict.
    freeze : bool, default=False
        Whether the safe set stays as it is after the run of Prestopping, as in the
        paper. Otherwise the fresh network's own predictions decide who is safe as soon
        as it has warmed up: it has not seen what was left out, and unlearns wrong
        labels that had slipped in.
    average : bool, default=True
        Predict with the mean of all networks trained on the way: that of Prestopping
        and those of earlier runs are there anyway. False predicts with the last one
        alone, as in the paper.
    criterion, optimizer, lr, max_epochs, batch_size, device, callbacks
    n_jobs, random_state, verbose, **net_params
        How the network is trained, as in :class:`PrestoppingClassifier`.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, input_shape_, n_epochs_
        As in :class:`PrestoppingClassifier`.
    net_ : skorch.NeuralNet
        The trained net. With ``average``, the network of the last run is
        ``net_.module_.learner``, and those before, Prestopping's first, are
        ``net_.module_.partners``.
    history_ : list of EpochRecord
        One record an epoch and phase, phases 3 and up being those of the fresh network;
        goes straight into a ``DataFrame``.
    safe_mask_ : ndarray of shape (n_samples,), dtype=bool
        Whether the label of each sample is trusted: the safe set in the end.
    label_agreement_, suggested_labels_ : ndarray of shape (n_samples,)
        As in :class:`PrestoppingClassifier`.
    noise_rate_ : float
        Estimated share of wrong labels: the share of samples outside the safe set.
    corrected_labels_ : ndarray of shape (n_samples,)
        The corrected label where there is one, the given one elsewhere.
    corrected_mask_ : ndarray of shape (n_samples,), dtype=bool
        Where the two differ.
    stop_epoch_ : int
        Number of epochs of phase I whose result was kept.
    stop_rule_ : StopRule
        The rule that was used.

    See Also
    --------
    PrestoppingClassifier : The first run alone.

    Notes
    -----
    The loss is the mean over all samples learnt from in a batch; the denominator of
    the paper's Eq. 5 names the wrong set. The paper does not speak of a warm-up: while
    no label is corrected, Eq. 5 is training on the safe set, which is done here.
    ``restarts=0, freeze=True, average=False`` is the method as published.

    References
    ----------
    .. [1] H. Song, M. Kim, D. Park, J.-G. Lee, "How does early stopping help
       generalization against label noise?", arXiv:1911.08059, 2019.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from skpresto import PrestoppingPlusClassifier
    >>> from skpresto.stopping import NoiseRateStop
    >>> X, y = make_blobs(n_samples=200, random_state=0)
    >>> clf = PrestoppingPlusClassifier(stop=NoiseRateStop(0.2), max_epochs=20)
    >>> clf = clf.set_params(random_state=0).fit(X, y)
    >>> clf.corrected_labels_.shape
    (200,)
    """

    _parameter_constraints = {
        **PrestoppingClassifier._parameter_constraints,
        "epsilon": [Interval(Real, 0, 1, closed="both")],
        "warm_up": EPOCHS_CONSTRAINT,
        "restarts": [Interval(Integral, 0, None, closed="left")],
        "freeze": ["boolean"],
        "average": ["boolean"],
    }

    def __init__(
        self,
        module=None,
        *,
        q=10,
        stop=None,
        trust="vote",
        epsilon=0.05,
        warm_up=0.25,
        restarts=1,
        freeze=False,
        average=True,
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
        self.epsilon = epsilon
        self.warm_up = warm_up
        self.restarts = restarts
        self.freeze = freeze
        self.average = average
        super().__init__(
            module,
            q=q,
            stop=stop,
            trust=trust,
            criterion=criterion,
            optimizer=optimizer,
            lr=lr,
            max_epochs=max_epochs,
            batch_size=batch_size,
            device=device,
            callbacks=callbacks,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            **net_params,
        )

    def _train(self, trainer: Trainer, rng: np.random.RandomState) -> Outcome:
        warm_up = n_epochs_of(self, "warm_up")
        warn_if_nothing_is_corrected(self)
        vote = super()._train(trainer, rng)
        is_safe = vote.agrees(trainer.labels)
        refurbisher = Refurbisher.for_trainer(trainer, self.epsilon)
        partners: list[nn.Module] = []
        for run in range(self.restarts + 1):
            if self.average:
                partners += trainer.net.networks
            trainer.restart(partners)
            policy = LearnSafeAndRefurbished(
                refurbisher, is_safe, warm_up, None if self.freeze else vote
            )
            trainer.run(policy, self.max_epochs, phase=3 + run)
        trainer.visit_the_unvisited()
        if not self.freeze:
            is_safe = vote.agrees(trainer.labels)
        return Outcome(vote, is_safe, refurbisher)

    def _safe_mask(self, trainer: Trainer, outcome: Outcome) -> Tensor:
        return outcome.is_safe

    def _suggested_classes(self, trainer: Trainer, outcome: Outcome) -> Tensor:
        return super()._suggested_classes(trainer, outcome.vote)

    def _publish(self, trainer: Trainer, outcome: Outcome) -> None:
        super()._publish(trainer, outcome)
        corrected = outcome.refurbisher.corrected_or(trainer.labels)
        labels = torch.where(outcome.is_safe, trainer.labels, corrected)
        self.corrected_labels_ = self.classes_[labels.cpu().numpy()]
        self.corrected_mask_ = (labels != trainer.labels).cpu().numpy()

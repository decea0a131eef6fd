"""Prestopping+: a fresh network, the safe set, and corrected labels for the rest."""

from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from skpresto._prestopping import PrestoppingClassifier
from skpresto._sklearn import Interval
from skpresto._training.cross_fit import run_as_judged, run_cross_fit
from skpresto._training.refurbishment import LearnSafeAndRefurbished, Refurbisher
from skpresto._training.trainer import Trainer
from skpresto._warm_up import (
    EPOCHS_CONSTRAINT,
    n_epochs_of,
    warn_if_nothing_is_corrected,
)
from skpresto.stopping import AgreementStop, StopRule


class Outcome(NamedTuple):
    """What is known of every training label in the end, each of shape (n_samples,)."""

    is_safe: Tensor
    corrected: Tensor
    suggested: Tensor
    agreement: Tensor


class PrestoppingPlusClassifier(PrestoppingClassifier):
    """Prestopping by networks that judge each other's labels, and label correction.

    Prestopping+ [1]_ trains a fresh network on the safe set of Prestopping, and on
    other samples under a corrected label where that is clear. Here the safe set is
    found by ``folds`` networks side by side, each of which leaves out a part of the
    samples: they learn from everything up to the stop point, and then from the labels
    that are more likely right than wrong in the eyes of the network that has not
    learnt from them, so that no label has a say in its own case. Two fresh networks
    learn the result, and all predict together. This takes about ``folds + 3`` times as
    long as plain training, and is more accurate than the other methods on most data.

    Parameters
    ----------
    module : nn.Module class or instance, default=None
        The network, as in :class:`PrestoppingClassifier`. All networks start from the
        weights of an instance.
    q : int, default=10
        How long predictions of a sample count: the newest has a weight of 1/q, and
        those before share the rest. With ``folds=None``, and if the vote decides, the
        last q count, all the same; they must agree before a label is corrected.
    stop : StopRule, default=None
        Chooses the end of phase I. ``None`` means
        :class:`~skpresto.stopping.ValidationStop` if ``fit`` is given ``X_val``, and
        ``AgreementStop(margin=0, window=3)`` otherwise, which is earlier than the
        default of :class:`PrestoppingClassifier`: judges that have learnt from fewer
        wrong labels are better, and they need not know every sample.
    folds : int or None, default=5
        Number of parts, and of networks that leave one out. ``None`` is the method as
        published: one network judges the labels that it learns from, by the vote of
        :class:`PrestoppingClassifier`, and the fresh one predicts alone.
    epsilon : float in [0, 1], default=0.05
        Largest uncertainty at which a label is corrected: the probability that the
        correction is wrong or, with ``folds=None``, the entropy of the history divided
        by its greatest possible value.
    warm_up : int or float, default=0.25
        With ``folds=None``, epochs in which the fresh network learns from the safe set
        alone, as a number or as a share of ``max_epochs``.
    criterion, optimizer, lr, max_epochs, batch_size, device, callbacks
    n_jobs, random_state, verbose, **net_params
        How the network is trained, as in :class:`PrestoppingClassifier`.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, input_shape_, n_epochs_
        As in :class:`PrestoppingClassifier`.
    net_ : skorch.NeuralNet
        The trained net. The fresh networks are ``net_.module_.learner.networks``, and
        those that found the safe set are ``net_.module_.partners``. If the vote
        decides, the networks are ``net_.module_.networks``. With ``folds=None``,
        ``net_.module_`` is the network.
    history_ : list of EpochRecord
        One record an epoch and phase: 1 learns from everything, first by one network
        that finds the stop point and then by those side by side, 2 from what is safe,
        3 is that of the fresh networks. If the vote decides, the last are phases 1 and
        2 of those who vote. Goes straight into a ``DataFrame``.
    safe_mask_ : ndarray of shape (n_samples,), dtype=bool
        The safe set: whether the label of each sample is trusted.
    label_agreement_ : ndarray of shape (n_samples,)
        How likely the given label is right; safe from 0.5 on. With ``folds=None``, and
        if the vote decides, as in :class:`PrestoppingClassifier`.
    suggested_labels_ : ndarray of shape (n_samples,)
        Most likely class, or the one predicted most often if that decides.
    noise_rate_ : float
        Estimated share of wrong labels: the share of samples outside the safe set.
    corrected_labels_ : ndarray of shape (n_samples,)
        The corrected label where there is one, the given one elsewhere.
    corrected_mask_ : ndarray of shape (n_samples,), dtype=bool
        Where the two differ.
    stop_epoch_ : int
        The end of phase I that the rule chose; judges may have to wait, see the notes.
    stop_rule_ : StopRule
        The rule that was used.

    See Also
    --------
    PrestoppingClassifier : One network, and no labels corrected.

    Notes
    -----
    A network predicts what it has learnt, so its vote on labels that it learns from is
    biased towards them; how much depends on how fast it memorizes. A network that has
    left a sample out has no such bias, and its probabilities can be taken at their
    word: together with a count of which classes carry which labels, Bayes' rule says
    how likely a label is right. The probabilities take eight bytes a sample and class.
    From them follows how many of the labels to learn are still wrong; each of the two
    fresh networks leaves about as many out, those that the other finds least likely. Of
    a ``module`` instance there is one, ``net_.module_.learner``, which asks itself.

    Networks that would have it that most labels are wrong know too little of the
    classes to judge. They go on learning from everything until they trust half of the
    labels. If that takes more than half of ``max_epochs``, as on a thousand images, or
    they trust less than half in the end, the vote decides what is safe: as many
    networks, none of which leaves anything out, go together through the two phases of
    :class:`PrestoppingClassifier`, under ``AgreementStop(least=0.5)`` if they are told
    nothing, and predict. No label is corrected then. Of a ``module`` instance there is
    one, ``net_.module_``.

    The loss is the mean over all samples learnt from in a batch; the denominator of
    the paper's Eq. 5 names the wrong set. The paper does not speak of a warm-up: while
    no label is corrected, Eq. 5 is training on the safe set, which is done here.

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
        "folds": [Interval(Integral, 2, None, closed="left"), None],
        "epsilon": [Interval(Real, 0, 1, closed="both")],
        "warm_up": EPOCHS_CONSTRAINT,
    }

    def __init__(
        self,
        module=None,
        *,
        q=10,
        stop=None,
        folds=5,
        epsilon=0.05,
        warm_up=0.25,
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
        self.folds = folds
        self.epsilon = epsilon
        self.warm_up = warm_up
        super().__init__(
            module,
            q=q,
            stop=stop,
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

    def _rule_told_nothing(self) -> StopRule:
        return AgreementStop(margin=0, window=3)

    def _train(self, trainer: Trainer, rng: np.random.RandomState) -> Outcome:
        if self.folds is None:
            return self._train_as_published(trainer, rng)
        is_settled = self._find_stop_point(trainer, rng)
        opinion = run_cross_fit(
            trainer, self.folds, self.stop_epoch_, self.max_epochs, self.epsilon, rng
        )
        if opinion is None:
            return self._leave_it_to_the_vote(trainer, rng)
        if not is_settled:
            self._warn_unsettled(
                "labels are judged only after networks have learnt from all of them, "
                "which is right if they are clean"
            )
        judgement = opinion.judge_all(trainer.labels)
        run_as_judged(trainer, judgement, self.max_epochs)
        return Outcome(
            judgement.is_safe,
            judgement.labels,
            suggested=judgement.best,
            agreement=judgement.likely_right,
        )

    def _leave_it_to_the_vote(
        self, trainer: Trainer, rng: np.random.RandomState
    ) -> Outcome:
        """Let networks together judge the labels that they learn from: Prestopping."""
        if self.stop is None and trainer.data.X_valid is None:
            # Where judges are weak, little of what is right can be predicted.
            self.stop_rule_ = AgreementStop(least=0.5)
        # Networks that start alike and learn the same stay alike.
        trainer.restart(n_networks=1 if trainer.net.starts_alike_ else self.folds)
        super()._train(trainer, rng)
        trainer.visit_the_unvisited()
        history, labels = trainer.label_history, trainer.labels
        return Outcome(
            history.agrees(labels),
            labels,
            suggested=history.vote(),
            agreement=history.agreement(labels),
        )

    def _train_as_published(
        self, trainer: Trainer, rng: np.random.RandomState
    ) -> Outcome:
        """Let one network judge its own labels, and another learn what it trusts."""
        warm_up = n_epochs_of(self, "warm_up")
        warn_if_nothing_is_corrected(self)
        super()._train(trainer, rng)
        trainer.visit_the_unvisited()
        history, labels = trainer.label_history, trainer.labels
        is_safe = history.agrees(labels)
        refurbisher = Refurbisher.for_trainer(trainer, self.epsilon)
        trainer.restart()
        policy = LearnSafeAndRefurbished(refurbisher, is_safe, warm_up)
        trainer.run(policy, self.max_epochs, phase=3)
        trainer.visit_the_unvisited()
        corrected = torch.where(is_safe, labels, refurbisher.corrected_or(labels))
        return Outcome(is_safe, corrected, history.vote(), history.agreement(labels))

    def _safe_mask(self, trainer: Trainer, outcome: Outcome) -> Tensor:
        return outcome.is_safe

    def _suggested_classes(self, trainer: Trainer, outcome: Outcome) -> Tensor:
        return outcome.suggested

    def _label_agreement(self, trainer: Trainer, outcome: Outcome) -> Tensor:
        return outcome.agreement

    def _publish(self, trainer: Trainer, outcome: Outcome) -> None:
        super()._publish(trainer, outcome)
        self.corrected_labels_ = self.classes_[outcome.corrected.cpu().numpy()]
        is_changed = outcome.corrected != trainer.labels
        self.corrected_mask_ = is_changed.cpu().numpy()

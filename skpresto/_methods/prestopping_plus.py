"""Prestopping+: a new network trained on the safe set and on corrected labels."""

from numbers import Real

import torch
from torch import Tensor, nn

from skpresto._classifier.outcome import Outcome
from skpresto._classifier.warnings import warn_of_lost_classes, warn_unless_settled
from skpresto._data.batch import Batch
from skpresto._methods._epochs import (
    EPOCHS_CONSTRAINT,
    n_epochs_of,
    warn_if_nothing_is_corrected,
)
from skpresto._methods._refurbishment import Refurbisher
from skpresto._methods._report import early_visits, report_labels
from skpresto._methods._two_phases import run_two_phases
from skpresto._methods.prestopping import PrestoppingClassifier
from skpresto._sklearn import Interval
from skpresto._training.policy import CorrectingPolicy, Selection
from skpresto._training.request import FitRequest
from skpresto._training.stage import Stage
from skpresto._training.trainer import Trainer
from skpresto.stopping import AgreementStop


class LearnSafeAndRefurbished(CorrectingPolicy):
    """Learn from a fixed safe set, and from other samples once they are corrected.

    The second stage of Prestopping+ (Eq. 5 of the paper).

    Parameters
    ----------
    refurbisher : Refurbisher
        Corrects labels.
    is_safe : Tensor of shape (n_samples,), dtype=bool
        The safe set. It does not change.
    warm_up : int
        Number of epochs in which only the safe set is learned.
    """

    _state = ("refurbisher",)

    def __init__(self, refurbisher: Refurbisher, is_safe: Tensor, warm_up: int) -> None:
        super().__init__()
        self.refurbisher = refurbisher
        self.safe_set = is_safe
        self.warm_up = warm_up

    def select(self, batch: Batch) -> Selection:
        """Return the safe samples and, after the warm-up, the corrected ones."""
        is_safe = self.safe_set.index_select(0, batch.index)
        if batch.epoch < self.warm_up:
            return Selection(weights=is_safe.to(batch.losses.dtype).unsqueeze(0))
        corrected = self.refurbisher.labels_of_batch(batch)
        is_corrected = (corrected >= 0) & ~is_safe
        labels = torch.where(is_corrected, corrected, batch.labels)
        weights = (is_safe | is_corrected).to(batch.losses.dtype).unsqueeze(0)
        self.count_corrected(labels != batch.labels)
        return Selection(weights=weights, targets=labels)


class PrestoppingPlusClassifier(PrestoppingClassifier):
    """Train a new network on the safe set of Prestopping and on corrected labels.

    Prestopping+ [1]_ finds the safe set as :class:`PrestoppingClassifier` does. A new
    network is then trained on that safe set, which does not change any more, and on
    other samples with a corrected label once the network predicts the same class
    consistently ("refurbishment", as in :class:`SelfieClassifier`). The cost is two to
    three fits.

    Parameters
    ----------
    module : nn.Module class or instance, default=None
        The network, as in :class:`PrestoppingClassifier`.
    q : int, default=10
        Number of latest predictions stored per sample. They decide which labels are
        safe, and all of them are needed to correct a label.
    stop : StopRule, default=None
        Chooses the end of phase I. ``None`` means
        :class:`~skpresto.stopping.ValidationStop` if ``fit`` is given ``X_val``, and
        ``AgreementStop(margin=0, window=3)`` otherwise.
    epsilon : float in [0, 1], default=0.05
        Largest uncertainty (entropy of the last q predictions, divided by its maximum)
        at which a label is corrected.
    warm_up : int or float, default=0.25
        Epochs in which the new network is trained on the safe set alone, as a number
        or as a fraction of ``max_epochs``.
    class_weight, criterion, optimizer, lr, max_epochs, batch_size, device
    callbacks, n_jobs, random_state, verbose, **net_params
        How networks are trained, as in :class:`PrestoppingClassifier`.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, input_shape_, net_, n_epochs_
        As in :class:`PrestoppingClassifier`.
    history_ : list of EpochRecord
        One record per epoch, with the name of its stage: "phase 1", "phase 2", and
        "final" for the new network. Can be passed to ``pandas.DataFrame``.
    safe_mask_ : ndarray of shape (n_samples,), dtype=bool
        The safe set at the end of phase II, on which the new network is trained.
    label_quality_ : ndarray of shape (n_samples,)
        As in :class:`PrestoppingClassifier`, from the visits of phase II.
    label_agreement_, suggested_labels_ : ndarray of shape (n_samples,)
        As in :class:`PrestoppingClassifier`, from the last ``q`` predictions of the new
        network.
    noise_rate_ : float
        Estimated fraction of wrong labels: the fraction of samples outside the safe
        set.
    corrected_labels_ : ndarray of shape (n_samples,)
        The corrected label where there is one, the given one elsewhere.
    corrected_mask_ : ndarray of shape (n_samples,), dtype=bool
        Where the two differ.
    label_findings_ : LabelFindings
        The above, per sample, as one object.
    stop_epoch_ : int
        Number of epochs of phase I that were kept.
    stop_rule_ : StopRule
        The rule that was used.

    See Also
    --------
    PrestoppingClassifier : One network, and no labels corrected.
    CrossPrestoppingClassifier : Out-of-fold predictions decide which labels are safe.

    Notes
    -----
    The loss is the mean over all samples trained on in a batch; the denominator of the
    paper's Eq. 5 names another set, which appears to be a misprint. The paper does not
    mention a warm-up: while no label is corrected, Eq. 5 is training on the safe set,
    and so is the warm-up here.

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

    _default_stop = AgreementStop(margin=0, window=3)
    _parameter_constraints = {
        **PrestoppingClassifier._parameter_constraints,
        "epsilon": [Interval(Real, 0, 1, closed="both")],
        "warm_up": EPOCHS_CONSTRAINT,
    }

    def __init__(
        self,
        module=None,
        *,
        q=10,
        stop=None,
        epsilon=0.05,
        warm_up=0.25,
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
        assert request.rule is not None
        warm_up = n_epochs_of(self, "warm_up")
        warn_if_nothing_is_corrected(self)
        visits = early_visits(trainer, self.max_epochs)
        trainer.start()
        stop = run_two_phases(trainer, request.rule, self.max_epochs, visits)
        warn_unless_settled(self, request.rule, stop)
        trainer.predict_unseen_samples()
        labels = trainer.labels
        is_safe = trainer.history.is_safe(labels)
        refurbisher = Refurbisher(trainer.history, labels, self.epsilon)
        policy = LearnSafeAndRefurbished(refurbisher, is_safe, warm_up)
        trainer.start()
        trainer.run(Stage("final", policy, self.max_epochs))
        corrected = torch.where(is_safe, labels, refurbisher.corrected_or(labels))
        findings = report_labels(trainer, visits, is_safe=is_safe, corrected=corrected)
        warn_of_lost_classes(self, request, findings.is_safe)
        return Outcome(findings, {"stop_epoch_": stop.epoch})

"""CrossPrestopping: labels accepted by out-of-fold predictions, then an ensemble."""

import math
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from skpresto._classifier.outcome import Outcome
from skpresto._classifier.warnings import warn_of_lost_classes, warn_unless_settled
from skpresto._label_quality.findings import LabelFindings
from skpresto._methods._ensemble_fallback import fall_back_to_ensemble
from skpresto._methods._final_networks import (
    POWER_OF_PRODUCT,
    multiplied_by_ensemble,
    train_final_networks,
    with_rows_of_weight_zero,
)
from skpresto._methods._fold_networks import last_start, train_fold_networks
from skpresto._methods._two_phases import held_out_rows
from skpresto._methods.prestopping import PrestoppingClassifier
from skpresto._sklearn import HasMethods, Interval
from skpresto._splits import assign_folds
from skpresto._training.policy import LearnFromAll
from skpresto._training.request import FitRequest
from skpresto._training.stage import Stage
from skpresto._training.trainer import Trainer
from skpresto.stopping import StopRule

#: Epochs on all labels before labels are weighted, unless a stop rule is given. Later
#: starts lose on pair noise, earlier ones on symmetric noise (benchmarks/NOTES.md).
PHASE_ONE_EPOCHS = 3


class CrossPrestoppingClassifier(PrestoppingClassifier):
    """Accept labels by out-of-fold predictions, and train an ensemble on them.

    A network trained on a wrong label comes to predict it, so its own predictions are
    biased towards the given labels. Here ``cv`` networks are trained side by side, each
    of which leaves one fold out (cross-fitting): on all labels for a few epochs, then
    with weights by the posterior probability of each label, computed from the
    predictions of the network that was not trained on it. Two final networks are
    trained on the posterior class probabilities of all samples, and all networks
    predict as an ensemble. Neither clean labels nor a noise rate are needed. The cost
    is about five fits.

    This method is unpublished. The evidence for it is the benchmark of this package:
    over 25 rows of noisy data, it closed on average 77 % of the gap in test error
    between training on noisy and on correct labels (Co-teaching with the true noise
    rate: 55 %, Prestopping: 30 %). With symmetric noise, Co-teaching is often better.

    Parameters
    ----------
    module : nn.Module class or instance, default=None
        The network, as in :class:`PrestoppingClassifier`. All networks start from the
        weights of an instance.
    cv : int or cross-validation splitter, default=5
        Number of folds, stratified by label, or a scikit-learn splitter. One network
        is trained per fold. Only the test folds of a splitter are used; they must be
        disjoint, and samples in none of them are assessed by a network trained on
        them. To keep groups of samples together, pass the fold of each sample as
        :class:`~sklearn.model_selection.PredefinedSplit`. A splitter that shuffles
        needs a ``random_state`` of its own.
    fold_epochs : float in (0, 1] or int, default=0.6
        Length of the training of the fold networks, as a fraction of ``max_epochs`` or
        a number of epochs; it decides about the cost, about ``2 + cv * fold_epochs``
        fits. The built-in schedule of the learning rate is shortened with it; a
        schedule among the callbacks is not.
    q : int, default=10
        Number of visits over which out-of-fold probabilities are averaged: the latest
        has weight 1/q, and the weights of earlier ones decay exponentially.
    stop : StopRule, default=None
        Chooses how long the fold networks are trained on all labels, at most half of
        their epochs, by a further training of one network. ``None`` means three epochs:
        fold networks trained on fewer wrong labels assess labels better, and need not
        fit every sample.
    epsilon : float in [0, 1], default=0.05
        A label is corrected if another class has a posterior probability of at least
        ``1 - epsilon``.
    class_weight, criterion, optimizer, lr, max_epochs, batch_size, device
    callbacks, n_jobs, random_state, verbose, **net_params
        How networks are trained, as in :class:`PrestoppingClassifier`.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, input_shape_, n_epochs_
        As in :class:`PrestoppingClassifier`.
    net_ : skorch.NeuralNet
        The trained net. The final networks are ``net_.module_.final.networks``, the
        fold networks ``net_.module_.folds``; after a fallback, the networks are
        ``net_.module_.networks``.
    history_ : list of EpochRecord
        One record per epoch, with the name of its stage: "search" (one network, to find
        the stop point, if ``stop`` is given), "cross-fit phase 1", "cross-fit phase 2",
        and "final" or, after a fallback, "fallback phase 1" and "fallback phase 2". Can
        be passed to ``pandas.DataFrame``.
    safe_mask_ : ndarray of shape (n_samples,), dtype=bool
        Whether the label is accepted: a quality of at least 0.5; after a fallback,
        whether it is the majority prediction.
    label_quality_ : ndarray of shape (n_samples,)
        Posterior probability that the given label is correct. Use it to rank labels; it
        is not calibrated.
    label_agreement_ : ndarray of shape (n_samples,)
        Fraction of the last ``q`` predictions of the final networks that equal the
        given label.
    suggested_labels_ : ndarray of shape (n_samples,)
        Class with the highest posterior probability; after a fallback, the majority
        prediction.
    corrected_labels_ : ndarray of shape (n_samples,)
        The corrected label where there is one, the given one elsewhere.
    corrected_mask_ : ndarray of shape (n_samples,), dtype=bool
        Where the two differ.
    transition_matrix_ : ndarray of shape (n_classes, n_classes)
        Estimated probability of each given label (columns) for each true class (rows),
        counted on out-of-fold predictions. Not available after a fallback.
    noise_rate_ : float
        Estimated fraction of wrong labels: the fraction of labels not accepted.
    label_findings_ : LabelFindings
        The above, per sample, as one object.
    used_fallback_ : bool
        Whether the fold networks were too inaccurate and an ensemble was trained
        instead, see the notes.
    stop_epoch_ : int
        The end of phase I; it may be extended, see the notes.
    stop_rule_ : StopRule or None
        The rule that was used, if there was one.

    See Also
    --------
    PrestoppingClassifier : One network.
    PrestoppingPlusClassifier : The published extension of Prestopping.

    Notes
    -----
    If samples of class j carry the label k with probability ``T[j, k]``, then by Bayes'
    rule a sample with out-of-fold probabilities p and label k belongs to class j with a
    probability proportional to ``p[j] * T[j, k]``. T is counted from the predicted
    classes, anew in each epoch. A label of posterior probability a, where the most
    probable other class has b, has the weight ``a / (a + b)`` when fold networks are
    trained, and none if a is below b. The final posterior uses the geometric mean of
    the probabilities, temperature scaling, and a T counted among the more confident
    half of each class. The wrong labels of a class are shrunk towards uniform ones, as
    far as the counts of all classes are uniform (empirical Bayes). The final networks
    learn the posterior itself; with a criterion that takes no class probabilities, they
    learn its most probable class, weighted by it. Four fifths of the weight in the
    ensemble are on them. Label quality is computed from the same probabilities times
    those that all fold networks predict together, to the power 0.7. Probabilities take
    eight bytes per sample and class, four in half precision beyond 2**26 values.

    Phase I is extended until half of the labels are accepted, and a tenth of those of
    each class that is not rare. If that takes more than half of the epochs of the fold
    networks, as on a thousand images, or if fewer are accepted then or in the end, the
    method falls back: three networks trained on all folds go through both phases of
    :class:`PrestoppingClassifier` together, by default under ``AgreementStop`` with
    ``min_memorized_fraction=0.5``, or :class:`~skpresto.stopping.ValidationStop` if
    ``fit`` is given ``X_val``. No label is corrected, and a warning is issued.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from skpresto import CrossPrestoppingClassifier
    >>> X, y = make_blobs(n_samples=200, random_state=0)
    >>> clf = CrossPrestoppingClassifier(cv=3, max_epochs=20, random_state=0)
    >>> clf = clf.fit(X, y)
    >>> clf.transition_matrix_.shape
    (3, 3)
    """

    _parameter_constraints = {
        **PrestoppingClassifier._parameter_constraints,
        "cv": [Interval(Integral, 2, None, closed="left"), HasMethods(["split"])],
        "fold_epochs": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="right"),
        ],
        "epsilon": [Interval(Real, 0, 1, closed="both")],
    }

    def __init__(
        self,
        module=None,
        *,
        cv=5,
        fold_epochs=0.6,
        q=10,
        stop=None,
        epsilon=0.05,
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

    def _check_request(self, given: dict[str, Any]) -> StopRule | None:
        return None if self.stop is None else super()._check_request(given)

    def _train(self, trainer: Trainer, request: FitRequest) -> Outcome:
        if not isinstance(self.cv, Integral):  # splitters may fail: before training
            fold_of = self._assign_folds(trainer)
        n_epochs = self._n_fold_epochs()
        start = self._search_stop_epoch(trainer, request.rule, n_epochs)
        if isinstance(self.cv, Integral):
            fold_of = self._assign_folds(trainer)
        posterior = train_fold_networks(
            trainer, fold_of, start, n_epochs, self.epsilon, self.q
        )
        if posterior is None:
            return fall_back_to_ensemble(self, trainer, request)
        product = multiplied_by_ensemble(trainer, posterior.probability)
        train_final_networks(trainer, posterior, self.max_epochs)
        if trainer.data.rows_with_weight is not None:
            product = with_rows_of_weight_zero(trainer, product)
        combined = replace(posterior, probability=product, power=POWER_OF_PRODUCT)
        assessment = combined.assess_all()
        trainer.predict_unseen_samples()
        findings = LabelFindings(
            is_safe=assessment.is_safe,
            quality=combined.label_quality(),
            suggested=assessment.suggested,
            agreement=trainer.history.agreement(trainer.labels),
            corrected=assessment.labels,
            is_corrected=assessment.labels != trainer.labels,
            transition_matrix=posterior.transition_matrix,
            basis="out of fold",
            disagreement=posterior.disagreement(),
        )
        warn_of_lost_classes(self, request, findings.is_safe)
        further = {"stop_epoch_": start, "stop_rule_": request.rule}
        return Outcome(findings, {**further, "used_fallback_": False})

    def _n_fold_epochs(self) -> int:
        """Return the number of epochs of the fold networks, at least one."""
        if isinstance(self.fold_epochs, Integral):
            return int(self.fold_epochs)
        return math.ceil(self.fold_epochs * self.max_epochs)

    def _search_stop_epoch(
        self,
        trainer: Trainer,
        rule: StopRule | None,
        n_epochs: int,
    ) -> int:
        """Return the length of phase I, from a training of its own if a rule is given.

        It is at most half of ``n_epochs``.
        """
        latest = last_start(n_epochs)
        if rule is None:
            return min(PHASE_ONE_EPOCHS, latest)
        trainer.start()
        stop = trainer.search(
            Stage(
                "search",
                LearnFromAll(),
                self.max_epochs,
                phase=1,
                holdout=held_out_rows(trainer, rule),
                rule=rule,
            )
        )
        warn_unless_settled(
            self,
            rule,
            stop,
            f"labels are weighted from epoch {latest} on, half of the epochs of the "
            "fold networks",
        )
        return min(stop.epoch, latest)

    def _assign_folds(self, trainer: Trainer) -> NDArray[np.intp]:
        """Return the fold of each sample; those of weight 0 are in none by default."""
        labels, rows = trainer.data.labels.numpy(), trainer.data.rows_with_weight
        name = type(self).__name__
        if rows is None or not isinstance(self.cv, Integral):
            folds = assign_folds(labels, self.cv, trainer.rng, name)
        else:
            folds = np.full(len(labels), -1)
            folds[rows] = assign_folds(labels[rows], self.cv, trainer.rng, name)
        if (folds < 0).all():
            raise ValueError(
                f"{name} needs rows to hold out, but no class has more than one row. "
                "Use more samples, or a method that holds none out, such as "
                "DefaultClassifier."
            )
        return folds

"""CrossPrestopping: labels accepted by out-of-fold predictions, then an ensemble."""

from numbers import Integral, Real
from typing import Any

import torch
from torch import nn

from skpresto._classifier.outcome import Outcome
from skpresto._classifier.warnings import warn_of_lost_classes
from skpresto._methods._cross_fit_findings import (
    cross_fit_findings,
    warn_of_two_classes,
)
from skpresto._methods._cross_fit_plan import folds_of_samples, search_stop_epoch
from skpresto._methods._ensemble_fallback import fall_back_to_ensemble
from skpresto._methods._epochs import whole_epochs
from skpresto._methods._final_networks import (
    multiplied_by_ensemble,
    train_final_networks,
)
from skpresto._methods._fold_networks import train_fold_networks
from skpresto._methods._second_opinion import second_opinion
from skpresto._methods.prestopping import PrestoppingClassifier
from skpresto._sklearn import HasMethods, Interval, StrOptions, _fit_context
from skpresto._training.request import FitRequest
from skpresto._training.trainer import Trainer
from skpresto.stopping import StopRule

_LENGTH = [
    Interval(Integral, 1, None, closed="left"),
    Interval(Real, 0, 1, closed="right"),
]


class CrossPrestoppingClassifier(PrestoppingClassifier):
    """Accept labels by out-of-fold predictions, and train an ensemble on them.

    A network trained on a wrong label comes to predict it, so its own predictions are
    biased towards the given labels. Here ``cv`` networks are trained side by side, each
    of which leaves one fold out (cross-fitting): on all labels for a few epochs, then
    with weights by the posterior probability of each label, computed from the
    predictions of the network that was not trained on it. A model of another kind, by
    default trees, has a say in it: the labels given around a sample are evidence on its
    class. Two final networks are trained on the posterior class probabilities of all
    samples, and all networks predict as an ensemble. Neither clean labels nor a noise
    rate are needed. The cost is about five fits, or less (:doc:`/choosing`).

    This method is unpublished. The evidence for it is the benchmark of this package:
    over 25 rows of noisy data, it closed on average 77 % of the gap in test error
    between training on noisy and on correct labels without an assessor (Co-teaching
    with the true noise rate: 55 %, Prestopping: 30 %). With two classes and no assessor
    it can be worse than plain training: see the notes.

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
        a number of epochs. The built-in schedule of the learning rate is shortened with
        it; a schedule among the callbacks is not.
    n_final_networks : int, default=2
        Number of final networks; one if the module is an instance. The cost is about
        ``cv * fold_epochs + n_final_networks * final_epochs`` fits.
    final_epochs : float in (0, 1] or int, default=1.0
        Length of their training, as ``fold_epochs``.
    fold_weight : float in [0, 1), default=0.2
        Weight of all fold networks together in the vote; with 0 they are not kept.
    assessor : "auto", classifier with ``predict_proba`` or None, default=None
        Predicts which label each sample is given, for samples that it was not trained
        on. Any classifier or Pipeline of scikit-learn; it is cloned, and every
        ``random_state`` that is None is set. With ``oob_score=True`` and a number as
        ``cv``, predictions are out of bag, else out of fold over ``cv``. "auto" is few
        extremely randomized trees, at little cost, if ``X`` is a table or a sparse
        matrix in memory of not too many classes, else None: it helps where mistakes
        depend on the sample, and with two classes. None leaves it to the networks.
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
        Posterior probability that the given label is correct, after a fallback its mean
        with that of the ensemble. Use it to rank labels; it is not calibrated.
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
    assessor_ : classifier or None
        What the assessor was, before it is cloned and fitted: that of "auto", too.
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
    classes, anew in each epoch. If the assessor predicts that it is given the labels k
    with probabilities v, this is multiplied by the likelihood of such labels in class
    j, the product of ``T[j, k] ** v[k]``, and T is counted once more. A label of
    posterior probability a, where the most probable other class has b, has the weight
    ``a / (a + b)`` when fold networks are trained, and none if a is below b. The final
    posterior uses the geometric mean of the probabilities, temperature scaling, and
    without assessor a T counted among the more confident half of each class. The wrong
    labels of a class are shrunk towards uniform ones, as far as the counts of all
    classes are uniform (empirical Bayes). The final networks learn the posterior
    itself; with a criterion that takes no class probabilities, they learn its most
    probable class, weighted by it. Label quality is computed from the same
    probabilities times those that all fold networks predict together.
    Probabilities take eight bytes per sample and class, four in half precision beyond
    2**26 values.

    Phase I is extended until half of the labels are accepted, and a tenth of those of
    each class that is not rare. If that takes more than half of the epochs of the fold
    networks, as on a thousand images, or if fewer are accepted then or in the end, the
    method falls back: ``2 * n_final_networks - 1`` networks trained on all folds go
    through both phases of :class:`PrestoppingClassifier` together, by default under
    ``AgreementStop`` with ``min_memorized_fraction=0.5``, or
    :class:`~skpresto.stopping.ValidationStop` if ``fit`` is given ``X_val``. No label
    is corrected, and a warning is issued.

    With two classes, a wrong label of a sample that fold networks mispredict agrees
    with them and is accepted, so that early mistakes may stay. Evidence is then
    weighted (``v`` is multiplied by 1 to 16) such that the labels are most likely.
    Without an assessor a warning is issued if many labels are not predicted.

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
        "fold_epochs": _LENGTH,
        "n_final_networks": [Interval(Integral, 1, None, closed="left")],
        "final_epochs": _LENGTH,
        "fold_weight": [Interval(Real, 0, 1, closed="left")],
        "assessor": [StrOptions({"auto"}), HasMethods(["fit"]), None],
        "epsilon": [Interval(Real, 0, 1, closed="both")],
    }

    def __init__(
        self,
        module=None,
        *,
        cv=5,
        fold_epochs=0.6,
        n_final_networks=2,
        final_epochs=1.0,
        fold_weight=0.2,
        assessor=None,
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

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X,
        y=None,
        sample_weight=None,
        *,
        X_val=None,
        y_val=None,
        y_true=None,
        pred_proba=None,
    ):
        """Train on labels of which some may be wrong.

        Parameters
        ----------
        X, y, sample_weight, X_val, y_val, y_true
            As in :class:`PrestoppingClassifier`.
        pred_proba : array-like of shape (n_samples, n_classes), default=None
            Probabilities of the given labels, predicted for each sample by a model that
            was not trained on it, instead of those of ``assessor``: from a linear model
            on embeddings of images or texts, for example, by
            :func:`~sklearn.model_selection.cross_val_predict`. Columns are in the order
            of ``classes_``, or have the labels as names. A row of zeros says nothing.

        Returns
        -------
        self : estimator instance
            The fitted classifier.
        """
        given = {"X_val": X_val, "y_val": y_val, "y_true": y_true}
        return self._checked_fit(X, y, sample_weight, pred_proba=pred_proba, **given)

    def _check_request(self, given: dict[str, Any]) -> StopRule | None:
        return None if self.stop is None else super()._check_request(given)

    def _train(self, trainer: Trainer, request: FitRequest) -> Outcome:
        if not isinstance(self.cv, Integral):  # splitters may fail: before training
            fold_of = folds_of_samples(self, trainer)
        opinion = second_opinion(self, trainer, request)
        n_epochs = whole_epochs(self.fold_epochs, self.max_epochs)
        start = search_stop_epoch(self, trainer, request.rule, n_epochs)
        if isinstance(self.cv, Integral):
            fold_of = folds_of_samples(self, trainer)
        posterior, is_accurate = train_fold_networks(
            trainer, fold_of, start, n_epochs, self.epsilon, self.q, opinion.given
        )
        if not is_accurate:
            outcome = fall_back_to_ensemble(self, trainer, request, posterior)
            outcome.further["assessor_"] = opinion.assessor
            return outcome
        product = multiplied_by_ensemble(trainer, posterior.probability)
        train_final_networks(
            trainer,
            posterior,
            self.n_final_networks,
            whole_epochs(self.final_epochs, self.max_epochs),
            self.fold_weight,
        )
        findings = cross_fit_findings(trainer, posterior, product)
        warn_of_lost_classes(self, request, findings.is_safe)
        warn_of_two_classes(self, posterior)
        further = {"stop_epoch_": start, "stop_rule_": request.rule}
        further |= {"assessor_": opinion.assessor, "used_fallback_": False}
        return Outcome(findings, further)

"""LabelCleaningClassifier: any classifier, trained on labels that are believed."""

from dataclasses import replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.validation import validate_data

from skpresto._cleaning.believed import Believed
from skpresto._cleaning.decision import Decision, decide
from skpresto._cleaning.predictions import PredictsAllClassesMixin
from skpresto._cleaning.task import Task, checked_task
from skpresto._label_quality.assessor import assessor_of
from skpresto._label_quality.choice import Candidate, candidates_for, draw_comparison
from skpresto._label_quality.findings import LabelFindings, fingerprint_of
from skpresto._label_quality.rounds import RoundsAssessment
from skpresto._sklearn import HasMethods, Interval, _fit_context
from skpresto._warn import warn_caller
from skpresto.exceptions import FallbackWarning

#: Fewer trees than in an audit, which ranks labels, clean them as well.
_N_TREES = 50


class LabelCleaningClassifier(
    PredictsAllClassesMixin, MetaEstimatorMixin, ClassifierMixin, BaseEstimator
):
    """Train any classifier on labels of which some are wrong.

    Each label is assessed by a model that was not trained on it, in three rounds. Then
    the classifier is fitted on the most probable class of each sample, weighted by its
    probability. Rows that are held out before anything is assessed decide who assesses
    the labels, and whether it helps; if not, the classifier is fitted on the labels as
    they are given. Neither clean labels nor a noise rate are needed. torch is not
    loaded.

    Parameters
    ----------
    estimator : classifier, Pipeline or search
        The classifier to fit, for instance one of LightGBM, XGBoost or CatBoost.
        Clones of it are fitted. If its ``fit`` takes no ``sample_weight``, it is
        fitted on the rows whose class is believed.
    assessor : classifier, default=None
        Who assesses the labels, with ``predict_proba``: by out-of-bag predictions if it
        has ``oob_score=True`` and ``cv`` is a number, else out of fold. ``None``
        chooses from extremely randomized trees and a linear model, by how well they
        explain held-out labels. These need a table; of other samples, such as texts,
        ``estimator`` itself assesses the labels, out of fold.
    cv : int, splitter or iterable, default=5
        Number of folds, stratified by label; or a scikit-learn splitter, or pairs of
        training and test rows, whose test rows are disjoint. To keep groups of samples
        together, pass a splitter for groups, and ``groups`` to ``fit``; its first fold
        is held out.
    guard : bool, default=True
        Whether to compare with plain training on held-out rows, by two further fits on
        at most 20,000 rows, and to fall back to it. Without, wrong labels are always
        replaced.
    n_jobs : int, default=None
        Number of folds, or of trees, that are fitted at the same time.
    random_state : int, RandomState instance or None, default=None
        Determines folds, held-out rows, and every ``random_state`` of classifiers
        inside that is None.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    estimator_ : classifier
        The fitted classifier.
    assessor_ : classifier
        Who assessed the labels, not fitted.
    used_fallback_ : bool
        Whether the classifier was fitted on the labels as they are given.
    gain_ : float or None
        By how much better the classifier explains a held-out label if it learns what is
        believed: the mean difference of log-likelihoods. None if not compared.
    safe_mask_ : ndarray of shape (n_samples,), dtype=bool
        Whether the label is accepted: a quality of at least 0.5.
    label_quality_ : ndarray of shape (n_samples,)
        Posterior probability that the given label is correct. Use it to rank labels; it
        is not calibrated.
    suggested_labels_ : ndarray of shape (n_samples,)
        Class with the highest posterior probability.
    corrected_labels_ : ndarray of shape (n_samples,)
        What the classifier was fitted on; the given labels after a fallback.
    corrected_mask_ : ndarray of shape (n_samples,), dtype=bool
        Where this differs from the given label.
    transition_matrix_ : ndarray of shape (n_classes, n_classes)
        Estimated probability of each given label (columns) for each true class (rows).
    noise_rate_ : float
        Estimated fraction of wrong labels: the fraction of labels not accepted.
    label_findings_ : LabelFindings
        The above, per sample, as one object.
    n_features_in_ : int
        Number of features seen in ``fit``, if samples have a number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features seen in ``fit``, if all are strings.

    See Also
    --------
    CrossPrestoppingClassifier : The same idea for neural networks.
    skpresto.audit.LabelReport.from_estimator : A report on the labels.

    Notes
    -----
    If samples of class j carry the label k with probability ``T[j, k]``, then by Bayes'
    rule a sample with out-of-sample probabilities q and label y belongs to class j with
    a probability proportional to ``q[j] * T[j, y]``. T is counted from the predicted
    classes. In the first round, the assessor predicts which label each sample is
    *given*, V. In two further rounds it is trained on labels that are more probable
    than any other class, weighted by their lead, and its predictions are multiplied by
    the evidence of V, ``exp(sum_k V[k] * log(T[j, k]))``.

    Held-out labels may be wrong. A classifier is therefore compared by the probability
    ``sum_j p[j] * T[j, y]`` that it gives to them, not by its accuracy.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skpresto import LabelCleaningClassifier
    >>> from skpresto.noise import PairNoise
    >>> X, y = make_blobs(n_samples=500, random_state=0)
    >>> y_noisy = PairNoise(rate=0.3, random_state=0).fit_transform(y)
    >>> plain = DecisionTreeClassifier(random_state=0).fit(X, y_noisy)
    >>> clf = LabelCleaningClassifier(DecisionTreeClassifier(), random_state=0)
    >>> clf = clf.fit(X, y_noisy)
    >>> bool(clf.score(X, y) > plain.score(X, y) + 0.15)
    True
    """

    _parameter_constraints: dict = {
        "estimator": [HasMethods(["fit", "predict"])],
        "assessor": [HasMethods(["fit", "predict_proba"]), None],
        "cv": [
            Interval(Integral, 2, None, closed="left"),
            HasMethods(["split"]),
            HasMethods(["__iter__"]),
        ],
        "guard": ["boolean"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator,
        *,
        assessor=None,
        cv=5,
        guard=True,
        n_jobs=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.assessor = assessor
        self.cv = cv
        self.guard = guard
        self.n_jobs = n_jobs
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        **fit_params: Any,
    ) -> Self:
        """Assess the labels, and fit the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, ...)
            The samples, as the classifier takes them.
        y : array-like of shape (n_samples,)
            Given labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of at least 0, by which the weights of believed labels are
            multiplied. Nothing is trained on samples of weight 0, but their labels are
            assessed.
        groups : array-like of shape (n_samples,), default=None
            Groups of samples, for a splitter as ``cv``.
        **fit_params : dict
            Further arguments for the ``fit`` of the classifier. They are passed
            directly or, with ``enable_metadata_routing=True``, as the classifier
            requests them.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        if get_config()["enable_metadata_routing"]:
            fit_params = dict(process_routing(self, "fit", **fit_params).estimator.fit)
        validate_data(self, X, skip_check_array=True)
        rng = check_random_state(self.random_state)
        task = checked_task(self, X, y, sample_weight, fit_params, rng)
        decision = self._decide(task, groups)
        assessment = task.assess(decision.candidate, decision.found)
        self.used_fallback_ = decision.is_fallback
        believed = task.corrected(assessment)
        if decision.is_fallback:
            believed = Believed.given(task.codes, task.weights)
            warn_caller(
                f"{type(self).__name__} has fitted {type(self.estimator).__name__} on "
                "the labels as they are given: replacing labels did not help to "
                "explain held-out ones. They may be correct; label_quality_ ranks them "
                "all the same.",
                FallbackWarning,
            )
        fitted = task.fitted(believed)
        self.estimator_, self._columns = fitted.model, fitted.columns
        self.classes_ = task.classes
        self.assessor_ = decision.candidate.assessor.estimator
        self.gain_ = decision.gain
        self._publish(assessment, believed)
        return self

    def _decide(self, task: Task, groups: Any) -> Decision:
        """Return who assesses the labels, and whether it helps."""
        how: dict[str, Any] = {
            "cv": self.cv,
            "groups": groups,
            "n_jobs": self.n_jobs,
            "owner": type(self).__name__,
        }

        candidates = self._candidates(task, how)
        compared = draw_comparison(
            task.codes, task.weights, self.cv, groups, task.rng, how["owner"]
        )
        return decide(task, candidates, compared, self.guard)

    def _candidates(self, task: Task, how: dict[str, Any]) -> list[Candidate]:
        """Return who may assess the labels."""
        if self.assessor is None:
            found = candidates_for(
                task.X, task.codes, task.rng, n_trees=_N_TREES, **how
            )
            if found:
                return found
        itself = self.assessor is None
        if itself and not hasattr(self.estimator, "predict_proba"):
            raise TypeError(
                f"{type(self).__name__} needs an assessor with predict_proba for "
                f"samples that are not a table, since {type(self.estimator).__name__} "
                "has none. Pass for example assessor=make_pipeline(..., "
                "LogisticRegression())."
            )
        classifier = self.estimator if itself else self.assessor
        params = task.params if itself else None
        assessor = assessor_of(classifier, task.codes, task.rng, params=params, **how)
        return [Candidate(assessor, task.X)]

    def __sklearn_tags__(self) -> Any:
        """Return the tags of the classifier; samples must suit the assessor too."""
        tags = super().__sklearn_tags__()
        if self.assessor is not None:
            tags.input_tags.sparse &= get_tags(self.assessor).input_tags.sparse
        return tags

    def _publish(self, assessment: RoundsAssessment, believed: Believed) -> None:
        """Set the fitted attributes about labels."""
        codes, quality = assessment.codes, assessment.quality()
        predicted = assessment.probability.argmax(axis=1)
        findings = LabelFindings(
            is_safe=quality >= 0.5,
            quality=quality,
            suggested=assessment.suggested(),
            likeliest=assessment.likeliest(),
            planted=assessment.planted(),
            agreement=predicted == codes,
            corrected=believed.codes,
            is_corrected=believed.codes != codes,
            transition_matrix=assessment.transitions,
            basis="rounds",
            disagreement=float(np.mean(predicted != codes)),
        )
        findings = replace(
            findings.decoded(self.classes_), fingerprint=fingerprint_of(codes)
        )
        self.label_findings_ = findings
        self.safe_mask_ = findings.is_safe
        self.label_quality_ = findings.quality
        self.suggested_labels_ = findings.suggested
        self.corrected_labels_ = findings.corrected
        self.corrected_mask_ = findings.is_corrected
        self.transition_matrix_ = findings.transition_matrix
        self.noise_rate_ = findings.noise_rate

"""A classifier that learns from labels made noisy on purpose."""

from collections.abc import Callable
from typing import Any, Self

from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import (
    UNUSED,
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from skpresto._sklearn import HasMethods, _fit_context
from skpresto.noise._labels import label_vector

_ABOUT_LABELS = {
    "safe_mask_", "label_agreement_", "suggested_labels_", "stop_epoch_", "history_",
}  # fmt: skip
_PREDICTIONS = ("predict", "predict_proba", "predict_log_proba", "decision_function")


def _classifier_has(method: str) -> Callable[[Any], bool]:
    def check(self: Any) -> bool:
        # getattr, so that a missing method is told as the classifier's own error
        getattr(getattr(self, "classifier_", self.classifier), method)
        return True

    return check


def _of_classifier(attribute: str, meaning: str) -> property:
    """Make a property of what the fitted classifier knows."""

    def read(self: Any) -> Any:
        holder = vars(self).get("classifier_")
        # a Pipeline itself knows nothing about labels, but its last step may
        in_last_step = attribute in _ABOUT_LABELS and getattr(holder, "steps", None)
        holder = holder.steps[-1][1] if in_last_step else holder
        if not hasattr(holder, attribute):
            reason = f"its classifier, {type(holder).__name__}, has none"
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {attribute!r}: "
                f"{'it is not fitted yet' if holder is None else reason}."
            )
        return getattr(holder, attribute)

    return property(read, doc=meaning)


class NoisyTargetClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Put noise into the labels a classifier learns from, and into nothing else.

    What :class:`~sklearn.compose.TransformedTargetRegressor` is to a transformed
    target, this is to a noisy one: ``fit`` passes ``noise.fit_transform(y, X)`` on,
    while predictions are compared with the labels as they are. In cross-validation
    and grid search training folds are noisy and scores are clean.

    Parameters
    ----------
    classifier : object
        The classifier, or Pipeline, to fit. A clone of it is fitted.
    noise : object or None, default=None
        An injector such as :class:`SymmetricNoise`. A clone of it is fitted. With
        None labels stay as they are, as a baseline in a grid.

    Attributes
    ----------
    classifier_ : object
        The fitted classifier.
    noise_ : object or None
        The fitted injector: ``noise_.flipped_mask_`` tells which labels were changed.
    classes_ : ndarray of shape (n_classes,)
        The classes the classifier has learned.
    n_features_in_ : int
        Number of features seen in ``fit``, where the classifier tells.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in ``fit``, where the classifier tells.
    safe_mask_, label_agreement_, suggested_labels_, stop_epoch_, history_
        What the classifier found out about its training labels, where it does.

    See Also
    --------
    SymmetricNoise : Mistake a class for any other, all alike.
    sklearn.compose.TransformedTargetRegressor : The same idea for regression.

    Notes
    -----
    The true labels are passed on as ``y_true`` to a classifier whose ``fit`` takes
    them (or to such a last step of a Pipeline), unless they are given by the caller.
    ``X_val`` and ``y_val`` are passed on untouched: validation data stay clean.

    Examples
    --------
    How well does a nearest-neighbour vote stand wrong labels?

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from skpresto.noise import NoisyTargetClassifier, SymmetricNoise
    >>> X, y = load_iris(return_X_y=True)
    >>> noise = SymmetricNoise(rate=0.4, random_state=0)
    >>> noisy = NoisyTargetClassifier(KNeighborsClassifier(), noise)
    >>> search = GridSearchCV(noisy, {"classifier__n_neighbors": [1, 25]}).fit(X, y)
    >>> search.best_params_
    {'classifier__n_neighbors': 25}
    >>> 0.3 < search.best_estimator_.noise_.realized_rate_ < 0.5
    True
    >>> bool(search.best_score_ > 0.9)
    True
    """

    _parameter_constraints: dict = {
        "classifier": [HasMethods(["fit", "predict"])],
        "noise": [HasMethods(["fit_transform"]), None],
    }

    # both go wherever the classifier asks for them; none is consumed here
    __metadata_request__fit = {"X_val": UNUSED, "y_val": UNUSED}

    classes_ = _of_classifier("classes_", "The classes the classifier has learned.")
    n_features_in_ = _of_classifier("n_features_in_", "Number of features.")
    feature_names_in_ = _of_classifier("feature_names_in_", "Names of the features.")
    safe_mask_ = _of_classifier("safe_mask_", "Which training labels are trusted.")
    label_agreement_ = _of_classifier("label_agreement_", "Support for each label.")
    suggested_labels_ = _of_classifier("suggested_labels_", "Labels seen instead.")
    stop_epoch_ = _of_classifier("stop_epoch_", "Where the first phase ended.")
    history_ = _of_classifier("history_", "One record an epoch and phase.")

    def __init__(self, classifier: Any, noise: Any = None) -> None:
        self.classifier = classifier
        self.noise = noise

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(
        self, X: Any, y: Any, *, X_val: Any = None, y_val: Any = None, **fit_params: Any
    ) -> Self:
        """Put noise into ``y`` and fit the classifier to it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, ...)
            The samples.
        y : array-like of shape (n_samples,)
            Their labels, clean as yet.
        X_val : array-like, default=None
            Validation samples, for a classifier that takes them.
        y_val : array-like, default=None
            Labels of the validation samples. They stay clean.
        **fit_params : dict
            What else the classifier's ``fit`` takes, passed on directly or, with
            ``enable_metadata_routing=True``, as the classifier requests it.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        label_vector(y, f"This {type(self).__name__} estimator")
        validation = {"X_val": X_val, "y_val": y_val}
        fit_params |= {k: v for k, v in validation.items() if v is not None}
        if get_config()["enable_metadata_routing"]:
            fit_params = dict(process_routing(self, "fit", **fit_params).classifier.fit)
        name = _name_of_true_labels(self.classifier)
        if name is not None:
            fit_params.setdefault(name, y)

        self.noise_ = None if self.noise is None else clone(self.noise)
        y_noisy = y if self.noise_ is None else self.noise_.fit_transform(y, X)
        self.classifier_ = clone(self.classifier).fit(X, y_noisy, **fit_params)
        return self

    @available_if(_classifier_has("predict"))
    def predict(self, X: Any, **params: Any) -> Any:
        """Predict the classes of samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, ...)
            The samples.
        **params : dict
            What else the classifier's method takes.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Predicted labels.
        """
        return self._ask_classifier("predict", X, params)

    @available_if(_classifier_has("predict_proba"))
    def predict_proba(self, X: Any, **params: Any) -> Any:
        """Predict the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, ...)
            The samples.
        **params : dict
            What else the classifier's method takes.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of ``classes_``.
        """
        return self._ask_classifier("predict_proba", X, params)

    @available_if(_classifier_has("predict_log_proba"))
    def predict_log_proba(self, X: Any, **params: Any) -> Any:
        """Predict the logarithm of the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, ...)
            The samples.
        **params : dict
            What else the classifier's method takes.

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes)
            Logarithms, in the order of ``classes_``.
        """
        return self._ask_classifier("predict_log_proba", X, params)

    @available_if(_classifier_has("decision_function"))
    def decision_function(self, X: Any, **params: Any) -> Any:
        """Return the classifier's decision values.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, ...)
            The samples.
        **params : dict
            What else the classifier's method takes.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Decision values as the classifier gives them.
        """
        return self._ask_classifier("decision_function", X, params)

    def _ask_classifier(self, method: str, X: Any, params: dict[str, Any]) -> Any:
        check_is_fitted(self)
        if get_config()["enable_metadata_routing"]:
            params = process_routing(self, method, **params).classifier[method]
        return getattr(self.classifier_, method)(X, **params)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return how metadata are routed to the classifier.

        Returns
        -------
        routing : MetadataRouter
            Routing information for the classifier's methods.
        """
        mapping = MethodMapping().add(caller="fit", callee="fit")
        for method in _PREDICTIONS:
            mapping.add(caller=method, callee=method)
        return MetadataRouter(owner=self).add(
            classifier=self.classifier, method_mapping=mapping
        )

    def __sklearn_tags__(self) -> Any:
        """Tell of the classifier what it can take and how well it does."""
        tags = super().__sklearn_tags__()
        inner = get_tags(self.classifier)
        tags.input_tags = inner.input_tags
        tags.no_validation = inner.no_validation
        tags.non_deterministic = inner.non_deterministic
        if inner.classifier_tags is not None:
            tags.classifier_tags = inner.classifier_tags
            tags.classifier_tags.multi_label = False
        return tags


def _name_of_true_labels(classifier: Any) -> str | None:
    """Return the name by which ``fit`` takes true labels, or None if it does not."""
    if has_fit_parameter(classifier, "y_true"):
        return "y_true"
    if not getattr(classifier, "steps", None):
        return None
    if get_config()["enable_metadata_routing"]:
        requested = get_routing_for_object(classifier).consumes("fit", ["y_true"])
        return "y_true" if requested else None
    step, last = classifier.steps[-1]
    inner = _name_of_true_labels(last)
    return None if inner is None else f"{step}__{inner}"

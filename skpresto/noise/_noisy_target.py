"""Train a classifier on noisy labels and score it on clean ones."""

from typing import Any, Self

from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils.metadata_routing import (
    UNUSED,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.validation import has_fit_parameter

from skpresto._delegation import DelegatesPredictionsMixin
from skpresto._labels import label_vector
from skpresto._sklearn import HasMethods, _fit_context
from skpresto.noise._fitted_attributes import (
    fitted_attributes_of,
    is_fitted_attribute,
    read_fitted_attribute,
)


class NoisyTargetClassifier(
    DelegatesPredictionsMixin, ClassifierMixin, MetaEstimatorMixin, BaseEstimator
):
    """Train a classifier on noisy labels, and score it on clean ones.

    ``fit`` trains the classifier on ``noise.fit_transform(y, X)``; all other methods,
    ``score`` among them, use the labels they are given. In cross-validation and grid
    search, training labels are therefore noisy and test labels are clean. It does for
    noisy targets what :class:`~sklearn.compose.TransformedTargetRegressor` does for
    transformed ones.

    Parameters
    ----------
    classifier : object
        The classifier, Pipeline or search to fit. A clone of it is fitted.
    noise : object or None, default=None
        An injector such as :class:`SymmetricNoise`. A clone of it is fitted. With
        None labels are not changed, as a baseline in a parameter grid.

    Attributes
    ----------
    classifier_ : object
        The fitted classifier.
    noise_ : object or None
        The fitted injector: ``noise_.flipped_mask_`` is True where ``fit`` changed a
        label.
    classes_ : ndarray of shape (n_classes,)
        The classes of the fitted classifier.
    n_features_in_ : int
        Number of features seen in ``fit``, if the classifier has it.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features seen in ``fit``, if the classifier has them.
    safe_mask_, label_quality_, history_, ...
        All other public fitted attributes, those that end with ``_``, are read from
        ``classifier_``. Where it is a Pipeline or a search that lacks the attribute,
        they are read from its last step or its best estimator.

    See Also
    --------
    SymmetricNoise : Replace labels by any other class, all equally likely.
    NoiseSampler : The same as a step of imbalanced-learn's Pipeline.
    sklearn.compose.TransformedTargetRegressor : The same for regression targets.

    Notes
    -----
    If the ``fit`` of the classifier, or of the last step of a Pipeline, takes
    ``y_true``, the clean labels are passed as such, unless the caller passes it.
    ``X_val`` and ``y_val`` are passed without noise.

    ``noise_.transition_matrix_`` is the matrix that labels were flipped with, while
    ``transition_matrix_`` is what the classifier has estimated, if it does.

    A search inside, as ``classifier``, scores on noisy labels; a search around this
    classifier scores on clean ones.

    Examples
    --------
    Nearest neighbours need more neighbours if labels are noisy:

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
    >>> bool(search.best_score_ > 0.8)
    True
    """

    _inner = "classifier"
    _parameter_constraints: dict = {
        "classifier": [HasMethods(["fit", "predict"])],
        "noise": [HasMethods(["fit_transform"]), None],
    }

    # Both are routed to the classifier; none is consumed here.
    __metadata_request__fit = {"X_val": UNUSED, "y_val": UNUSED}

    def __init__(self, classifier: Any, noise: Any = None) -> None:
        self.classifier = classifier
        self.noise = noise

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(
        self, X: Any, y: Any, *, X_val: Any = None, y_val: Any = None, **fit_params: Any
    ) -> Self:
        """Add noise to ``y`` and fit the classifier to it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, ...)
            The samples.
        y : array-like of shape (n_samples,)
            Clean labels.
        X_val : array-like, default=None
            Validation samples, for a classifier that takes them.
        y_val : array-like, default=None
            Labels of the validation samples. No noise is added to them.
        **fit_params : dict
            Further arguments for the ``fit`` of the classifier. They are passed
            directly or, with ``enable_metadata_routing=True``, as the classifier
            requests them.

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

        noise = None if self.noise is None else clone(self.noise)
        y_noisy = y if noise is None else noise.fit_transform(y, X)
        self.classifier_ = clone(self.classifier).fit(X, y_noisy, **fit_params)
        self.noise_ = noise
        return self

    def __getattr__(self, name: str) -> Any:
        """Read public fitted attributes from the fitted classifier."""
        if not is_fitted_attribute(name):
            # Raises the error that led here, such as that of available_if.
            return object.__getattribute__(self, name)
        return read_fitted_attribute(self, vars(self).get("classifier_"), name)

    def __dir__(self) -> list[str]:
        """List the attributes that are read from the classifier too."""
        forwarded = fitted_attributes_of(vars(self).get("classifier_"))
        return sorted(forwarded.union(super().__dir__()))


def _name_of_true_labels(classifier: Any) -> str | None:
    """Return the name of the argument of ``fit`` for true labels, or None."""
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

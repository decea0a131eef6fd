"""Predictions, metadata and tags of a classifier around another one."""

from collections.abc import Callable
from typing import Any, ClassVar

from sklearn import get_config
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

_PREDICTIONS = ("predict", "predict_proba", "predict_log_proba", "decision_function")


def _inner_has(method: str) -> Callable[[Any], bool]:
    def check(self: Any) -> bool:
        # getattr, so that the error for a missing method is the classifier's own
        name = self._inner
        getattr(getattr(self, f"{name}_", getattr(self, name)), method)
        return True

    return check


class DelegatesPredictionsMixin:
    """Predict by the fitted classifier inside, and route metadata to it.

    The parameter that ``_inner`` names holds the classifier, and the attribute of the
    same name with an underscore its fitted clone.
    """

    _inner: ClassVar[str]

    @available_if(_inner_has("predict"))
    def predict(self, X: Any, **params: Any) -> Any:
        """Predict the classes of samples.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, ...)
            The samples.
        **params : dict
            Further arguments for this method of the classifier.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Predicted labels.
        """
        return self._call_inner("predict", X, params)

    @available_if(_inner_has("predict_proba"))
    def predict_proba(self, X: Any, **params: Any) -> Any:
        """Predict the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, ...)
            The samples.
        **params : dict
            Further arguments for this method of the classifier.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of ``classes_``.
        """
        return self._call_inner("predict_proba", X, params)

    @available_if(_inner_has("predict_log_proba"))
    def predict_log_proba(self, X: Any, **params: Any) -> Any:
        """Predict the logarithm of the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, ...)
            The samples.
        **params : dict
            Further arguments for this method of the classifier.

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes)
            Logarithms of the probabilities, in the order of ``classes_``.
        """
        return self._call_inner("predict_log_proba", X, params)

    @available_if(_inner_has("decision_function"))
    def decision_function(self, X: Any, **params: Any) -> Any:
        """Return the decision values of the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, ...)
            The samples.
        **params : dict
            Further arguments for this method of the classifier.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Decision values of the classifier.
        """
        return self._call_inner("decision_function", X, params)

    def _call_inner(self, method: str, X: Any, params: dict[str, Any]) -> Any:
        check_is_fitted(self)
        if get_config()["enable_metadata_routing"]:
            params = process_routing(self, method, **params)[self._inner][method]
        return getattr(getattr(self, f"{self._inner}_"), method)(X, **params)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the routing of metadata to the classifier.

        Returns
        -------
        routing : MetadataRouter
            Routing information for the classifier's methods.
        """
        mapping = MethodMapping()
        for method in ("fit", *_PREDICTIONS):
            mapping.add(caller=method, callee=method)
        router = MetadataRouter(owner=self).add_self_request(self)
        inner = {self._inner: getattr(self, self._inner)}
        return router.add(method_mapping=mapping, **inner)

    def __sklearn_tags__(self) -> Any:
        """Return the tags of the classifier."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        inner = get_tags(getattr(self, self._inner))
        tags.input_tags = inner.input_tags
        tags.no_validation = inner.no_validation
        tags.non_deterministic = inner.non_deterministic
        if inner.classifier_tags is not None:
            tags.classifier_tags = inner.classifier_tags
            tags.classifier_tags.multi_label = False
        return tags

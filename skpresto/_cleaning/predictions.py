"""Predictions, metadata and tags of a classifier around a fitted one."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from skpresto._labels import Labels, decode

_PREDICTIONS = ("predict", "predict_proba", "predict_log_proba", "decision_function")


def _estimator_has(method: str) -> Callable[[Any], bool]:
    def check(self: Any) -> bool:
        # getattr, so that the error for a missing method is the classifier's own
        getattr(getattr(self, "estimator_", self.estimator), method)
        return True

    return check


class PredictsByEstimatorMixin:
    """Predict by ``estimator_``, whose columns are those of the classes it has seen.

    ``_columns`` holds their class numbers.
    """

    estimator: Any
    assessor: Any
    estimator_: Any
    classes_: Labels
    _columns: NDArray[np.intp]

    @available_if(_estimator_has("predict"))
    def predict(self, X: Any, **params: Any) -> NDArray[Any]:
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
        labels = np.ravel(self._call_estimator("predict", X, params))
        known = np.ravel(self.estimator_.classes_)
        return decode(self._columns[np.searchsorted(known, labels)], self.classes_)

    @available_if(_estimator_has("predict_proba"))
    def predict_proba(self, X: Any, **params: Any) -> NDArray[Any]:
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
        return self._all_classes(self._call_estimator("predict_proba", X, params), 0)

    @available_if(_estimator_has("predict_log_proba"))
    def predict_log_proba(self, X: Any, **params: Any) -> NDArray[Any]:
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
        values = self._call_estimator("predict_log_proba", X, params)
        return self._all_classes(values, -np.inf)

    @available_if(_estimator_has("decision_function"))
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
        return self._call_estimator("decision_function", X, params)

    def _call_estimator(self, method: str, X: Any, params: dict[str, Any]) -> Any:
        check_is_fitted(self)
        if get_config()["enable_metadata_routing"]:
            params = process_routing(self, method, **params).estimator[method]
        return getattr(self.estimator_, method)(X, **params)

    def _all_classes(self, values: NDArray[Any], missing: float) -> NDArray[Any]:
        """Return columns of all classes, also of those that had no weight."""
        if len(self._columns) == len(self.classes_):
            return values
        shape = len(values), len(self.classes_)
        result = np.full(shape, missing, dtype=values.dtype)
        result[:, self._columns] = values
        return result

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the routing of metadata to the classifier.

        Returns
        -------
        routing : MetadataRouter
            Routing information for the classifier's methods.
        """
        mapping = MethodMapping().add(caller="fit", callee="fit")
        for method in _PREDICTIONS:
            mapping.add(caller=method, callee=method)
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(estimator=self.estimator, method_mapping=mapping)
        )

    def __sklearn_tags__(self) -> Any:
        """Return the tags of the classifier; samples must suit the assessor too."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        if self.assessor is not None:
            tags.input_tags.sparse &= get_tags(self.assessor).input_tags.sparse
        tags.no_validation = inner.no_validation
        tags.non_deterministic = inner.non_deterministic
        if inner.classifier_tags is not None:
            tags.classifier_tags = inner.classifier_tags
            tags.classifier_tags.multi_label = False
        return tags

"""Predictions by a classifier that may not have seen all classes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skpresto._delegation import DelegatesPredictionsMixin
from skpresto._labels import Labels, decode


class PredictsAllClassesMixin(DelegatesPredictionsMixin):
    """Predict by ``estimator_``; ``_columns`` are the numbers of its classes.

    The others are those whose samples all have weight 0.
    """

    _inner = "estimator"
    estimator_: Any
    classes_: Labels
    _columns: NDArray[np.intp]

    def _call_inner(self, method: str, X: Any, params: dict[str, Any]) -> Any:
        values = super()._call_inner(method, X, params)
        if method == "predict":
            known = np.ravel(self.estimator_.classes_)
            found = np.searchsorted(known, np.ravel(values))
            return decode(self._columns[found], self.classes_)
        if method == "decision_function" or len(self._columns) == len(self.classes_):
            return values
        missing = 0 if method == "predict_proba" else -np.inf
        every = np.full((len(values), len(self.classes_)), missing, dtype=values.dtype)
        every[:, self._columns] = values
        return every

"""Every private scikit-learn import, and nothing else."""

from sklearn.base import _fit_context
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import _check_method_params, _check_sample_weight

__all__ = [
    "HasMethods",
    "Interval",
    "StrOptions",
    "_check_method_params",
    "_check_sample_weight",
    "_fit_context",
    "_safe_indexing",
]

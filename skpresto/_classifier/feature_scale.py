"""Notice features of very different scale, in one or between two sets of data."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ks_2samp
from torch import from_numpy

from skpresto._data.samples import ArrayRows, SampleRows, TensorRows
from skpresto._warn import warn_caller
from skpresto.exceptions import MismatchWarning

#: Rows, and features, that are compared at most.
_MOST = 1000
_READ_AT_ONCE = 64
# Largest probability of a false alarm, whatever the distribution of the data.
_FALSE_ALARM = 1e-6
# A feature that varies this many times as much as the median feature dominates a
# network: on scikit-learn's wine, a factor of 400, scaling lowers the test error of
# CrossPrestopping from 31 to 5 %. Scaled features, and digits as they are, stay far
# below.
_DOMINANT = 100


def warn_of_dominant_features(estimator: Any, X: SampleRows) -> None:
    """Warn if some features of a table vary far more than the others.

    A network that the user brings may normalize its input, so only the built-in one is
    considered.
    """
    if estimator.module is not None or not isinstance(X, (TensorRows, ArrayRows)):
        return
    if len(X.sample_shape) != 1:
        return
    spread = _some_values(X).std(axis=0)
    varying = spread[spread > 0]
    if not len(varying) or varying.max() <= _DOMINANT * np.median(varying):
        return
    warn_caller(
        f"{type(estimator).__name__} got features of very different scale: standard "
        f"deviations of columns are {varying.min():.2g} to {varying.max():.2g}, with a "
        f"median of {np.median(varying):.2g}, and large ones dominate a network. Scale "
        "the columns, for example by make_pipeline(StandardScaler(), "
        f"{type(estimator).__name__}()).",
        MismatchWarning,
    )


def warn_of_other_scale(estimator: Any, X: SampleRows, X_val: SampleRows) -> None:
    """Warn if features of ``X_val`` clearly have another scale than those of ``X``.

    It is the usual mistake in a Pipeline, whose scaler transforms ``X`` only. Only
    arrays are compared.
    """
    if not all(isinstance(rows, (TensorRows, ArrayRows)) for rows in (X, X_val)):
        return
    of_training, of_validation = _some_values(X), _some_values(X_val)
    is_other = features_of_other_scale(of_training, of_validation)
    if not is_other.any():
        return
    first = int(is_other.argmax())
    x, v = of_training[:, first], of_validation[:, first]
    warn_caller(
        f"{type(estimator).__name__} got X_val on another scale than X: "
        f"{is_other.sum()} of {len(is_other)} features differ, one of them with a mean "
        f"of {v.mean():.3g} and a standard deviation of {v.std():.3g} in X_val, but of "
        f"{x.mean():.3g} and {x.std():.3g} in X. A Pipeline transforms X_val only if "
        'created as Pipeline(steps, transform_input=["X_val"]), with '
        "sklearn.set_config(enable_metadata_routing=True) and "
        ".set_fit_request(X_val=True, y_val=True) on the classifier.",
        MismatchWarning,
    )


def _some_values(rows: SampleRows) -> NDArray:
    """Return evenly spaced rows and features, as float64.

    Few rows are read at once, which may have millions of features.
    """
    features = _evenly_spaced(math.prod(rows.sample_shape))
    wanted = from_numpy(_evenly_spaced(len(rows))).split(_READ_AT_ONCE)
    values = [rows.take(part).flatten(1).numpy()[:, features] for part in wanted]
    return np.concatenate(values).astype(np.float64)


def _evenly_spaced(n: int) -> NDArray[np.int64]:
    return np.linspace(0, n - 1, min(n, _MOST)).astype(np.int64)


def features_of_other_scale(X: NDArray, X_val: NDArray) -> NDArray[np.bool_]:
    """Return the features whose scale differs, or none if these may be chance.

    Differences count if the means are more than a standard deviation apart, or the
    standard deviations differ by a factor of two, for half of the features; or if a
    feature differs by a factor of ten. To exclude chance, the distribution functions
    must be further apart than those of two samples of one distribution can be.

    Parameters
    ----------
    X, X_val : ndarray of shape (n_rows, n_features)
        A row per sample. They may have different numbers of rows.
    """
    center, spread = X.mean(axis=0), X.std(axis=0)
    varies = spread > 0
    scale = np.where(varies, spread, 1)
    shift = np.abs(X_val.mean(axis=0) - center) / scale
    ratio = X_val.std(axis=0) / scale
    is_far = varies & ((shift > 1) | (ratio > 2) | (ratio < 0.5))
    distance = np.zeros(len(is_far))
    for i in is_far.nonzero()[0]:
        distance[i] = ks_2samp(X[:, i], X_val[:, i], method="asymp").statistic
    is_far &= distance > _distance_by_chance(len(X), len(X_val), _FALSE_ALARM)
    is_extreme = is_far & ((shift > 10) | (ratio > 10))
    # One of many features is further away by chance than each of half of them.
    per_feature = _FALSE_ALARM / max(1, len(is_far))
    is_extreme &= distance > _distance_by_chance(len(X), len(X_val), per_feature)
    if 2 * is_far.sum() >= varies.sum() or is_extreme.any():
        return is_far
    return np.zeros_like(is_far)


def _distance_by_chance(n: int, m: int, probability: float) -> float:
    """Return the distance that samples of one distribution seldom exceed.

    By the inequality of Dvoretzky, Kiefer and Wolfowitz for two samples, with the
    constant e (F. Wei and R. M. Dudley, Statistics & Probability Letters, 2012).

    Examples
    --------
    >>> round(_distance_by_chance(1000, 1000, 1e-6), 4)
    0.1217
    """
    return math.sqrt((1 - math.log(probability)) * (n + m) / (2 * n * m))

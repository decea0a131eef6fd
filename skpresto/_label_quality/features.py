"""Samples as numbers, for classifiers that take nothing else."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import OneHotEncoder

#: Rarer values of a column share one feature.
_MOST_CATEGORIES = 20


def numeric_features(X: Any) -> Any:
    """Return samples as a table of numbers, or None if they are not a table.

    Parameters
    ----------
    X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
        Samples of a table. Numbers, dates and truth values become numbers, other
        columns one feature per frequent value.

    Returns
    -------
    features : {ndarray, sparse array} of shape (n_samples, n_numbers) or None
        Missing values are NaN.

    Examples
    --------
    >>> numeric_features([[1, None], [2, 5]])
    array([[ 1., nan],
           [ 2.,  5.]])
    >>> numeric_features([["red", 1.5], ["blue", 2.5]])
    array([[0. , 1. , 1.5],
           [1. , 0. , 2.5]])
    >>> numeric_features(["a text", "another"]) is None
    True
    """
    if sparse.issparse(X):
        return X.tocsr() if X.ndim == 2 else None
    columns = _columns_of(X)
    if columns is None:
        return None
    if isinstance(columns, np.ndarray):
        return columns
    return np.column_stack([_numbers_of(column) for column in columns])


def _columns_of(X: Any) -> Any:
    """Return columns of samples, or all as one array if they are numbers already."""
    if hasattr(X, "columns") and hasattr(X, "shape"):  # of pandas or polars
        return [X[name] for name in X.columns] or None
    try:
        table = np.asarray(X)
    except ValueError:  # rows of different length
        return None
    if table.ndim != 2 or not table.shape[1]:
        return None
    if table.dtype.kind in "fiub":
        return table.astype(np.float64, copy=False)
    if not isinstance(X, np.ndarray):
        table = np.array(X, dtype=object)
    return list(table.T)


def _numbers_of(column: Any) -> NDArray[np.float64]:
    """Return one or several features of a column, of shape (n_samples, n)."""
    kind = getattr(getattr(column, "dtype", None), "kind", "O")
    values = np.asarray(column)
    if kind in "mM" or values.dtype.kind in "mM":
        values = values.astype("datetime64[s]" if values.dtype.kind == "M" else "m8[s]")
        numbers = values.astype(np.int64).astype(np.float64)
        numbers[np.isnat(values)] = np.nan
        return numbers[:, np.newaxis]
    try:
        return np.asarray(column, dtype=np.float64)[:, np.newaxis]
    except (ValueError, TypeError):
        texts = np.array([str(value) for value in values.tolist()], dtype=object)
        encoder = OneHotEncoder(
            max_categories=_MOST_CATEGORIES,
            handle_unknown="infrequent_if_exist",
            sparse_output=False,
        )
        return np.asarray(encoder.fit_transform(texts[:, np.newaxis]))

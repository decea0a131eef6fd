"""The classifier that an audit fits, chosen by the number of rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skpresto.audit._report import LabelReport

#: Bounds of the number of epochs, and the number of rows from which on it falls.
_MOST_EPOCHS, _FEWEST_EPOCHS, _FEW_ROWS = 60, 20, 2000
#: Networks soon memorize up to so many rows, which dropout prevents. On 3,000 digits of
#: which 40 % are mislabeled, the average precision of finding them rises from .95 to
#: .98 with one network, and from .98 to .99 with out-of-fold predictions. On larger
#: data it falls by .01.
_SOON_MEMORIZED, _DROPOUT = 4000, 0.5


def audit_epochs(n_rows: int) -> int:
    """Return how many epochs an audit trains for: fewer, the more rows there are.

    Examples
    --------
    >>> [audit_epochs(n) for n in (150, 2_000, 8_000, 100_000)]
    [60, 60, 30, 20]
    """
    wanted = round(_MOST_EPOCHS * (_FEW_ROWS / max(n_rows, 1)) ** 0.5)
    return int(np.clip(wanted, _FEWEST_EPOCHS, _MOST_EPOCHS))


def audit_estimator(
    n_rows: int,
    quick: bool = False,
    seed: int | None = 0,
    epochs: int | None = None,
    n_jobs: int | None = None,
    **params: Any,
) -> Any:
    """Return the unfitted classifier of an audit.

    Parameters
    ----------
    n_rows : int
        Number of rows to audit.
    quick : bool, default=False
        One network, :class:`~skpresto.PrestoppingClassifier`, in place of
        :class:`~skpresto.CrossPrestoppingClassifier`, which is more accurate and takes
        about twice as long.
    seed : int or None, default=0
        Makes the result reproducible.
    epochs : int, default=None
        Number of epochs; None means :func:`audit_epochs`.
    n_jobs : int, default=None
        CPU threads for torch.
    **params : dict
        Further parameters of the classifier, such as ``callbacks``.
    """
    # Loading torch takes seconds, so it is loaded when a fit is due.
    from skpresto import CrossPrestoppingClassifier, PrestoppingClassifier

    classifier = PrestoppingClassifier if quick else CrossPrestoppingClassifier
    if not quick:
        # Labels are assessed by the fold networks, so these are not shortened, and
        # ranked better with trees as a second opinion.
        params = {"fold_epochs": 1.0, "assessor": "auto", **params}
    if n_rows <= _SOON_MEMORIZED and "module" not in params:
        params = {"module__dropout": _DROPOUT, **params}
    return classifier(
        max_epochs=audit_epochs(n_rows) if epochs is None else epochs,
        random_state=seed,
        n_jobs=n_jobs,
        **params,
    )


def standardized(X: Any) -> NDArray[np.float32]:
    """Return float32 samples with mean 0 and variance 1 per column or channel.

    Columns of one value become zero.

    Examples
    --------
    >>> standardized([[1.0, 5.0], [3.0, 5.0]]).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    values = np.asarray(X, dtype=np.float32)
    axes = tuple(axis for axis in range(values.ndim) if axis != 1)
    mean = values.mean(axis=axes, dtype=np.float64, keepdims=True)
    scale = values.std(axis=axes, dtype=np.float64, keepdims=True)
    scale[scale == 0] = 1.0
    return (values - mean.astype(np.float32)) / scale.astype(np.float32)


def fit_report(classifier: Any, X: Any, y: Any, *, shown: Any = None) -> LabelReport:
    """Fit an unfitted classifier and return its report, with trajectories.

    Parameters
    ----------
    classifier : classifier
        As returned by :func:`audit_estimator`, or a pipeline that ends with it.
    X : array-like of shape (n_samples, ...)
        Samples to fit on.
    y : array-like of shape (n_samples,)
        Given labels.
    shown : array-like or DataFrame of n_samples rows, default=None
        Samples as the user knows them, to be shown in the report; None means ``X``.
    """
    from skpresto._training.context import recorded_trajectories

    with recorded_trajectories() as trajectories:
        classifier.fit(X, y)
    return LabelReport.from_estimator(
        classifier,
        X if shown is None else shown,
        y,
        trajectories=trajectories.probabilities(),
    )

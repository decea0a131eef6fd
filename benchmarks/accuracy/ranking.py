"""How well an order of labels by quality finds the wrong ones."""

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

N_FIRST = 100
AVERAGE_PRECISION = "average_precision"
#: Metrics of finding wrong labels, and how tables name them.
METRICS = {
    "auroc": "AUROC",
    AVERAGE_PRECISION: "average precision",
    "precision_at_k": "precision at k = number of wrong labels",
    "precision_first_100": f"precision of the first {N_FIRST}",
    "worst_class_average_precision": "average precision of the worst class",
}


def ranking(
    quality: np.ndarray, given: np.ndarray, is_wrong: np.ndarray
) -> dict[str, float]:
    """Return the metrics of finding wrong labels by low quality.

    Parameters
    ----------
    quality : ndarray of shape (n_samples,)
        Low where a label is likely wrong.
    given : ndarray of shape (n_samples,)
        Given labels. The worst class is that of the lowest average precision among the
        samples with the same given label.
    is_wrong : ndarray of shape (n_samples,), dtype=bool
        Which of them are wrong; some, but not all.

    Examples
    --------
    >>> quality = np.array([0.9, 0.2, 0.8, 0.1])
    >>> found = ranking(quality, np.zeros(4), np.array([False, True, False, True]))
    >>> found["auroc"], found["precision_at_k"], found["precision_first_100"]
    (1.0, 1.0, 0.5)
    """
    suspicion = -np.asarray(quality, dtype=np.float64)
    of_class = [
        average_precision_score(is_wrong[rows], suspicion[rows])
        for rows in (given == label for label in np.unique(given))
        if 0 < np.count_nonzero(is_wrong[rows]) < np.count_nonzero(rows)
    ]
    n_wrong = int(np.count_nonzero(is_wrong))
    found = (
        roc_auc_score(is_wrong, suspicion),
        average_precision_score(is_wrong, suspicion),
        _precision_of_first(n_wrong, suspicion, is_wrong),
        _precision_of_first(min(N_FIRST, len(is_wrong)), suspicion, is_wrong),
        min(of_class, default=np.nan),
    )
    return dict(zip(METRICS, map(float, found), strict=True))


def _precision_of_first(n: int, suspicion: np.ndarray, is_wrong: np.ndarray) -> float:
    """Return the expected fraction of wrong labels if equal values are in any order."""
    last = np.sort(suspicion)[-n]
    before, tied = suspicion > last, suspicion == last
    n_before = np.count_nonzero(before)
    from_tied = (n - n_before) * np.mean(is_wrong[tied])
    return (np.count_nonzero(is_wrong[before]) + from_tied) / n


def ranking_or_none(
    quality: np.ndarray | None, given: np.ndarray, true: np.ndarray | None
) -> dict[str, float | None]:
    """Return the metrics, each None without a quality or without wrong labels."""
    nothing: dict[str, float | None] = dict.fromkeys(METRICS)
    if quality is None or true is None:
        return nothing
    is_wrong = given != true
    if not 0 < np.count_nonzero(is_wrong) < len(is_wrong):
        return nothing
    found = ranking(quality, given, is_wrong)
    return {name: None if np.isnan(v) else v for name, v in found.items()}

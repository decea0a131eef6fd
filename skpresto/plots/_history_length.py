"""Test error as a function of the history length q."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skpresto.plots._results import ErrorLines

#: Values of ``scoring`` for which ``1 - score`` is an error.
_SCORINGS = (None, "accuracy", "balanced_accuracy")


class HistoryLengthDisplay(ErrorLines):
    """Test error against the history length q, with one line per kind of noise.

    Points are means over the trainings with the same q. Error bars extend one standard
    error of the mean in both directions. The Prestopping paper chose q = 10 with such
    a grid [1]_.

    Parameters
    ----------
    results : DataFrame or list of dicts
        One row per training, with the columns ``"q"``, ``"error"`` and the one named
        by ``line``. Other columns, such as ``"seed"``, are ignored.
    line : str, default="noise"
        Column whose values define the lines.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Axes and figure of the last plot.

    See Also
    --------
    NoiseRateCurveDisplay : Test error against the noise rate.

    References
    ----------
    .. [1] H. Song, M. Kim, D. Park, J.-G. Lee, "How does early stopping help
       generalization against label noise?", arXiv:1911.08059, 2019. Appendix,
       "Hyperparameter selection".

    Examples
    --------
    Noise is injected into the training folds only, so that errors are measured on clean
    labels.

    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skpresto import PrestoppingClassifier
    >>> from skpresto.noise import NoisyTargetClassifier, SymmetricNoise
    >>> from skpresto.plots import HistoryLengthDisplay
    >>> from skpresto.stopping import NoiseRateStop
    >>> X, y = load_digits(n_class=3, return_X_y=True)
    >>> clf = PrestoppingClassifier(
    ...     stop=NoiseRateStop(0.4), max_epochs=6, random_state=0
    ... )
    >>> noise = SymmetricNoise(rate=0.3, random_state=0)
    >>> noisy = NoisyTargetClassifier(clf, noise)
    >>> search = GridSearchCV(noisy, {"classifier__q": [1, 3, 5]}, cv=3)
    >>> display = HistoryLengthDisplay.from_search(search.fit(X / 16, y))
    >>> display.frame()[["q", "n_trainings"]].values.tolist()
    [[1, 3], [3, 3], [5, 3]]
    """

    x, x_label = "q", "history length q (epochs)"

    def __init__(self, results: Any, line: str = "noise") -> None:
        self.line = line
        super().__init__(results)

    @classmethod
    def from_results(
        cls, results: Any, *, line: str = "noise", ax: Any = None
    ) -> "HistoryLengthDisplay":
        """Plot the results of several trainings.

        Parameters
        ----------
        results : DataFrame or list of dicts
            One row per training, as described for the class.
        line : str, default="noise"
            Column whose values define the lines.
        ax : matplotlib axes, default=None
            Axes to plot on. If None, a new figure and axes are created.

        Returns
        -------
        display : HistoryLengthDisplay
            The plotted display.
        """
        return cls(results, line).plot(ax)

    @classmethod
    def from_search(cls, search: Any, *, ax: Any = None) -> "HistoryLengthDisplay":
        """Plot the results of a grid search over q.

        If other parameters were searched, too, each q is shown with the values of the
        other parameters that have the best mean score for this q.

        Parameters
        ----------
        search : GridSearchCV or similar
            A fitted search over a parameter that is named ``q`` or ends in ``__q``,
            scored by accuracy or balanced accuracy.
        ax : matplotlib axes, default=None
            Axes to plot on. If None, a new figure and axes are created.

        Returns
        -------
        display : HistoryLengthDisplay
            The plotted display.
        """
        owner = f"{cls.__name__}.from_search"
        check_is_fitted(search)
        if not hasattr(search, "cv_results_"):
            raise ValueError(
                f"{owner} needs a search over q such as GridSearchCV, but got a "
                f"{type(search).__name__}. Pass the fitted search."
            )
        return cls(_rows_of_search(search, owner), line="evaluated on").plot(ax)


def _rows_of_search(search: Any, owner: str) -> list[dict[str, Any]]:
    """Return one row per q and split."""
    name = _name_of_q(search, owner)
    if not (search.scoring is None or search.scoring in _SCORINGS):
        raise ValueError(
            f"{owner} needs a search by accuracy, because it plots 1 - accuracy as the "
            f"error, but the search has scoring={search.scoring!r}. Search again with "
            "scoring='accuracy', or pass errors to HistoryLengthDisplay.from_results."
        )
    found = search.cv_results_
    best: dict[Any, int] = {}
    for setting in np.argsort(found["mean_test_score"]):
        # Sorted by ascending score, so the last entry per q is the best.
        best[found[name][setting]] = int(setting)
    return [
        {"evaluated on": "held-out folds", "q": q, "error": 1 - float(score)}
        for q, setting in sorted(best.items())
        for score in _scores_of(found, setting, search.n_splits_)
    ]


def _scores_of(found: dict[str, Any], setting: int, n_splits: int) -> list[float]:
    return [found[f"split{split}_test_score"][setting] for split in range(n_splits)]


def _name_of_q(search: Any, owner: str) -> str:
    searched = [name for name in search.cv_results_ if name.startswith("param_")]
    for name in searched:
        if name == "param_q" or name.endswith("__q"):
            return name
    names = [name.removeprefix("param_") for name in searched]
    raise ValueError(
        f"{owner} needs a search over q, or over a nested parameter that ends in "
        f"__q, but the search was over {names!r}. Add 'q' to the grid."
    )

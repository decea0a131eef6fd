"""How much the length of the label history matters."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skpresto.plots._axes import frame_of, get_axes, legend_of_lines, show_percent
from skpresto.plots._results import draw_lines, mean_errors, rows_of

#: What ``1 - score`` is an error of.
_SCORINGS = (None, "accuracy", "balanced_accuracy")


class HistoryLengthDisplay:
    """Error against the history length q, a line a kind of data.

    Points are means over the trainings with the same q; bars are one standard error of
    the mean to either side. The paper chose q = 10 by such a grid [1]_.

    Parameters
    ----------
    results : DataFrame or list of dicts
        One row a training, with ``"q"``, ``"error"`` and what ``line`` names, and
        usually ``"seed"``. Anything else is left alone.
    line : str, default="noise"
        What the lines differ in.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        What was drawn on last.

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
    >>> from sklearn.datasets import make_blobs
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skpresto import DefaultClassifier
    >>> from skpresto.plots import HistoryLengthDisplay
    >>> X, y = make_blobs(n_samples=90, random_state=0)
    >>> clf = DefaultClassifier(max_epochs=2, random_state=0)
    >>> search = GridSearchCV(clf, {"q": [1, 5, 10]}, cv=3).fit(X, y)
    >>> display = HistoryLengthDisplay.from_search(search)
    >>> display.frame()[["q", "n_trainings"]].values.tolist()
    [[1, 3], [5, 3], [10, 3]]
    """

    def __init__(self, results: Any, line: str = "noise") -> None:
        self.results = rows_of(results, (line, "q", "error"), type(self).__name__)
        self.line = line

    @classmethod
    def from_results(
        cls, results: Any, *, line: str = "noise", ax: Any = None
    ) -> "HistoryLengthDisplay":
        """Draw the results of many trainings.

        Parameters
        ----------
        results : DataFrame or list of dicts
            One row a training, as the class describes.
        line : str, default="noise"
            What the lines differ in.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : HistoryLengthDisplay
            The display, drawn.
        """
        return cls(results, line).plot(ax)

    @classmethod
    def from_search(cls, search: Any, *, ax: Any = None) -> "HistoryLengthDisplay":
        """Draw a grid search over q.

        If other parameters were searched too, each q is shown with those that suit it
        best.

        Parameters
        ----------
        search : GridSearchCV or the like
            Fitted, over a parameter named ``q`` or ending in ``__q``, with accuracy
            as its score.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : HistoryLengthDisplay
            The display, drawn.
        """
        check_is_fitted(search, "cv_results_")
        owner = f"{cls.__name__}.from_search"
        return cls(_rows_of_search(search, owner), line="error of").plot(ax)

    def frame(self) -> Any:
        """Return the numbers behind the plot, a row a line and q."""
        return frame_of(mean_errors(self.results, (self.line, "q")))

    def plot(self, ax: Any = None) -> "HistoryLengthDisplay":
        """Draw the lines.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : HistoryLengthDisplay
            This display.
        """
        ax = get_axes(self, ax)
        columns = mean_errors(self.results, (self.line, "q"))
        n_lines = draw_lines(ax, columns, line=self.line, x="q")
        ax.set(xlabel="history length q (epochs)", ylabel="test error")
        ax.set_ylim(bottom=0)
        ax.set_xticks(sorted(set(columns["q"])))
        show_percent(ax.yaxis)
        legend_of_lines(ax, n_lines)
        return self


def _rows_of_search(search: Any, owner: str) -> list[dict[str, Any]]:
    """Return a row for each q and split, as ``rows_of`` wants them."""
    name = _name_of_q(search, owner)
    if not (search.scoring is None or search.scoring in _SCORINGS):
        raise ValueError(
            f"{owner} needs a search by accuracy, for 1 - accuracy is the error it "
            f"draws, but the search has scoring={search.scoring!r}. Search again with "
            "scoring='accuracy', or pass errors to HistoryLengthDisplay.from_results."
        )
    found = search.cv_results_
    best: dict[Any, int] = {}
    for setting in np.argsort(found["mean_test_score"]):
        # Later ones are better, so the best of each q stays.
        best[found[name][setting]] = int(setting)
    return [
        {"error of": "held-out folds", "q": q, "error": 1 - float(score)}
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
        f"{owner} needs a search over q, or over a parameter of a pipeline that ends "
        f"in __q, but the search was over {names!r}. Add 'q' to the grid."
    )

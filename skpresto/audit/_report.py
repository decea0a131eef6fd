"""LabelReport: which labels are probably wrong, how many, and which to review first."""

from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skpresto._labels import Codes, Labels, decode
from skpresto._packages import needed_by
from skpresto.audit._calibration import ErrorCalibration, ErrorEstimate, Evidence
from skpresto.audit._export import csv_text, json_text, text_or_file
from skpresto.audit._from_estimator import fields_of_estimator
from skpresto.audit._from_probabilities import fields_of_probabilities
from skpresto.audit._notebook import notebook_html
from skpresto.audit._plot import LabelReportDisplay
from skpresto.audit._samples import check_samples, index_of
from skpresto.audit._summary import LabelSummary, summarize
from skpresto.plots._axes import frame_of


@dataclass(eq=False, repr=False)
class LabelReport:
    """Which labels are probably wrong, how many there are, and which to review first.

    Make one with :meth:`from_estimator` or :meth:`from_probabilities`.

    Parameters
    ----------
    given, suggested : ndarray of shape (n_samples,)
        Class numbers of the given labels, and of the classes that are most likely.
    quality : ndarray of shape (n_samples,)
        Score in [0, 1], higher for labels that are more likely correct.
    is_safe : ndarray of shape (n_samples,), dtype=bool
        Whether the given label is accepted as correct.
    classes : ndarray of shape (n_classes,)
        The label of each class number.
    evidence : Evidence
        What numbers of wrong labels are estimated from, beside the quality.
    method : str
        What the report is based on, in words.
    index : pandas.Index, default=None
        Index of the samples; None means their positions.
    X : array-like, default=None
        The samples, to be shown.
    trajectories : ndarray of shape (n_samples, n_epochs), default=None
        Probability of the given label over the epochs of the training; NaN where a
        sample was held out.

    Examples
    --------
    >>> import numpy as np
    >>> from skpresto.audit import LabelReport
    >>> pred_proba = np.array([[0.9, 0.1], [0.2, 0.8], [0.8, 0.2], [0.1, 0.9]] * 5)
    >>> y = np.array(["cat", "dog", "cat", "dog"] * 5)
    >>> y[0] = "dog"
    >>> report = LabelReport.from_probabilities(pred_proba, y)
    >>> first = report.suspects(1)
    >>> first.index.tolist(), first["given"].tolist(), first["suggested"].tolist()
    ([0], ['dog'], ['cat'])
    """

    given: Codes
    suggested: Codes
    quality: NDArray[np.float64]
    is_safe: NDArray[np.bool_]
    _: KW_ONLY
    classes: Labels
    evidence: Evidence
    method: str
    index: Any = None
    X: Any = None
    trajectories: NDArray[np.float32] | None = None

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, trajectories: Any = None
    ) -> "LabelReport":
        """Report on the labels that a classifier was fitted on.

        Parameters
        ----------
        estimator : classifier, Pipeline or search
            A fitted classifier of this package, a fitted pipeline that ends with one,
            or a fitted search over either.
        X : array-like of shape (n_samples, ...)
            The training samples. Their pandas index is kept.
        y : array-like of shape (n_samples,)
            The training labels. Other labels, or another order, raise an error.
        trajectories : ndarray of shape (n_samples, n_epochs), default=None
            Probability of the given label over the epochs, if it was recorded.

        Returns
        -------
        report : LabelReport
            The report.
        """
        owner = f"{cls.__name__}.from_estimator"
        fields = fields_of_estimator(estimator, y, owner)
        check_samples(X, len(fields["given"]), owner)
        check_samples(trajectories, len(fields["given"]), owner, "trajectories")
        return cls(**fields, index=index_of(X, y), X=X, trajectories=trajectories)

    @classmethod
    def from_probabilities(
        cls,
        pred_proba: Any,
        y: Any,
        classes: ArrayLike | None = None,
        *,
        X: Any = None,
    ) -> "LabelReport":
        """Report on labels by out-of-fold probabilities of any classifier.

        Parameters
        ----------
        pred_proba : array-like of shape (n_samples, n_classes)
            Probabilities predicted by a classifier that was not trained on the sample,
            such as by ``cross_val_predict(clf, X, y, method="predict_proba")``.
        y : array-like of shape (n_samples,)
            Given labels.
        classes : array-like of shape (n_classes,), default=None
            Labels of the columns. None means the column names of a DataFrame, or the
            sorted labels of ``y``.
        X : array-like of shape (n_samples, ...), default=None
            The samples, to be shown. Their pandas index is kept.

        Returns
        -------
        report : LabelReport
            The report.
        """
        owner = f"{cls.__name__}.from_probabilities"
        fields = fields_of_probabilities(pred_proba, y, classes, owner)
        check_samples(X, len(fields["given"]), owner)
        return cls(**fields, index=index_of(X, y, pred_proba), X=X)

    def __len__(self) -> int:
        return len(self.given)

    @cached_property
    def _calibration(self) -> ErrorCalibration:
        return ErrorCalibration(self.quality, self.evidence)

    @property
    def error_probability(self) -> NDArray[np.float64]:
        """Calibrated probability that each label is wrong."""
        return self._calibration.error_probability

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """Positions of the samples, lowest quality first."""
        return np.argsort(self.quality, kind="stable")

    @cached_property
    def _expected_errors(self) -> tuple[NDArray[np.float64], ...]:
        return self._calibration.cumulative(self.order)

    @cached_property
    def frame(self) -> Any:
        """One row per sample, in the order of the samples.

        The columns are ``given``, ``suggested``, ``quality``, ``is_safe`` and
        ``review_rank``, which is 1 for the label to review first.
        """
        rank = np.empty(len(self), dtype=np.int64)
        rank[self.order] = np.arange(1, len(self) + 1)
        frame = frame_of(
            {
                "given": decode(self.given, self.classes),
                "suggested": decode(self.suggested, self.classes),
                "quality": self.quality,
                "is_safe": self.is_safe,
                "review_rank": rank,
            }
        )
        return frame if self.index is None else frame.set_axis(self.index)

    def suspects(self, n: int | None = None, budget: int | None = None) -> Any:
        """Return the rows of :attr:`frame` to review, the most suspect first.

        Parameters
        ----------
        n : int, default=None
            Number of rows. None means as many as there are labels that are not
            accepted, those with ``is_safe`` False.
        budget : int, default=None
            Number of labels that can be reviewed: at most so many rows.

        Returns
        -------
        suspects : pandas.DataFrame
            The rows, by ``review_rank``.
        """
        if n is None:
            n = int(self.is_suspect.sum())
        self._check_number(n, "suspects", "n")
        if budget is not None:
            self._check_number(budget, "suspects", "budget", most=np.inf)
            n = min(n, budget)
        return self.frame.iloc[self.order[:n]]

    @property
    def is_suspect(self) -> NDArray[np.bool_]:
        """Whether each label is a suspect, a row of ``suspects()``."""
        is_suspect = np.zeros(len(self), dtype=bool)
        is_suspect[self.order[: np.count_nonzero(~self.is_safe)]] = True
        return is_suspect

    def expected_errors(self, n: int | None = None) -> ErrorEstimate:
        """Return how many of the first ``n`` labels by review rank are wrong.

        Parameters
        ----------
        n : int, default=None
            Number of labels; None means all.

        Returns
        -------
        estimate : ErrorEstimate
            ``expected``, with ``low`` and ``high``, the ends of a 90 % interval.
        """
        n = len(self) if n is None else n
        self._check_number(n, "expected_errors", "n")
        return ErrorEstimate(*(float(values[n]) for values in self._expected_errors))

    def _check_number(
        self, number: int, method: str, name: str, most: float | None = None
    ) -> None:
        most = len(self) if most is None else most
        if isinstance(number, Integral) and 0 <= number <= most:
            return
        raise ValueError(
            f"{type(self).__name__}.{method} needs {name} to be an integer from 0 to "
            f"{most}, got {number!r}. There are {len(self)} labels."
        )

    def summary(self) -> LabelSummary:
        """Return how many labels are wrong, overall and by class.

        The :class:`LabelSummary` prints as a table.
        """
        return summarize(self, self._calibration)

    def to_csv(self, path: Any = None) -> str | None:
        """Write :attr:`frame` as CSV, or return it as text if there is no path.

        Texts that a spreadsheet would take for a formula, those that begin with ``=``,
        ``+``, ``-``, ``@``, a tab or a carriage return, are preceded by an apostrophe.
        """
        return text_or_file(csv_text(self.frame), path)

    def to_json(self, path: Any = None) -> str | None:
        """Write summary and :attr:`frame` as JSON, or return the text."""
        return text_or_file(json_text(self.frame, self.summary().to_dict()), path)

    def to_html(self, path: Any, **options: Any) -> Any:
        """Write a page on which a person settles the suspect labels."""
        with needed_by("The page of a label audit", "audit"):
            from skpresto.audit._page import write_page

            return write_page(self, path, **options)

    def plot(self, axes: Any = None) -> LabelReportDisplay:
        """Plot given against suggested labels, and the quality of the labels.

        Parameters
        ----------
        axes : pair of matplotlib axes, default=None
            Axes to plot on. If None, a new figure is created.
        """
        values = self.summary().matrix, self.classes, self.quality, self.is_suspect
        return LabelReportDisplay(*values).plot(axes)

    def __repr__(self) -> str:
        return f"LabelReport by {self.method}: {self.summary().headline()}"

    def _repr_html_(self) -> str:
        return notebook_html(self.summary(), self.suspects())

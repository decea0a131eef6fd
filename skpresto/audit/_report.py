"""LabelReport: which labels are probably wrong, how many, and which to review first."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skpresto._label_quality.likeliest import Likeliest
from skpresto._labels import Codes, Labels
from skpresto.audit._calibration import ErrorCalibration, ErrorEstimate
from skpresto.audit._control import checked_positions, draw_control_sample
from skpresto.audit._decided import another_class, check_number, safe_by
from skpresto.audit._evidence import Evidence
from skpresto.audit._from_classifier import ReportsByClassifier
from skpresto.audit._from_estimator import fields_of_estimator
from skpresto.audit._from_probabilities import fields_of_probabilities
from skpresto.audit._outputs import ReportOutputs
from skpresto.audit._samples import check_samples, index_of
from skpresto.audit._summary import LabelSummary, summarize


@dataclass(eq=False, repr=False)
class LabelReport(ReportsByClassifier, ReportOutputs):
    """Which labels are probably wrong, how many there are, and which to review first.

    Made by :meth:`from_classifier`, :meth:`from_estimator`, :meth:`from_probabilities`.

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
    likeliest : Likeliest, default=None
        The most probable classes of each sample, if known: ``classes``, their numbers,
        and ``probability``. Of suspects whose given label is still the most likely
        one, the other one is suggested.
    checked : dict, default=None
        What a person found out about some labels: rows of the index (or positions, if
        there is none), and whether the label is wrong. The rows must be drawn at
        random, as by :meth:`control_sample`. All numbers take them into account.

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
    likeliest: Likeliest | None = None
    checked: Mapping[Any, bool] | None = None

    def __post_init__(self) -> None:
        self.checked_positions = checked_positions(
            self.checked, self.index, len(self), type(self).__name__
        )
        self.suggested = another_class(
            self.given,
            self.suggested,
            self.likeliest,
            self.is_suspect,
            len(self.classes),
        )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        trajectories: Any = None,
        threshold: float | None = None,
        checked: Mapping[Any, bool] | None = None,
    ) -> "LabelReport":
        """Report on the labels that a classifier was fitted on.

        Parameters
        ----------
        estimator : classifier, Pipeline or search
            A fitted classifier, a fitted pipeline that ends with one, or a fitted
            search over either. Classifiers of this package have assessed their labels
            while they were fitted. Clones of any other are fitted as
            :meth:`from_classifier` does by default, since a classifier comes to predict
            the wrong labels that it was trained on.
        X : array-like of shape (n_samples, ...)
            The training samples. Their pandas index is kept.
        y : array-like of shape (n_samples,)
            The training labels. Other labels, or another order, raise an error.
        trajectories : ndarray of shape (n_samples, n_epochs), default=None
            Probability of the given label over the epochs, if it was recorded.
        threshold : float, default=None
            Labels of a lower quality are suspects: more are found, and more correct
            ones are suspected, the higher it is. None means what the classifier
            accepts.
        checked : dict, default=None
            Labels that were checked, see :class:`LabelReport`.

        Returns
        -------
        report : LabelReport
            The report.
        """
        owner = f"{cls.__name__}.from_estimator"
        fields = fields_of_estimator(estimator, X, y, owner)
        check_samples(X, len(fields["given"]), owner)
        check_samples(trajectories, len(fields["given"]), owner, "trajectories")
        fields |= safe_by(threshold, fields["quality"], owner)
        return cls(
            **fields,
            index=index_of(X, y),
            X=X,
            trajectories=trajectories,
            checked=checked,
        )

    @classmethod
    def from_probabilities(
        cls,
        pred_proba: Any,
        y: Any,
        classes: ArrayLike | None = None,
        *,
        X: Any = None,
        threshold: float | None = None,
        checked: Mapping[Any, bool] | None = None,
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
        threshold : float, default=None
            Labels of a lower quality are suspects: more are found, and more correct
            ones are suspected, the higher it is. None means 0.5.
        checked : dict, default=None
            Labels that were checked, see :class:`LabelReport`.

        Returns
        -------
        report : LabelReport
            The report.
        """
        owner = f"{cls.__name__}.from_probabilities"
        fields = fields_of_probabilities(pred_proba, y, classes, owner)
        check_samples(X, len(fields["given"]), owner)
        fields |= safe_by(threshold, fields["quality"], owner)
        return cls(**fields, index=index_of(X, y, pred_proba), X=X, checked=checked)

    def __len__(self) -> int:
        return len(self.given)

    @cached_property
    def calibration(self) -> ErrorCalibration:
        return ErrorCalibration(self.quality, self.evidence, self.checked_positions)

    @property
    def error_probability(self) -> NDArray[np.float64]:
        """Calibrated probability that each label is wrong."""
        return self.calibration.error_probability

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """Positions of the samples, lowest quality first."""
        return np.argsort(self.quality, kind="stable")

    @cached_property
    def _expected_errors(self) -> tuple[NDArray[np.float64], ...]:
        return self.calibration.cumulative(self.order)

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
        check_number(self, n, "suspects", "n")
        if budget is not None:
            check_number(self, budget, "suspects", "budget", most=np.inf)
            n = min(n, budget)
        return self.frame.iloc[self.order[:n]]

    @property
    def is_suspect(self) -> NDArray[np.bool_]:
        """Whether each label is a suspect, a row of ``suspects()``."""
        is_suspect = np.zeros(len(self), dtype=bool)
        is_suspect[self.order[: np.count_nonzero(~self.is_safe)]] = True
        return is_suspect

    def control_sample(self, n: int = 50, seed: int = 0) -> Any:
        """Draw labels to check by hand, which make all numbers more certain.

        Seven in ten are suspects, the others come next in the order of review. However
        many of them are checked, from the first row on, they are a random sample.

        Parameters
        ----------
        n : int, default=50
            Number of labels; fewer if there are not enough.
        seed : int, default=0
            Of the draws.

        Returns
        -------
        sample : pandas.DataFrame
            The columns ``given`` and ``suggested`` of :attr:`frame`, in random order.
            Pass what was found as ``checked={row: is_wrong}``.
        """
        check_number(self, n, "control_sample", "n", most=np.inf)
        n_suspects = int(self.is_suspect.sum())
        drawn = draw_control_sample(self.order, n_suspects, n, seed)
        return self.frame.iloc[drawn][["given", "suggested"]]

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
        check_number(self, n, "expected_errors", "n")
        return ErrorEstimate(*(float(values[n]) for values in self._expected_errors))

    def summary(self) -> LabelSummary:
        """Return how many labels are wrong, overall and by class.

        The :class:`LabelSummary` prints as a table.
        """
        return summarize(self, self.calibration)

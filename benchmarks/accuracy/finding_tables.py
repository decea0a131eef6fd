"""Tables of finding wrong labels: metrics of all methods, and CTRL's experiments."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from contenders import CLEAN_LEARNING, METHODS
from layout import NOTHING, markdown, name_of, paragraph, percent, with_error
from ranking import AVERAGE_PRECISION, METRICS
from rivals import CTRL_METHODS, CTRL_ROWS
from summary import Estimate, Row, Summary, contender_of

if TYPE_CHECKING:
    from comparison import Comparison

#: Scores of a fit that are shown besides its own label quality.
FURTHER_SCORES = {
    "Default": {"aum": "AUM", "log_margin": "log margin of mean probabilities"},
    CLEAN_LEARNING: {
        "self_confidence": "self-confidence",
        "normalized_margin": "normalized margin",
    },
}
#: Percentage of rows assessed rightly, as published: Yue and Jha, "CTRL: clustering
#: training losses for label error detection", table for 20 % symmetric noise.
PUBLISHED = {
    "CTRL, as published": (98.4, 95.7),
    "confident learning, as published by CTRL's authors": (90.7, 92.0),
}


class Finder(NamedTuple):
    """A score by which wrong labels are found: that of a method, or a further one."""

    method: str
    score: str | None = None

    @property
    def name(self) -> str:
        """How tables name it."""
        if self.score is None:
            given = METHODS[self.method].is_given
            return f"{self.method} (given {given})" if given else self.method
        owner = "cleanlab" if self.method == CLEAN_LEARNING else self.method
        return f"{owner}: {FURTHER_SCORES[self.method][self.score]}"

    def estimate(self, summary: Summary, row: Row, metric: str) -> Estimate | None:
        """Return the mean of a metric over seeds."""
        found = summary.results(row, contender_of(self.method)).values()
        values = [self._metrics(result).get(metric) for result in found]
        return Estimate.of([value for value in values if value is not None])

    def _metrics(self, result: dict[str, Any]) -> dict[str, Any]:
        if self.score is None:
            return result
        return result.get("scores", {}).get(self.score, {})


def finders_of(methods: Sequence[str]) -> list[Finder]:
    """Return the scores of some methods.

    The label quality of CleanLearning is cleanlab's self-confidence.
    """
    return [
        finder
        for method in methods
        for finder in (
            Finder(method),
            *(Finder(method, score) for score in FURTHER_SCORES.get(method, ())),
        )
        if finder != Finder(CLEAN_LEARNING)
    ]


def _groups(comparison: "Comparison") -> dict[str, list[Finder]]:
    """Return the scores that have a result, by group of cost."""
    return {
        name: [
            finder
            for finder in finders_of(methods)
            if any(_average_precision(comparison, r, finder) for r in comparison.rows)
        ]
        for name, methods in comparison.groups.items()
    }


def _average_precision(
    comparison: "Comparison", row: Row, finder: Finder
) -> Estimate | None:
    return finder.estimate(comparison.summary, row, AVERAGE_PRECISION)


def _best(comparison: "Comparison", row: Row, finders: list[Finder]) -> Finder | None:
    found = {f: _average_precision(comparison, row, f) for f in finders}
    known = {f: e.mean for f, e in found.items() if e is not None}
    return max(known, key=lambda f: known[f]) if known else None


def overview(comparison: "Comparison") -> Iterator[str]:
    """Yield a line per score: the mean of each metric over the noisy rows."""
    yield "## Finding wrong labels: means over the noisy rows\n"
    yield from paragraph(
        """By `label_quality_` of the same fits, unless another score is named. The
        worst class is that of the lowest average precision among the samples with one
        given label. Best: rows in which a score has the highest average precision of
        its group, of those it was measured on; the means are over these rows."""
    )
    head = ["score", *METRICS.values(), "best"]
    for name, finders in _groups(comparison).items():
        if not finders:
            continue
        yield f"### {name}\n"
        best = [_best(comparison, row, finders) for row in comparison.noisy_rows]
        yield from markdown(
            head, [_line_of(comparison, finder, best) for finder in finders]
        )


def _line_of(
    comparison: "Comparison", finder: Finder, best: Sequence[Finder | None]
) -> list[str]:
    shown = [_mean_over_rows(comparison, finder, metric) for metric in METRICS]
    rows = comparison.noisy_rows
    n_rows = sum(_average_precision(comparison, r, finder) is not None for r in rows)
    return [finder.name, *shown, f"{best.count(finder)} of {n_rows}"]


def _mean_over_rows(comparison: "Comparison", finder: Finder, metric: str) -> str:
    found = [
        finder.estimate(comparison.summary, r, metric) for r in comparison.noisy_rows
    ]
    means = [estimate.mean for estimate in found if estimate is not None]
    return f"{np.mean(means):.3f}" if means else NOTHING


def by_group(comparison: "Comparison") -> Iterator[str]:
    """Yield the average precision of each row."""
    yield "## Average precision of finding wrong labels, by row\n"
    yield from paragraph(
        """Mean over seeds ± standard error; the highest value of a group in bold. The
        noise rate is the average precision of a random order."""
    )
    for name, finders in _groups(comparison).items():
        if not finders:
            continue
        yield f"### {name}\n"
        lines = []
        for row in comparison.noisy_rows:
            best = _best(comparison, row, finders)
            shown = [
                _three_digits(_average_precision(comparison, row, f), f == best)
                for f in finders
            ]
            rate = f"{comparison.summary.rates[row]:.3f}"
            lines.append([name_of(row, comparison.summary), rate, *shown])
        head = ["data, noise", "noise rate", *(finder.name for finder in finders)]
        yield from markdown(head, lines)


def _three_digits(estimate: Estimate | None, is_best: bool) -> str:
    if estimate is None:
        return NOTHING
    spread = "" if estimate.error is None else f" ± {estimate.error:.3f}"
    text = f"{estimate.mean:.3f}{spread}"
    return f"**{text}**" if is_best else text


def assessed_rightly(result: dict[str, Any]) -> float | None:
    """Return the fraction of labels accepted if correct and rejected if wrong.

    Examples
    --------
    Of ten labels, eight are correct; six of them and one wrong label are accepted:

    >>> result = {"noise_rate": 0.2, "safe_precision": 6 / 7, "safe_recall": 6 / 8}
    >>> round(assessed_rightly(result), 6)
    0.7
    """
    precision, recall = result["safe_precision"], result["safe_recall"]
    if recall is None:
        return None
    accepted_correct = (1 - result["noise_rate"]) * recall
    if precision is None:  # nothing is accepted
        return result["noise_rate"]
    accepted_wrong = accepted_correct * (1 - precision) / precision
    return accepted_correct + result["noise_rate"] - accepted_wrong


def ctrl(comparison: "Comparison") -> Iterator[str]:
    """Yield the experiments of CTRL with 20 % symmetric noise."""
    yield "## Labels assessed rightly with 20 % symmetric noise, %\n"
    yield from paragraph(
        """The fraction of training labels that are accepted and correct or rejected and
        wrong. The published figures are means over ten seeds, with as many rows (75 %
        of each data set, of which 5 % are split off here), other networks, and 17.3 %
        (letter) and 19.6 % (satimage) wrong labels. Size and epochs of those networks
        were chosen by cross-validation with clean labels, and of five filters of
        confident learning the one that is best by the true labels was reported."""
    )
    rows = [*(Row(data, *noise) for data, noise in CTRL_ROWS)]
    rows.append(Row("satimage", "symmetric", 0.2))
    lines = [[name, *map(str, values)] for name, values in PUBLISHED.items()]
    for method in CTRL_METHODS:
        found = [_assessed(comparison.summary, row, method) for row in rows]
        if any(found):
            lines.append([Finder(method).name, *map(with_error, found)])
    rates = [comparison.summary.rates.get(row) for row in rows]
    lines.append(["nothing rejected", *(percent(r and 1 - r) for r in rates)])
    yield from markdown(["method", "letter, all rows", "satimage"], lines)


def _assessed(summary: Summary, row: Row, method: str) -> Estimate | None:
    found = summary.results(row, contender_of(method)).values()
    values = [assessed_rightly(result) for result in found]
    return Estimate.of([value for value in values if value is not None])

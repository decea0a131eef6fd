"""Print the tables of a results file.

python benchmarks/accuracy/tables.py benchmarks/accuracy/results/laptop.jsonl
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import results
from contenders import DEFAULT_RULE, RULES
from layout import NOTHING, markdown, name_of, percent, table, with_error
from summary import (
    CONTENDERS,
    CROSS_PRESTOPPING,
    DEFAULT,
    OTHER_METHODS,
    PRESTOPPING,
    PRESTOPPING_METHODS,
    PRESTOPPING_PLUS,
    REFERENCE,
    Contender,
    Estimate,
    Row,
    Summary,
    mean_fraction,
    pooled_fraction,
    prestopping,
)

EARLY_STOPPED = "error_best_validation"
EARLY_STOPPED_NAME = "reference: Default, early stopping on clean rows"
SAFE_SET = ("safe_precision", "safe_recall")
Q_GRID = (1, 5, 10, 15, 20)


def means_of(
    summary: Summary, row: Row, contender: Contender, fields: Sequence[str]
) -> str:
    """Return the means of several result fields in percent."""
    found = [summary.estimate(row, contender, field) for field in fields]
    return " / ".join(percent(estimate and estimate.mean) for estimate in found)


def errors(summary: Summary) -> Iterator[str]:
    """Yield the test errors after the last epoch."""
    yield "## Test error after the last epoch, %\n"
    yield "Mean over seeds ± standard error; the lowest error of a method in bold."
    yield "References use clean labels: Default at the epoch with the lowest error on"
    yield "5 % clean rows, and Default trained only on rows with a correct label.\n"

    def cell(contender: Contender) -> Callable[[Row], str]:
        def text(row: Row) -> str:
            shown = with_error(summary.estimate(row, contender))
            is_lowest = summary.lowest(row, CONTENDERS) == contender
            return f"**{shown}**" if is_lowest else shown

        return text

    columns = {contender.method: cell(contender) for contender in CONTENDERS}
    columns[EARLY_STOPPED_NAME] = lambda row: with_error(
        summary.estimate(row, DEFAULT, EARLY_STOPPED)
    )
    columns["reference: clean subset"] = lambda row: with_error(
        summary.estimate(row, REFERENCE)
    )
    yield from table(summary, summary.rows, columns)


def best_epochs(summary: Summary) -> Iterator[str]:
    """Yield the test errors of the epochs chosen by validation and by test error."""
    yield "## Test error at the epoch of the lowest validation / lowest test error, %\n"

    def cell(contender: Contender) -> Callable[[Row], str]:
        fields = (EARLY_STOPPED, "error_best_test")
        return lambda row: means_of(summary, row, contender, fields)

    columns = {c.method: cell(c) for c in (*CONTENDERS, REFERENCE)}
    yield from table(summary, summary.rows, columns)


def gap_closed(summary: Summary) -> Iterator[str]:
    """Yield the fraction that each method closes of the gap to the clean subset."""
    yield "## Gap closed, %\n"
    yield "(Default - method) / (Default - clean subset), of test errors after the last"
    yield "epoch. For gaps below one point of error, the difference in points is given"
    yield "in parentheses, and the row is not part of the mean over rows. Pooled is the"
    yield "ratio of the sums over all rows.\n"
    columns = {c.method: (c, "error_last") for c in CONTENDERS if c != DEFAULT}
    columns[EARLY_STOPPED_NAME] = (DEFAULT, EARLY_STOPPED)
    gaps = {name: summary.gaps(*column) for name, column in columns.items()}

    def text(name: str, row: Row) -> str:
        gap = gaps[name].get(row)
        if gap is None:
            return NOTHING
        points = f"({100 * gap.closed:+.1f} points)"
        return points if gap.fraction is None else f"{100 * gap.fraction:.0f}"

    rows = [row for row in summary.rows if row.is_noisy]
    lines = [
        [
            name_of(row, summary),
            percent((gap := summary.gap(row, DEFAULT)) and gap.size),
            *(text(name, row) for name in columns),
        ]
        for row in rows
    ]
    for label, mean in (("mean over rows", mean_fraction), ("pooled", pooled_fraction)):
        fractions = [mean(found.values()) for found in gaps.values()]
        lines.append([f"**{label}**", "", *map(percent, fractions)])
    yield from markdown(["data, noise", "gap, points", *columns], lines)


def wins(summary: Summary) -> Iterator[str]:
    """Yield the number of noisy rows won, and every row that is not."""
    yield "## Rows in which Prestopping or CrossPrestopping has the lowest error\n"
    yield "Both with the default stop rule.\n"
    noisy = [row for row in summary.rows if row.is_noisy and summary.is_complete(row)]
    n_won = sum(summary.margin(row) <= 0 for row in noisy)
    if noisy:
        rate = f"{100 * n_won / len(noisy):.0f} %"
        yield f"{n_won} of the {len(noisy)} noisy rows with all methods ({rate})."
        for c in PRESTOPPING_METHODS:
            n_alone = sum(summary.margin(row, [c]) <= 0 for row in noisy)
            yield f"{c.method} alone, without the other of the two: {n_alone}."
        yield ""
    margins = {row: summary.margin(row) for row in summary.rows}
    lost = [row for row, margin in margins.items() if margin is not None and margin > 0]
    yield f"Rows in which another method is lowest, clean ones included: {len(lost)}.\n"
    if lost:
        columns = {
            "lowest": lambda row: summary.lowest(row, OTHER_METHODS).method,
            "error": lambda row: _lowest_error(summary, row, OTHER_METHODS),
            "better of the two": lambda row: (
                summary.lowest(row, PRESTOPPING_METHODS).method
            ),
            "its error": lambda row: _lowest_error(summary, row, PRESTOPPING_METHODS),
            "difference, points": lambda row: percent(margins[row]),
        }
        yield from table(summary, lost, columns)


def _lowest_error(summary: Summary, row: Row, among: Sequence[Contender]) -> str:
    return with_error(summary.estimate(row, summary.lowest(row, among)))


def stop_rules(summary: Summary) -> Iterator[str]:
    """Yield Prestopping with each stop rule, and the differences between them."""
    yield "## Prestopping with each stop rule: test error after the last epoch, %\n"
    columns = {
        rule: lambda row, rule=rule: with_error(
            summary.estimate(row, prestopping(rule))
        )
        for rule in RULES
    }
    yield from table(summary, summary.rows, columns)
    yield "Error with the default rule minus error with another rule, mean over the"
    yield "noisy rows, points:\n"
    practical = [r for r in RULES if r not in (DEFAULT_RULE, "oracle")]
    against = {rule: [rule] for rule in RULES if rule != DEFAULT_RULE}
    against["best supervised rule per row, without the oracle"] = practical
    against["best supervised rule per row"] = [*practical, "oracle"]
    for label, rules in against.items():
        others = [prestopping(rule) for rule in rules]
        found = [
            difference
            for row in summary.rows
            if row.is_noisy
            and (difference := summary.difference(row, PRESTOPPING, others)) is not None
        ]
        mean = Estimate.of(found)
        yield f"- {label}: {with_error(mean)} ({len(found)} rows)"
    yield ""


def safe_sets(summary: Summary) -> Iterator[str]:
    """Yield precision and recall of the labels accepted as correct."""
    yield "## Labels accepted as correct: precision / recall, %\n"

    def cell(contender: Contender) -> Callable[[Row], str]:
        return lambda row: means_of(summary, row, contender, SAFE_SET)

    columns = {contender.method: cell(contender) for contender in CONTENDERS}
    yield from table(summary, [r for r in summary.rows if r.is_noisy], columns)


def history_lengths(summary: Summary) -> Iterator[str]:
    """Yield Prestopping with several history lengths."""
    yield "## Prestopping by history length q: test error after the last epoch, %\n"
    contenders = {f"q = {q}": prestopping(q=q) for q in Q_GRID}
    rows = [
        row
        for row in summary.rows
        if sum(bool(summary.values(row, c)) for c in contenders.values()) > 1
    ]
    columns = {
        name: lambda row, c=c: with_error(summary.estimate(row, c))
        for name, c in contenders.items()
    }
    yield from table(summary, rows, columns)


def paper_methods(summary: Summary) -> Iterator[str]:
    """Yield the paper's two methods beside CrossPrestopping."""
    yield "## The paper's two methods and CrossPrestopping\n"
    yield "Test error after the last epoch, %, and in parentheses precision / recall of"
    yield "the labels accepted as correct, with the default stop rules.\n"
    contenders = [PRESTOPPING_PLUS, PRESTOPPING, CROSS_PRESTOPPING]
    rows = [row for row in summary.rows if summary.values(row, contenders[0])]

    def cell(contender: Contender) -> Callable[[Row], str]:
        def text(row: Row) -> str:
            shown = means_of(summary, row, contender, SAFE_SET)
            return f"{with_error(summary.estimate(row, contender))} ({shown})"

        return text

    yield from table(summary, rows, {c.method: cell(c) for c in contenders})


def times(summary: Summary) -> Iterator[str]:
    """Yield the time of a fit as a multiple of that of Default."""
    yield "## Time of a fit, relative to Default\n"
    yield "Mean over seeds of the wall-clock time, with other fits on the same machine:"
    yield "a rough guide only.\n"

    def cell(contender: Contender) -> Callable[[Row], str]:
        def text(row: Row) -> str:
            own, plain = (
                summary.estimate(row, c, "seconds") for c in (contender, DEFAULT)
            )
            return NOTHING if not own or not plain else f"{own.mean / plain.mean:.1f}"

        return text

    columns = {c.method: cell(c) for c in CONTENDERS if c != DEFAULT}
    yield from table(summary, [r for r in summary.rows if r.is_noisy], columns)


PARTS = (
    *(errors, best_epochs, gap_closed, wins),
    *(stop_rules, safe_sets, paper_methods, history_lengths, times),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("results", type=Path)
    path = parser.parse_args().results
    summary = Summary(results.read(path).values())
    for part in PARTS:
        print("\n".join(part(summary)))


if __name__ == "__main__":
    main()

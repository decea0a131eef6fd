"""Make the tables of a results file.

python benchmarks/accuracy/tables.py benchmarks/accuracy/results/laptop.jsonl
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import results
from contenders import AS_PUBLISHED, DEFAULT_RULE, RULES
from summary import (
    CONTENDERS,
    DEFAULT,
    LIMIT,
    OURS,
    PRESTOPPING,
    RIVALS,
    Contender,
    Estimate,
    Row,
    Summary,
    mean_share,
    pooled_share,
    prestopping,
)

NOTHING = "\N{EN DASH}"
EARLY_STOPPED = "error_best_validation"
SAFE_SET = ("safe_precision", "safe_recall")
Q_GRID = (1, 5, 10, 15, 20)


def percent(value: float | None) -> str:
    return NOTHING if value is None else f"{100 * value:.1f}"


def with_error(estimate: Estimate | None) -> str:
    """Return a mean and its standard error, in per cent."""
    if estimate is None:
        return NOTHING
    spread = "" if estimate.error is None else f" ± {100 * estimate.error:.1f}"
    return percent(estimate.mean) + spread


def means_of(
    summary: Summary, row: Row, contender: Contender, fields: Sequence[str]
) -> str:
    """Return the means of several numbers, in per cent."""
    found = [summary.estimate(row, contender, field) for field in fields]
    return " / ".join(percent(estimate and estimate.mean) for estimate in found)


def name_of(row: Row, summary: Summary) -> str:
    if not row.is_noisy:
        return f"{row.data}, clean"
    rate = summary.rates[row] if row.rate is None else row.rate
    return f"{row.data}, {row.noise} {100 * rate:.0f} %"


def markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a table, and a blank line after it."""
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    yield from (f"| {' | '.join(line)} |" for line in lines)
    yield ""


def table(
    summary: Summary,
    rows: Sequence[Row],
    columns: dict[str, Callable[[Row], str]],
    first: str = "data, noise",
) -> Iterator[str]:
    """Yield a table with a line a row, and a column for each function of the row."""
    lines = [[name_of(r, summary), *(f(r) for f in columns.values())] for r in rows]
    yield from markdown([first, *columns], lines)


def errors(summary: Summary) -> Iterator[str]:
    """Yield the test error after the last epoch."""
    yield "## Test error after the last epoch, %\n"
    yield "Mean over seeds ± standard error; the lowest of the contenders in bold. The"
    yield "limits use what nobody has: plain training stopped at the best of 5 % clean"
    yield "rows, and plain training on the rows whose label is right.\n"

    def cell(contender: Contender) -> Callable[[Row], str]:
        def text(row: Row) -> str:
            shown = with_error(summary.estimate(row, contender))
            is_lowest = summary.lowest(row, CONTENDERS) == contender
            return f"**{shown}**" if is_lowest else shown

        return text

    columns = {contender.method: cell(contender) for contender in CONTENDERS}
    columns["limit: Default, clean early stopping"] = lambda row: with_error(
        summary.estimate(row, DEFAULT, EARLY_STOPPED)
    )
    columns["limit: clean subset"] = lambda row: with_error(
        summary.estimate(row, LIMIT)
    )
    yield from table(summary, summary.rows, columns)


def best_epochs(summary: Summary) -> Iterator[str]:
    """Yield the test error at the epochs that hindsight would choose."""
    yield "## Test error at the epoch of the best validation / best test error, %\n"

    def cell(contender: Contender) -> Callable[[Row], str]:
        fields = (EARLY_STOPPED, "error_best_test")
        return lambda row: means_of(summary, row, contender, fields)

    columns = {c.method: cell(c) for c in (*CONTENDERS, LIMIT)}
    yield from table(summary, summary.rows, columns)


def damage_repaired(summary: Summary) -> Iterator[str]:
    """Yield which share of the damage that noise does each method repairs."""
    yield "## Damage repaired, %\n"
    yield "(Default - method) / (Default - clean subset). Rows with a damage below one"
    yield "point are shown in points of error, in brackets, and left out of the mean of"
    yield "the shares; the pooled share is the ratio of the sums over all rows.\n"
    columns = {c.method: (c, "error_last") for c in CONTENDERS if c != DEFAULT}
    columns["limit: Default, clean early stopping"] = (DEFAULT, EARLY_STOPPED)
    repairs = {name: summary.repairs(*column) for name, column in columns.items()}

    def text(name: str, row: Row) -> str:
        repair = repairs[name].get(row)
        if repair is None:
            return NOTHING
        points = f"({100 * repair.repaired:+.1f} points)"
        return points if repair.share is None else f"{100 * repair.share:.0f}"

    rows = [row for row in summary.rows if row.is_noisy]
    lines = [
        [
            name_of(row, summary),
            percent((damage := summary.repair(row, DEFAULT)) and damage.damage),
            *(text(name, row) for name in columns),
        ]
        for row in rows
    ]
    for label, share in [("mean of shares", mean_share), ("pooled", pooled_share)]:
        shares = [share(found.values()) for found in repairs.values()]
        lines.append([f"**{label}**", "", *map(percent, shares)])
    yield from markdown(["data, noise", "damage, points", *columns], lines)


def wins(summary: Summary) -> Iterator[str]:
    """Yield in how many noisy rows one of ours is lowest, and every row lost."""
    yield "## Where Prestopping or Prestopping+ under the default rule is lowest\n"
    noisy = [row for row in summary.rows if row.is_noisy and summary.is_complete(row)]
    n_won = sum(summary.margin(row) <= 0 for row in noisy)
    if noisy:
        share = f"{100 * n_won / len(noisy):.0f} %"
        yield f"In {n_won} of {len(noisy)} noisy rows with all contenders ({share}).\n"
    margins = {row: summary.margin(row) for row in summary.rows}
    lost = [row for row, margin in margins.items() if margin is not None and margin > 0]
    yield f"Rows lost, clean ones included: {len(lost)}.\n"
    if lost:
        columns = {
            "winner": lambda row: summary.lowest(row, RIVALS).method,
            "its error": lambda row: _lowest_error(summary, row, RIVALS),
            "better of ours": lambda row: summary.lowest(row, OURS).method,
            "its error ": lambda row: _lowest_error(summary, row, OURS),
            "lost by, points": lambda row: percent(margins[row]),
        }
        yield from table(summary, lost, columns)


def _lowest_error(summary: Summary, row: Row, among: Sequence[Contender]) -> str:
    return with_error(summary.estimate(row, summary.lowest(row, among)))


def stop_rules(summary: Summary) -> Iterator[str]:
    """Yield Prestopping under each rule, and what supervision is worth."""
    yield "## Prestopping under each stop rule: test error after the last epoch, %\n"
    columns = {
        rule: lambda row, rule=rule: with_error(
            summary.estimate(row, prestopping(rule))
        )
        for rule in RULES
    }
    yield from table(summary, summary.rows, columns)
    yield "Default rule less others, mean over noisy rows, points:\n"
    practical = [r for r in RULES if r not in (DEFAULT_RULE, "oracle")]
    against = {rule: [rule] for rule in RULES if rule != DEFAULT_RULE}
    against["best of the supervised ones but the oracle, in each row"] = practical
    against["best of all supervised ones, in each row"] = [*practical, "oracle"]
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
    """Yield how clean and how complete the trusted labels are."""
    yield "## Trusted labels: precision / recall, %\n"

    def cell(contender: Contender) -> Callable[[Row], str]:
        return lambda row: means_of(summary, row, contender, SAFE_SET)

    columns = {contender.method: cell(contender) for contender in CONTENDERS}
    yield from table(summary, [r for r in summary.rows if r.is_noisy], columns)


def history_lengths(summary: Summary) -> Iterator[str]:
    """Yield Prestopping for several q."""
    yield "## Prestopping, default rule, by q: test error after the last epoch, %\n"
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


def as_published(summary: Summary) -> Iterator[str]:
    """Yield what the departures from the paper are worth."""
    yield "## Prestopping+ to the letter of the paper, and as it is here\n"
    yield "Test error after the last epoch, %, and precision / recall of the trusted"
    yield "labels, under the default rule. To the letter: one network judges the labels"
    yield "that it learns from, and one predicts.\n"
    contenders = [Contender(AS_PUBLISHED, DEFAULT_RULE, 10), *OURS]
    rows = [row for row in summary.rows if summary.values(row, contenders[0])]

    def cell(contender: Contender) -> Callable[[Row], str]:
        def text(row: Row) -> str:
            shown = means_of(summary, row, contender, SAFE_SET)
            return f"{with_error(summary.estimate(row, contender))} ({shown})"

        return text

    yield from table(summary, rows, {c.method: cell(c) for c in contenders})


def times(summary: Summary) -> Iterator[str]:
    """Yield how long a fit takes, as a multiple of plain training."""
    yield "## Time of a fit, in fits of Default\n"
    yield "Mean over seeds of machine time that was shared with other fits: a rough"
    yield "guide only.\n"

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
    *(errors, best_epochs, damage_repaired, wins),
    *(stop_rules, safe_sets, as_published, history_lengths, times),
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

"""Print the tables of a results file.

python benchmarks/accuracy/tables.py benchmarks/accuracy/results/laptop.jsonl
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
from contenders import (
    CLEAN_SUBSET,
    CROSS_PRESTOPPING,
    DEFAULT,
    DEFAULT_RULE,
    PRESTOPPING,
    PRESTOPPING_PLUS,
    RULES,
)
from fits import Gaps, Means, by_seed, over_seeds, read_fits, with_default_rule
from layout import NOTHING, markdown, percent, texts, with_error

EARLY_STOPPED = "reference: Default, early stopping on clean rows"
#: The paper's Prestopping+ is not among them: it was run on some rows only.
PRESTOPPING_METHODS = [PRESTOPPING, CROSS_PRESTOPPING]
OTHER_METHODS = [
    *(DEFAULT, "Active Bias", "Co-teaching", "Co-teaching+", "SELFIE", "CleanLearning")
]
CONTENDERS = OTHER_METHODS + PRESTOPPING_METHODS
SAFE_SET = ("safe_precision", "safe_recall")
Q_GRID = [1, 5, 10, 15, 20]


def means_of(fits: pd.DataFrame, methods: list[str], field: str = "error_last"):
    """Return the means of a result field over seeds."""
    return over_seeds(by_seed(with_default_rule(fits), field)).of(methods)


def pairs_of(fits: pd.DataFrame, methods: list[str], fields: tuple[str, str]):
    """Return the means of two result fields in percent, as text."""
    first, second = (means_of(fits, methods, f).mean.map(percent) for f in fields)
    return first + " / " + second


def with_early_stopping(fits: pd.DataFrame) -> pd.DataFrame:
    """Return default fits, and Default at the epoch with the lowest validation error.

    The latter has a name of its own as method.
    """
    fits = with_default_rule(fits)
    plain = fits[fits["method"] == DEFAULT]
    stopped = plain.assign(
        method=EARLY_STOPPED, error_last=plain["error_best_validation"]
    )
    return pd.concat([fits, stopped])


def errors(fits: pd.DataFrame) -> Iterator[str]:
    """Yield the test errors after the last epoch."""
    yield "## Test error after the last epoch, %\n"
    yield "Mean over seeds ± standard error; the lowest error of a method in bold."
    yield "References use clean labels: Default at the epoch with the lowest error on"
    yield "5 % clean rows, and Default trained only on rows with a correct label.\n"
    columns = [*CONTENDERS, EARLY_STOPPED, CLEAN_SUBSET]
    means = means_of(with_early_stopping(fits), columns)
    is_lowest = means.mean.eq(means.mean[CONTENDERS].min(axis=1), axis=0)
    is_lowest[[EARLY_STOPPED, CLEAN_SUBSET]] = False
    names = {CLEAN_SUBSET: "reference: clean subset"}
    yield from markdown(texts(means, is_lowest).rename(columns=names))


def best_epochs(fits: pd.DataFrame) -> Iterator[str]:
    """Yield the test errors of the epochs chosen by validation and by test error."""
    yield "## Test error at the epoch of the lowest validation / lowest test error, %\n"
    fields = ("error_best_validation", "error_best_test")
    yield from markdown(pairs_of(fits, [*CONTENDERS, CLEAN_SUBSET], fields))


def gap_closed(fits: pd.DataFrame) -> Iterator[str]:
    """Yield the fraction that each method closes of the gap to the clean subset."""
    yield "## Gap closed, %\n"
    yield "(Default - method) / (Default - clean subset), of test errors after the last"
    yield "epoch. For gaps below one point of error, the difference in points is given"
    yield "in parentheses, and the row is not part of the mean over rows. Pooled is the"
    yield "ratio of the sums over all rows.\n"
    columns = [*(c for c in CONTENDERS if c != DEFAULT), EARLY_STOPPED]
    found = Gaps.of(by_seed(with_early_stopping(fits)))
    gaps = Means(found.fraction, found.closed).of(columns)
    points = gaps.error.map(
        lambda v: NOTHING if pd.isna(v) else f"({100 * v:+.1f} points)"
    )
    shown = gaps.mean.map(lambda v: f"{100 * v:.0f}").where(gaps.mean.notna(), points)
    shown = shown.set_axis(list(shown.index))
    shown.loc["**mean over rows**"] = gaps.mean.mean().map(percent)
    shown.loc["**pooled**"] = found.pooled.reindex(columns).map(percent)
    shown.insert(0, "gap, points", found.size[DEFAULT].map(percent))
    yield from markdown(shown.fillna({"gap, points": ""}))


def wins(fits: pd.DataFrame) -> Iterator[str]:
    """Yield the number of noisy rows won, and every row that is not."""
    yield "## Rows in which Prestopping or CrossPrestopping has the lowest error\n"
    yield "Both with the default stop rule.\n"
    means = means_of(fits, CONTENDERS)
    own, other = means.mean[PRESTOPPING_METHODS], means.mean[OTHER_METHODS]
    is_noisy = means.mean.index.isin(fits.loc[fits["is_noisy"], "row"])
    complete = means.mean.notna().all(axis=1) & is_noisy
    if n_rows := complete.sum():
        margins = own[complete].sub(other[complete].min(axis=1), axis=0)
        n_won = (margins.min(axis=1) <= 0).sum()
        rate = f"{100 * n_won / n_rows:.0f} %"
        yield f"{n_won} of the {n_rows} noisy rows with all methods ({rate})."
        for method, n_alone in (margins <= 0).sum().items():
            yield f"{method} alone, without the other of the two: {n_alone}."
        yield ""
    margin = own.min(axis=1) - other.min(axis=1)
    lost = margin[margin > 0].index
    yield f"Rows in which another method is lowest, clean ones included: {len(lost)}.\n"
    if len(lost):
        other, own = other.loc[lost].idxmin(axis=1), own.loc[lost].idxmin(axis=1)
        shown = texts(means)
        columns = {
            "lowest": other,
            "error": [shown.at[at] for at in other.items()],
            "better of the two": own,
            "its error": [shown.at[at] for at in own.items()],
            "difference, points": margin[lost].map(percent),
        }
        yield from markdown(pd.DataFrame(columns))


def stop_rules(fits: pd.DataFrame) -> Iterator[str]:
    """Yield Prestopping with each stop rule, and the differences between them."""
    yield "## Prestopping with each stop rule: test error after the last epoch, %\n"
    own = fits[(fits["method"] == PRESTOPPING) & (fits["q"] == 10)]
    means = over_seeds(by_seed(own, columns="rule")).of(list(RULES))
    yield from markdown(texts(means))
    yield "Error with the default rule minus error with another rule, mean over the"
    yield "noisy rows, points:\n"
    noisy = means.mean[means.mean.index.isin(fits.loc[fits["is_noisy"], "row"])]
    practical = [rule for rule in RULES if rule not in (DEFAULT_RULE, "oracle")]
    against = {rule: [rule] for rule in RULES if rule != DEFAULT_RULE}
    against["best supervised rule per row, without the oracle"] = practical
    against["best supervised rule per row"] = [*practical, "oracle"]
    for label, rules in against.items():
        known = noisy[[DEFAULT_RULE, *rules]].dropna()
        difference = known[DEFAULT_RULE] - known[rules].min(axis=1)
        shown = with_error(difference.mean(), difference.sem())
        yield f"- {label}: {shown} ({len(known)} rows)"
    yield ""


def safe_sets(fits: pd.DataFrame) -> Iterator[str]:
    """Yield precision and recall of the labels accepted as correct."""
    yield "## Labels accepted as correct: precision / recall, %\n"
    yield from markdown(pairs_of(fits[fits["is_noisy"]], CONTENDERS, SAFE_SET))


def paper_methods(fits: pd.DataFrame) -> Iterator[str]:
    """Yield the paper's two methods beside CrossPrestopping."""
    yield "## The paper's two methods and CrossPrestopping\n"
    yield "Test error after the last epoch, %, and in parentheses precision / recall of"
    yield "the labels accepted as correct, with the default stop rules.\n"
    columns = [PRESTOPPING_PLUS, PRESTOPPING, CROSS_PRESTOPPING]
    means = means_of(fits, columns)
    shown = texts(means) + " (" + pairs_of(fits, columns, SAFE_SET) + ")"
    yield from markdown(shown[means.mean[PRESTOPPING_PLUS].notna()])


def history_lengths(fits: pd.DataFrame) -> Iterator[str]:
    """Yield Prestopping with several history lengths."""
    yield "## Prestopping by history length q: test error after the last epoch, %\n"
    own = fits[(fits["method"] == PRESTOPPING) & (fits["rule"] == DEFAULT_RULE)]
    means = over_seeds(by_seed(own, columns="q")).of(Q_GRID)
    shown = texts(means)[means.mean.notna().sum(axis=1) > 1]
    yield from markdown(shown.rename(columns="q = {}".format))


def times(fits: pd.DataFrame) -> Iterator[str]:
    """Yield the time of a fit as a multiple of that of Default."""
    yield "## Time of a fit, relative to Default\n"
    yield "Mean over seeds of the wall-clock time, with other fits on the same machine:"
    yield "a rough guide only.\n"
    seconds = means_of(fits[fits["is_noisy"]], CONTENDERS, "seconds").mean
    ratios = seconds.drop(columns=DEFAULT).div(seconds[DEFAULT], axis=0)
    yield from markdown(
        ratios.map(lambda v: NOTHING if pd.isna(v) else f"{v:.1f}"),
    )


PARTS = (
    *(errors, best_epochs, gap_closed, wins),
    *(stop_rules, safe_sets, paper_methods, history_lengths, times),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("results", type=Path)
    fits = read_fits(parser.parse_args().results)
    for part in PARTS:
        print("\n".join(part(fits)))


if __name__ == "__main__":
    main()

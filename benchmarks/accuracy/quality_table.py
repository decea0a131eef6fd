"""Print the results of the preset quality as markdown tables.

python benchmarks/accuracy/quality_table.py
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd
from contenders import CLEAN_LEARNING
from fits import by_seed, lines_of_scores, over_seeds, read_fits
from layout import fraction, markdown, texts
from ranking import METRICS

RESULTS = Path(__file__).parent / "results" / "quality.jsonl"


def rows_of(fits: pd.DataFrame) -> pd.DataFrame:
    """Return name, mean noise rate and number of seeds of each row.

    The number is a range if methods differ in it.
    """
    rows = fits.groupby("row", observed=True)[["data", "noise", "rate"]].first()
    nominal = rows["rate"].map(lambda r: "" if pd.isna(r) else f" {100 * r:.0f} %")
    rates = fits.drop_duplicates(["row", "seed"]).groupby("row", observed=True)
    counts = fits.groupby(["row", "method"], observed=True).size()
    ends = counts.groupby(level="row", observed=True).agg(["min", "max"])
    return pd.DataFrame(
        {
            "data, noise": rows["data"] + ", " + rows["noise"] + nominal,
            "noise rate": rates["noise_rate"].mean().map(fraction),
            "seeds": ends.apply(lambda n: "-".join(map(str, n.unique())), axis=1),
        }
    )


def table(fits: pd.DataFrame, metric: str) -> Iterator[str]:
    """Yield a table with one line per data set and noise."""
    lines = lines_of_scores(fits)
    methods = lines["method"].replace(CLEAN_LEARNING, "cleanlab")
    lines["column"] = methods + ": `" + lines["score"] + "`"
    columns = lines.assign(last=methods == "cleanlab").sort_values(
        "last", kind="stable"
    )
    means = over_seeds(by_seed(lines, metric, "column"))
    means = means.of(list(columns["column"].unique()))
    is_highest = means.mean.eq(means.mean.max(axis=1), axis=0)
    shown = rows_of(fits).join(texts(means, is_highest, fraction))
    over_rows = means.mean.mean(skipna=False).map(fraction)
    mean = {"data, noise": "**mean over rows**", "noise rate": "", "seeds": ""}
    last = pd.DataFrame([{**mean, **over_rows}])
    yield from markdown(pd.concat([shown, last]), index=None)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print one table per metric."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("results", nargs="?", type=Path, default=RESULTS)
    fits = read_fits(parser.parse_args(arguments).results)
    print("Mean over seeds ± standard error; the highest value of a row in bold. The")
    print("noise rate is the average precision of a random order.\n")
    for metric, title in METRICS.items():
        print(f"## {title[0].upper()}{title[1:]} of finding wrong labels\n")
        print("\n".join(table(fits, metric)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

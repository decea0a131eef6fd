"""The tables of ``any_classifier.py``, in Markdown, as in docs/label-cleaning.md."""

from pathlib import Path

import numpy as np
import pandas as pd

RESULTS = Path(__file__).parent / "results" / "any_classifier.jsonl"
ROW = ["data", "noise", "rate"]
#: Fractions of smaller gaps are mostly chance.
MIN_GAP = 0.01
#: Smaller differences, in points of error, are not listed.
LEAST_LOSS = 0.05


def read(path: Path = RESULTS) -> pd.DataFrame:
    """Return one line per estimator, row and seed, with a column per method."""
    fits = pd.read_json(path, lines=True).drop_duplicates(
        ["estimator", "method", *ROW, "seed"], keep="last"
    )
    fits["rate"] = fits["rate"].fillna(-1)
    index = ["estimator", *ROW, "seed"]
    wide = fits.pivot(index=index, columns="method", values=["error", "seconds"])
    found = fits[fits["method"] == "cleaning"].set_index(index)
    wide["fallback", "cleaning"] = found["fallback"].astype(bool)
    complete = wide["error"][["plain", "CleanLearning", "cleaning"]].notna().all(axis=1)
    return wide[complete]


def table(wide: pd.DataFrame) -> str:
    """Return test errors in %: plain / CleanLearning / cleaning / clean subset."""
    errors = (100 * wide["error"]).groupby(level=["estimator", *ROW], sort=False).mean()
    methods = ["plain", "CleanLearning", "cleaning", "clean subset"]
    cells = errors[methods].apply(_cell, axis=1).unstack("estimator")
    lines = [f"| data, noise | {' | '.join(cells.columns)} |"]
    lines += [f"|{'---|' * (len(cells.columns) + 1)}"]
    for (data, noise, rate), row in cells.sort_index(level=[1, 2, 0]).iterrows():
        name = f"{data}, {noise}" + (f" {100 * rate:.0f} %" if rate > 0 else "")
        lines += [f"| {name} | {' | '.join(row.fillna(''))} |"]
    return "\n".join(lines)


def _cell(errors: pd.Series) -> str:
    best = errors[["plain", "CleanLearning", "cleaning"]].min()
    shown = [
        ""
        if np.isnan(value)
        else f"**{value:.1f}**"
        if value == best and name != "clean subset"
        else f"{value:.1f}"
        for name, value in errors.items()
    ]
    return " / ".join(shown)


def summary(wide: pd.DataFrame) -> str:
    """Return one line per estimator with what matters over all rows."""
    lines = [
        "| estimator | seeds | noisy cells | gap closed by CleanLearning | by cleaning "
        "| lower than CleanLearning | most above plain | mean above plain, clean "
        "| fallback, noisy | CPU time: CleanLearning | cleaning |",
        f"|{'---|' * 11}",
    ]
    groups = [*wide.groupby(level="estimator", sort=False), ("all", wide)]
    for name, of_estimator in groups:
        lines.append(f"| {name} | {' | '.join(_numbers(of_estimator))} |")
    return "\n".join(lines)


def _numbers(wide: pd.DataFrame) -> list[str]:
    errors = wide["error"]
    is_clean = wide.index.get_level_values("noise") == "clean"
    noisy, clean = errors[~is_clean], errors[is_clean]
    means = noisy.groupby(level=["estimator", *ROW]).mean()
    gap = means["plain"] - means["clean subset"]
    wide_enough = gap >= MIN_GAP
    closed = {
        method: ((means["plain"] - means[method]) / gap)[wide_enough].mean()
        for method in ("CleanLearning", "cleaning")
    }
    seconds = wide["seconds"].groupby(level="estimator").sum()
    relative = (
        seconds[["CleanLearning", "cleaning"]].sum() / seconds["plain"].sum()
    ).map("{:.1f} fits".format)
    above = 100 * (noisy["cleaning"] - noisy["plain"])
    return [
        ", ".join(map(str, sorted(set(wide.index.get_level_values("seed"))))),
        str(len(noisy)),
        f"{100 * closed['CleanLearning']:.0f} %",
        f"{100 * closed['cleaning']:.0f} %",
        f"{100 * (noisy['cleaning'] < noisy['CleanLearning']).mean():.0f} %",
        f"{above.max():+.1f}",
        f"{100 * (clean['cleaning'] - clean['plain']).mean():+.2f}",
        f"{wide[~is_clean]['fallback', 'cleaning'].sum():.0f}",
        relative["CleanLearning"],
        relative["cleaning"],
    ]


def lost(wide: pd.DataFrame) -> str:
    """Return the cells where plain training or CleanLearning is better, and by what."""
    lines = []
    for rival in ("plain", "CleanLearning"):
        behind = 100 * (wide["error"]["cleaning"] - wide["error"][rival])
        behind = behind[behind > LEAST_LOSS].sort_values(ascending=False)
        lines += [f"Above {rival} in {len(behind)} of {len(wide)} cells:"]
        for (name, data, noise, rate, seed), points in behind.items():
            row = f"{data}, {noise}" + (f" {100 * rate:.0f} %" if rate > 0 else "")
            lines += [f"- {name}, {row}, seed {seed}: {points:+.1f}"]
    return "\n".join(lines)


def spread(wide: pd.DataFrame) -> str:
    """Return the standard deviation between seeds, mean over rows with several."""
    rows = (100 * wide["error"]).groupby(level=["estimator", *ROW])
    deviations = rows.std()[rows["plain"].count() > 1].mean()
    return f"Between seeds, points of error: {deviations.round(2).to_dict()}"


if __name__ == "__main__":
    import sys

    found = read(Path(sys.argv[1]) if len(sys.argv) > 1 else RESULTS)
    print(summary(found), table(found), lost(found), spread(found), sep="\n\n")

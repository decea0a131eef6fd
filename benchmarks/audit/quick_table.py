"""The quick audit of tables beside other methods, in Markdown, as in docs/audit.md.

    python benchmarks/audit/quick_table.py

Average precision of finding the wrong labels, from committed results alone: the rounds
and CleanLearning with extra trees (``any_classifier.py``), CrossPrestopping and
CleanLearning with networks (``rivals.py``), on seed 0.
"""

from pathlib import Path

import pandas as pd

RESULTS = Path(__file__).parents[1] / "accuracy" / "results"
ROW = ["data", "noise", "rate"]
SEED = 0
COLUMNS = [
    "rounds",
    "CrossPrestopping",
    "CleanLearning, trees",
    "CleanLearning, networks",
]


def read() -> pd.DataFrame:
    """Return the average precision of each method (columns) on each row."""
    rounds = pd.read_json(RESULTS / "any_classifier.jsonl", lines=True)
    rounds = rounds[rounds["estimator"] == "extra trees"]
    rounds["method"] = rounds["method"].map(
        {"cleaning": "rounds", "CleanLearning": "CleanLearning, trees"}
    )
    rivals = pd.read_json(RESULTS / "rivals.jsonl", lines=True)
    rivals["method"] = rivals["method"].replace(
        "CleanLearning", "CleanLearning, networks"
    )
    both = pd.concat([rounds, rivals])
    both = both[(both["seed"] == SEED) & both["method"].isin(COLUMNS)]
    both["rate"] = both["rate"].fillna(0)
    both = both.dropna(subset="average_precision")
    both = both.drop_duplicates(["method", *ROW], keep="last")
    wide = both.pivot(index=ROW, columns="method", values="average_precision")
    # Of the features of images the rounds had 5,000 rows, the networks 20,000.
    return wide[COLUMNS].drop("cifar10n_feat").dropna()


def table(wide: pd.DataFrame) -> str:
    """Return the table, with the means in its last line."""
    lines = [f"| data, noise | {' | '.join(COLUMNS)} |", "|---" * 5 + "|"]
    for (data, noise, rate), row in wide.iterrows():
        name = f"{data}, {noise}" + (f" {100 * rate:.0f} %" if rate else "")
        lines.append(_line(name, row))
    return "\n".join([*lines, _line("mean", wide.mean())])


def _line(name: str, row: pd.Series) -> str:
    shown = [f"{v:.3f}".lstrip("0") for v in row]
    cells = [
        f"**{s}**" if v == row.max() else s for v, s in zip(row, shown, strict=True)
    ]
    return f"| {name} | {' | '.join(cells)} |"


if __name__ == "__main__":
    print(table(read()))

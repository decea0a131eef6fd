"""Print the results of the audit benchmark as markdown tables.

python benchmarks/audit/table.py
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import accuracy_scripts  # noqa: F401
import audits
import pandas as pd
from labelled_sets import CLEAN
from layout import markdown
from results import lines
from run import RESULTS

from skpresto.audit._evidence import LEAST_AUC

DATALAB = Path(__file__).parent / "datalab.jsonl"
COUNTS = ("suspects", "first 100", "all")


def main() -> int:
    """Print numbers against the truth, decisions, and the comparison."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("results", nargs="?", type=Path, default=RESULTS)
    found = list(lines(parser.parse_args().results))
    for when in ("before", "after"):
        print(f"\n## Numbers of wrong labels {when} 50 labels are checked\n")
        print("\n".join(count_table(found, when)))
    print("\n## Noise rates of classes\n")
    print("\n".join(class_table(found)))
    print("\n## Decisions\n")
    print("\n".join(decision_table(found)))
    print("\n## Suspects where no label is wrong\n")
    print("\n".join(clean_table(found)))
    if DATALAB.exists():
        print("\n## Beside cleanlab's Datalab\n")
        print("\n".join(datalab_table(list(lines(DATALAB)))))
    return 0


def kind_of(result: dict[str, Any]) -> str:
    """Return what a result is about: its evidence, and whether it is a hard case."""
    mode = result["audit"]["mode"]
    kind = next(kind for kind, modes in audits.KINDS.items() if mode in modes)
    if result["audit"]["noise"] == CLEAN:
        return f"{kind}, clean labels"
    is_hard = result["auc"] is not None and result["auc"] < LEAST_AUC
    return f"{kind}, errors cannot be told" if is_hard else kind


def count_table(results: list[dict[str, Any]], when: str) -> Iterator[str]:
    """Yield coverage, width and error of each number, as fractions of its labels."""
    found = pd.DataFrame(
        (kind_of(r), name, *count) for r in results for name, count in r[when].items()
    )
    found.columns = ["labels", "among", "expected", "low", "high", "true", "n"]
    found["coverage"] = found["true"].between(found["low"], found["high"])
    found["width"] = (found["high"] - found["low"]) / found["n"]
    found["error"] = (found["expected"] - found["true"]).abs() / found["n"]
    shown = found.groupby(["labels", "among"])[["coverage", "width", "error"]].mean()
    table = shown.map("{:.2f}".format).agg(" / ".join, axis=1).unstack()
    sizes = found[found["among"] == "all"].groupby("labels").size()
    table.insert(0, "audits", sizes.map(str))
    table = table.fillna("")
    table = table.rename(columns={n: f"{n}: coverage / width / error" for n in COUNTS})
    yield from markdown(table, "labels")


def class_table(results: list[dict[str, Any]]) -> Iterator[str]:
    """Yield how often intervals of the noise rate of a class hold, and their width."""
    found = pd.DataFrame(
        (kind_of(r), low <= true <= high, high - low)
        for r in results
        for _, low, high, true in r["classes"]
    )
    found.columns = ["labels", "coverage", "width"]
    shown = found.groupby("labels").mean().map("{:.2f}".format)
    yield from markdown(shown, "labels")


def decision_table(results: list[dict[str, Any]]) -> Iterator[str]:
    """Yield F1 of the suspects beside the best number of suspects, by noise rate."""
    found = pd.DataFrame(
        {
            "labels": kind_of(r),
            "rate": r["n_wrong"] / r["n_labels"],
            "F1": r["f1"],
            "best F1": r["best_f1"],
            "average precision": r["average_precision"],
        }
        for r in results
        if r["n_wrong"]
    )
    low, high = found["rate"] < 0.08, found["rate"] >= 0.08
    found["noise rate"] = low.map({True: "below 8 %"}).fillna("8 % and more")
    assert (low | high).all()
    columns = ["F1", "best F1", "average precision"]
    shown = found.groupby(["labels", "noise rate"])[columns].mean()
    yield from markdown(shown.map("{:.3f}".format).reset_index(), index=None)


def clean_table(results: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the part of correct labels that is suspected."""
    found = pd.DataFrame(
        {
            "data": r["audit"]["data"],
            "by": r["audit"]["mode"],
            "suspects": f"{r['n_suspects'] / r['n_labels']:.1%}",
            "stated for all": "{:,.0f} ({:,.0f} to {:,.0f})".format(
                *r["before"]["all"][:3]
            ),
            "after 50 checks": "{:,.0f} ({:,.0f} to {:,.0f})".format(
                *r["after"]["all"][:3]
            ),
        }
        for r in results
        if r["audit"]["noise"] == CLEAN
    )
    yield from markdown(found, index=None)


def datalab_table(results: list[dict[str, Any]]) -> Iterator[str]:
    """Yield average precision, precision of the first 100 and seconds."""
    form = "{average_precision:.3f} / {precision_at_100:.2f} / {seconds:.0f} s"
    found = pd.DataFrame(
        {
            "data": result["data"],
            "rows": f"{result['n_labels']:,}",
            "noise rate": f"{result['noise_rate']:.2f}",
            "method": result["method"],
            "shown": form.format_map(result),
        }
        for result in results
    )
    index = ["data", "rows", "noise rate", "method"]
    table = found.groupby(index, sort=False)["shown"].last().unstack(sort=False)
    yield from markdown(table.fillna("").reset_index(), index=None)


if __name__ == "__main__":
    raise SystemExit(main())

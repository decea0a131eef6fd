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
from layout import markdown
from results import lines
from run import RESULTS

DATALAB = Path(__file__).parent / "datalab.jsonl"
#: Numbers of labels, and how tables name them.
COUNTS = {
    **{str(n): f"the first {n}" for n in (50, 100, 200, 500)},
    "estimated": "the first k, k the estimated number",
    "all": "all labels",
}
#: Which intervals a line of the table is about.
EVERY, CLASSES = "all of these", "noise rate of a class"
KINDS = [*(f"errors among {words}" for words in COUNTS.values()), EVERY, CLASSES]


def main() -> int:
    """Print coverage, predicted against true counts, and the comparison."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("results", nargs="?", type=Path, default=RESULTS)
    parser.add_argument("--seeds", nargs="+", type=int, default=list(audits.SEEDS))
    args = parser.parse_args()
    found = [r for r in lines(args.results) if r["audit"]["seed"] in args.seeds]
    for mode in audits.MODES:
        own = [r for r in found if r["audit"]["mode"] == mode]
        usual = [r for r in own if r["audit"]["data"] not in audits.IMPOSSIBLE]
        if usual:
            print(f"\n## {mode}: coverage of 90 % intervals, {len(usual)} audits\n")
            print("\n".join(coverage_table(usual)))
            print(
                f"\n## {mode}: wrong labels among the first n, seed {args.seeds[0]}\n"
            )
            print("\n".join(count_table(own, args.seeds[0])))
    if DATALAB.exists():
        print("\n## Beside cleanlab's Datalab\n")
        print("\n".join(datalab_table(list(lines(DATALAB)))))
    return 0


def coverage_table(results: list[dict[str, Any]]) -> Iterator[str]:
    """Yield how often intervals contain the truth, and how wide they are."""
    counts = [
        (kind, *count)
        for result in results
        for name, count in result["counts"].items()
        for kind in (f"errors among {COUNTS[name]}", EVERY)
    ]
    classes = [(CLASSES, *c, 1) for result in results for c in result["classes"]]
    columns = ["interval of", "expected", "low", "high", "true", "n"]
    found = pd.DataFrame([*counts, *classes], columns=columns)
    n = found["n"].clip(lower=1)
    found["coverage"] = found["true"].between(found["low"], found["high"])
    found["width"] = (found["high"] - found["low"]) / n
    found["error"] = (found["expected"] - found["true"]).abs() / n
    of_kind = found.groupby("interval of")
    table = {
        "intervals": of_kind.size().map(str),
        "coverage": of_kind["coverage"].mean().map("{:.3f}".format),
        "mean width": of_kind["width"].mean().map("{:.2f}".format),
        "mean error": of_kind["error"].mean().map("{:.2f}".format),
    }
    kinds = [kind for kind in KINDS if kind in of_kind.groups]
    yield from markdown(pd.DataFrame(table).loc[kinds], "interval of")


def count_table(results: list[dict[str, Any]], seed: int) -> Iterator[str]:
    """Yield predicted and true counts, one line per data set and noise."""
    shown = []
    for result in results:
        audit = result["audit"]
        rate = "" if audit["rate"] is None else f" {100 * audit['rate']:.0f} %"
        shown.append(
            {
                "data, noise": f"{audit['data']}, {audit['noise']}{rate}",
                "average precision": f"{result['average_precision']:.3f}",
                **{
                    f"{COUNTS[name]}: estimate, true": _count(
                        result["counts"].get(name)
                    )
                    for name in ("100", "500", "all")
                },
            }
        )
    is_shown = [result["audit"]["seed"] == seed for result in results]
    yield from markdown(pd.DataFrame(shown)[is_shown], index=None)


def _count(count: list[float] | None) -> str:
    if count is None:
        return ""
    expected, low, high, true, _ = count
    text = f"{expected:,.0f} ({low:,.0f} to {high:,.0f}), {true:,}"
    return text if low <= true <= high else f"{text} ✗"


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

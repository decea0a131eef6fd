"""Print the results of the audit benchmark as markdown tables.

python benchmarks/audit/table.py
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import accuracy_scripts  # noqa: F401
import audits
import numpy as np
from layout import markdown
from run import RESULTS, read

HERE = Path(__file__).parent
COUNTS = ("50", "100", "200", "500", "estimated", "all")
DATALAB = HERE / "datalab.jsonl"


def main() -> int:
    """Print coverage, predicted against true counts, and the comparison."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("results", nargs="?", type=Path, default=RESULTS)
    parser.add_argument("--seeds", nargs="+", type=int, default=list(audits.SEEDS))
    args = parser.parse_args()
    found = [r for r in read(args.results) if r["audit"]["seed"] in args.seeds]
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
        lines = DATALAB.read_text(encoding="utf-8").splitlines()
        print("\n".join(datalab_table([json.loads(line) for line in lines])))
    return 0


def coverage_table(results: list[dict[str, Any]]) -> Iterator[str]:
    """Yield how often intervals contain the truth, and how wide they are."""
    lines = []
    for name in COUNTS:
        counts = [r["counts"][name] for r in results if name in r["counts"]]
        lines.append([f"errors among {_first(name)}", *_quality_of(counts)])
    every = [c for r in results for c in r["counts"].values()]
    lines.append(["all of these", *_quality_of(every)])
    classes = [[*c, 1] for r in results for c in r["classes"]]
    lines.append(["noise rate of a class", *_quality_of(classes)])
    head = ["interval of", "intervals", "coverage", "mean width", "mean error"]
    yield from markdown(head, lines)


def _first(name: str) -> str:
    if name == "all":
        return "all labels"
    if name == "estimated":
        return "the first k, k the estimated number"
    return f"the first {name}"


def _quality_of(counts: list[list[float]]) -> list[str]:
    expected, low, high, true, n = np.array(counts, dtype=float).T
    n = np.maximum(n, 1)
    is_covered = (low <= true) & (true <= high)
    return [
        str(len(counts)),
        f"{is_covered.mean():.3f}",
        f"{((high - low) / n).mean():.2f}",
        f"{(np.abs(expected - true) / n).mean():.2f}",
    ]


def count_table(results: list[dict[str, Any]], seed: int) -> Iterator[str]:
    """Yield predicted and true counts, one line per data set and noise."""
    names = ("100", "500", "all")
    lines = []
    for result in results:
        audit = result["audit"]
        if audit["seed"] != seed:
            continue
        rate = "" if audit["rate"] is None else f" {100 * audit['rate']:.0f} %"
        cells = [_count(result["counts"].get(name)) for name in names]
        average = f"{result['average_precision']:.3f}"
        lines.append([f"{audit['data']}, {audit['noise']}{rate}", average, *cells])
    head = ["data, noise", "average precision"]
    head += [f"{_first(name)}: estimate, true" for name in names]
    yield from markdown(head, lines)


def _count(count: list[float] | None) -> str:
    if count is None:
        return ""
    expected, low, high, true, _ = count
    text = f"{expected:,.0f} ({low:,.0f} to {high:,.0f}), {true:,}"
    return text if low <= true <= high else f"{text} ✗"


def datalab_table(results: list[dict[str, Any]]) -> Iterator[str]:
    """Yield average precision, precision of the first 100 and seconds."""
    data = list(dict.fromkeys((r["data"], r["n_labels"]) for r in results))
    methods = list(dict.fromkeys(r["method"] for r in results))
    lines = []
    for name, n_labels in data:
        of_data = {r["method"]: r for r in results if r["data"] == name}
        rate = next(iter(of_data.values()))["noise_rate"]
        cells = [
            f"{r['average_precision']:.3f} / {r['precision_at_100']:.2f} / "
            f"{r['seconds']:.0f} s"
            if (r := of_data.get(method))
            else ""
            for method in methods
        ]
        lines.append([name, f"{n_labels:,}", f"{rate:.2f}", *cells])
    yield from markdown(["data", "rows", "noise rate", *methods], lines)


if __name__ == "__main__":
    raise SystemExit(main())

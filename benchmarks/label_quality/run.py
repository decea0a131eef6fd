"""Measure how well wrong labels are found by the scores of a fitted classifier.

    SKPRESTO_DATA=path/to/folder python benchmarks/label_quality/run.py
    python benchmarks/label_quality/table.py

Fits each method on the noisy data of the accuracy benchmark and measures average
precision and AUROC of ``label_agreement_``, ``label_quality_`` and, for comparison,
cleanlab's label quality scores (``pip install skpresto[bench]``). Every finished fit is
one line of the results file, and an interrupted run resumes from there.
"""

import argparse
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import accuracy_scripts  # noqa: F401
import detection
import results
from cells import Cell, Setting
from grids import DataRow
from joblib import Parallel, delayed
from settings import LAPTOP
from tqdm import tqdm

RESULTS = Path(__file__).parent / "results.jsonl"
SETTINGS = LAPTOP
#: Data set and noise of each row of the table.
ROWS: tuple[DataRow, ...] = (
    *(
        (data, noise)
        for data in ("letter", "satimage")
        for noise in (("pair", 0.4), ("symmetric", 0.4), ("symmetric", 0.2))
    ),
    *(("cifar10n_feat", (noise, None)) for noise in ("worst", "random1", "aggregate")),
    ("music_genre", ("one", None)),
    ("yoruba_news", ("gazetteer", None)),
    ("youtube_weak", ("lf", None)),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cells without a result; return 1 if one of them failed."""
    args = parsed(arguments)
    results.drop_incomplete_line(args.results)
    found = results.read(args.results)
    wanted = chosen(args)
    todo = [c for c in wanted if not results.is_done(found.get(c), SETTINGS[c.data])]
    n_done = len(wanted) - len(todo)
    print(f"{n_done} of {len(wanted)} cells have a result in {args.results}")
    try:
        n_failed = run_all(todo, args.results, args.jobs)
    except KeyboardInterrupt:
        print("Interrupted. Run the same command to resume.", file=sys.stderr)
        return 130
    if n_failed:
        retry = "run the same command to retry them"
        print(f"{n_failed} cells failed; {retry}.", file=sys.stderr)
    return int(n_failed > 0)


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--methods",
        nargs="+",
        choices=detection.SCORED_METHODS,
        default=["Prestopping", detection.CLEANLAB],
        metavar="METHOD",
        help=f"among {', '.join(detection.SCORED_METHODS)}",
    )
    parser.add_argument("--only", nargs="+", choices=SETTINGS, help="data sets")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--jobs", type=int, default=2, help="cells run in parallel")
    parser.add_argument("--results", type=Path, default=RESULTS)
    return parser.parse_args(arguments)


def chosen(args: argparse.Namespace) -> list[Cell]:
    """Return the cells that the command line asks for, one seed after the other."""
    return [
        detection.cell_for(method, data, *noise, seed)
        for seed in args.seeds
        for data, noise in ROWS
        for method in args.methods
        if args.only is None or data in args.only
    ]


def run_all(cells: list[Cell], path: Path, n_jobs: int) -> int:
    """Run cells in parallel and append their results; return how many failed."""
    runs = Parallel(n_jobs=n_jobs, batch_size=1, return_as="generator_unordered")(
        delayed(attempt)(cell, SETTINGS[cell.data]) for cell in cells
    )
    n_failed = 0
    for cell, result, failure in tqdm(runs, total=len(cells)):
        if failure is None:
            results.append(path, result)
        else:
            n_failed += 1
            tqdm.write(f"FAILED {cell.key}\n{failure}", file=sys.stderr)
    return n_failed


def attempt(cell: Cell, setting: Setting) -> tuple[Cell, dict[str, Any], str | None]:
    """Run one cell; an exception in it must not stop the others."""
    try:
        return cell, detection.measure(cell, setting), None
    except Exception:
        return cell, {}, traceback.format_exc()


if __name__ == "__main__":
    sys.exit(main())

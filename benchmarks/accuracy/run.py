"""Measure the test error of methods that are trained on noisy labels.

    python benchmarks/accuracy/run.py --preset smoke
    SKPRESTO_DATA=path/to/folder python benchmarks/accuracy/run.py --preset laptop
    SKPRESTO_DATA=path/to/folder python benchmarks/accuracy/run.py --preset rivals
    SKPRESTO_DATA=path/to/folder python benchmarks/accuracy/run.py --preset prices
    SKPRESTO_DATA=path/to/folder python benchmarks/accuracy/run.py --preset newer
    SKPRESTO_DATA=path/to/folder python benchmarks/accuracy/run.py --preset cost
    SKPRESTO_DATA=path/to/folder python benchmarks/accuracy/run.py --preset quality

Every finished fit is one line of the results file, and an interrupted run resumes from
there. ``tables.py`` prints tables of ``laptop``, ``comparison.py`` those of ``rivals``
and ``cost``, ``price_tables.py`` those of ``prices``, ``quality_table.py`` those of
``quality``. CleanLearning needs cleanlab
(``pip install skpresto[bench]``).
"""

import argparse
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import results
from cells import Cell, Setting
from contenders import METHODS
from grids import Preset
from joblib import Parallel, delayed
from measure import measure, measure_cost, measure_quality
from presets import PRESETS
from tqdm import tqdm

HERE = Path(__file__).parent
MEASURES = {
    "accuracy": measure,
    "cost": measure_cost,
    "quality": measure_quality,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cells without a result; return 1 if one of them failed."""
    args = parsed(arguments)
    preset = PRESETS[args.preset]()
    path = args.results or HERE / "results" / f"{args.preset}.jsonl"
    results.drop_incomplete_line(path)
    done = results.read(path)
    wanted = chosen(preset, args)
    todo = [
        c for c in wanted if not results.is_done(done.get(c), preset.settings[c.data])
    ]
    print(f"{len(wanted) - len(todo)} of {len(wanted)} cells have a result in {path}")
    try:
        n_failed = run_all(todo, preset, path, args.jobs)
    except KeyboardInterrupt:
        print("Interrupted. Run the same command to resume.", file=sys.stderr)
        return 130
    if n_failed:
        retry = "run the same command to retry them"
        print(f"{n_failed} cells failed; {retry}.", file=sys.stderr)
    return int(n_failed > 0)


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--preset", choices=PRESETS, default="laptop")
    parser.add_argument("--jobs", type=int, default=2, help="cells run in parallel")
    parser.add_argument("--results", type=Path, help="file to append results to")
    parser.add_argument(
        "--only", nargs="+", metavar="NAME", help="only these data sets and noises"
    )
    parser.add_argument("--methods", nargs="+", choices=METHODS, metavar="METHOD")
    parser.add_argument("--seeds", type=int, help="only seeds below this number")
    return parser.parse_args(arguments)


def chosen(preset: Preset, args: argparse.Namespace) -> list[Cell]:
    """Return the cells that the command line asks for.

    ``--only letter satimage pair`` means pair noise on letter and on satimage.
    """
    names = set(args.only or [])
    noises = {cell.noise for cell in preset.cells}
    if unknown := names - noises - set(preset.settings):
        known = ", ".join(sorted(noises | set(preset.settings)))
        sys.exit(f"--only must be names among {known}; got {', '.join(unknown)}.")
    data, noises = names & set(preset.settings), names & noises
    return [
        cell
        for cell in preset.cells
        if (not data or cell.data in data)
        and (not noises or cell.noise in noises)
        and (not args.methods or cell.method in args.methods)
        and (args.seeds is None or cell.seed < args.seeds)
    ]


def run_all(cells: list[Cell], preset: Preset, path: Path, n_jobs: int) -> int:
    """Run cells in parallel and append their results; return how many failed."""
    cost = {c: preset.settings[c.data].seconds * METHODS[c.method].cost for c in cells}
    # One cell per batch, so that each result is written when it is ready.
    runs = Parallel(n_jobs=n_jobs, batch_size=1, return_as="generator_unordered")(
        delayed(attempt)(MEASURES[preset.measures], cell, preset.settings[cell.data])
        for cell in cells
    )
    n_failed = 0
    layout = "{percentage:3.0f}% |{bar}| {postfix} [{elapsed} < {remaining}]"
    with tqdm(total=sum(cost.values()), bar_format=layout) as bar:
        for n_finished, (cell, result, failure) in enumerate(runs, start=1):
            if failure is None:
                results.append(path, result)
            else:
                n_failed += 1
                tqdm.write(f"FAILED {cell.key}\n{failure}", file=sys.stderr)
            bar.set_postfix_str(f"{n_finished}/{len(cells)} cells", refresh=False)
            bar.update(cost[cell])
    return n_failed


def attempt(
    measure: Callable[[Cell, Setting], dict[str, Any]], cell: Cell, setting: Setting
) -> tuple[Cell, dict[str, Any], str | None]:
    """Run one cell; an exception in it must not stop the others."""
    try:
        return cell, measure(cell, setting), None
    except Exception:
        return cell, {}, traceback.format_exc()


if __name__ == "__main__":
    sys.exit(main())

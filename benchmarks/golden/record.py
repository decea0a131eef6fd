"""Record what every classifier computes on small seeded problems, bit for bit.

Run it before and after a change that must not alter results, then compare::

    python benchmarks/golden/record.py before.json
    python benchmarks/golden/record.py after.json
    python benchmarks/golden/compare.py before.json after.json

``--only sparse`` runs the fits with that in their name. The digests depend on the
machine and on the version of torch, so they are not committed.
"""

import argparse
import json
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from describe import random_states, summary
from problems import Problem, problems

import skpresto

N_PROCESSES = 2
Fit = tuple[Problem, str]


def record_fit(problem: Problem, name: str) -> dict[str, Any]:
    """Fit a classifier; return what is recorded, or its error."""
    np.random.seed(0)
    torch.manual_seed(0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            clf, further = problem.fitted(name)
            further["random states"] = random_states()
            recorded = {**summary(clf, problem.X), **further}
        except Exception as error:
            print(f"{problem.name} / {name} failed: {error!r}", file=sys.stderr)
            recorded = {"error": repr(error)}
    said = {f"{one.category.__name__}: {one.message}" for one in caught}
    return {**recorded, "warnings": sorted(said)}


def record_in_process(rank: int, chosen: list[Fit], folder: Path) -> None:
    """Record fits in one of several processes, and write them to a file."""
    torch.set_num_threads(1)
    meeting = f"file://{folder}/meeting"
    dist.init_process_group(
        "gloo", init_method=meeting, rank=rank, world_size=N_PROCESSES
    )
    recorded = {}
    for problem, name in chosen:
        with skpresto.data_parallel():
            title = f"{problem.name} / {name}, process {rank}"
            recorded[title] = record_fit(problem, name)
    dist.destroy_process_group()
    (folder / f"{rank}.json").write_text(json.dumps(recorded))


def record(part_of_name: str, folder: Path) -> dict[str, dict[str, Any]]:
    """Record all fits with that in their name."""
    chosen = [
        (problem, name)
        for problem in problems(folder)
        for name in problem.classifiers.split()
        if part_of_name in f"{problem.name} / {name}"
    ]
    recorded = {
        f"{p.name} / {n}": record_fit(p, n) for p, n in chosen if not p.in_processes
    }
    if shared := [(problem, name) for problem, name in chosen if problem.in_processes]:
        torch.multiprocessing.spawn(record_in_process, (shared, folder), N_PROCESSES)
        for path in folder.glob("*.json"):
            recorded.update(json.loads(path.read_text()))
    return recorded


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", default="", help="part of the names of fits to run")
    options = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        recorded = record(options.only, Path(folder))
    options.out.write_text(json.dumps(recorded, indent=1, allow_nan=False))
    print(f"{len(recorded)} fits of {Path(skpresto.__file__).parent} in {options.out}")


if __name__ == "__main__":
    main()

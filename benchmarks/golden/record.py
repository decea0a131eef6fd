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
import time
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
Recorded = dict[str, dict[str, Any]]


def record_fit(problem: Problem, name: str) -> Recorded:
    """Fit a classifier; return what is recorded, or its error."""
    title = f"{problem.name} / {name}"
    recorded: Recorded = {}
    np.random.seed(0)
    torch.manual_seed(0)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            arguments = problem.arguments(name)
            for suffix, clf, further in problem.fit(problem.unfitted(name), arguments):
                further["random states"] = random_states()
                recorded[title + suffix] = {**summary(clf, problem.X), **further}
    except Exception as error:
        print(f"{title} failed: {error!r}", file=sys.stderr)
        recorded[title] = {"error": repr(error)}
    said = {f"{one.category.__name__}: {one.message}" for one in caught}
    recorded[title]["warnings"] = sorted(said)
    return recorded


def record_in_process(rank: int, chosen: list[tuple[Problem, str]], folder: str):
    """Record fits in one of several processes, and write them to a file."""
    torch.set_num_threads(1)
    meeting = f"file://{folder}/meeting"
    dist.init_process_group(
        "gloo", init_method=meeting, rank=rank, world_size=N_PROCESSES
    )
    recorded: Recorded = {}
    for problem, name in chosen:
        with skpresto.data_parallel():
            recorded.update(record_fit(problem, name))
    dist.destroy_process_group()
    recorded = {f"{title}, process {rank}": one for title, one in recorded.items()}
    Path(folder, f"{rank}.json").write_text(json.dumps(recorded))


def record_in_processes(chosen: list[tuple[Problem, str]], folder: str) -> Recorded:
    """Record fits that share their arithmetic among processes."""
    torch.multiprocessing.spawn(record_in_process, (chosen, folder), N_PROCESSES)
    recorded: Recorded = {}
    for rank in range(N_PROCESSES):
        recorded.update(json.loads(Path(folder, f"{rank}.json").read_text()))
    return recorded


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", default="", help="part of the names of fits to run")
    parser.add_argument("--times", action="store_true", help="show seconds of each fit")
    options = parser.parse_args()
    torch.set_num_threads(1)
    recorded: Recorded = {}
    with tempfile.TemporaryDirectory() as folder:
        in_processes = []
        for problem in problems(Path(folder)):
            for name in problem.classifiers.split():
                if options.only not in f"{problem.name} / {name}":
                    continue
                if problem.in_processes:
                    in_processes.append((problem, name))
                    continue
                begin = time.perf_counter()
                recorded.update(record_fit(problem, name))
                if options.times:
                    seconds = time.perf_counter() - begin
                    print(f"{seconds:6.2f} {problem.name} / {name}")
        if in_processes:
            recorded.update(record_in_processes(in_processes, folder))
    options.out.write_text(json.dumps(recorded, indent=1, allow_nan=False))
    print(f"{len(recorded)} fits of {Path(skpresto.__file__).parent} in {options.out}")


if __name__ == "__main__":
    main()

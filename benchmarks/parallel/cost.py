"""What a fit costs on several processes: seconds of CPU in each, and of the clock.

Run ``python benchmarks/parallel/cost.py``, on a machine with as many free cores as
processes for times of the clock that mean anything. Numbers of processes take turns,
and of all repetitions the least is shown, that of the slowest process.
"""

import argparse
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

import skpresto


def images(n_samples: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.RandomState(0)
    y = rng.randint(10, size=n_samples)
    X = rng.normal(size=(n_samples, 3, 32, 32)) + y[:, None, None, None] / 10
    return X.astype(np.float32), y


def table(n_samples: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.RandomState(0)
    y = rng.randint(10, size=n_samples)
    X = rng.normal(size=(n_samples, 64)) + np.eye(10, 64)[y] * 3
    return X.astype(np.float32), y


#: Name, data, and parameters of the classifier.
PROBLEMS = {
    "built-in CNN, 2,000 x 3 x 32 x 32": (images, 2_000, {"max_epochs": 2}),
    "built-in MLP, 5,000 x 64": (table, 5_000, {"max_epochs": 4}),
    "MLP of 32 units, 5,000 x 64": (
        table,
        5_000,
        {"max_epochs": 4, "module__hidden": (32,)},
    ),
}


def measure(rank: int, size: int, folder: str, turn: int, n_repeats: int) -> None:
    """Fit in one of the processes; the first one writes what all of them measured."""
    torch.set_num_threads(1)
    address = f"file://{folder}/meeting-{size}-{turn}"
    dist.init_process_group("gloo", init_method=address, rank=rank, world_size=size)
    times = np.full((len(PROBLEMS), n_repeats, 2), np.inf)
    for problem, (data, n_samples, params) in enumerate(PROBLEMS.values()):
        X, y = data(n_samples)
        clf = skpresto.DefaultClassifier(random_state=0, **params)
        with skpresto.data_parallel() if size > 1 else nullcontext():
            for repeat in range(n_repeats):
                cpu, clock = time.process_time(), time.perf_counter()
                clf.fit(X, y)
                times[problem, repeat] = (
                    time.process_time() - cpu,
                    time.perf_counter() - clock,
                )
    best = torch.from_numpy(times.min(axis=1))
    dist.all_reduce(best, op=dist.ReduceOp.MAX)  # of the slowest process
    if rank == 0:
        np.save(f"{folder}/{size}-{turn}.npy", best.numpy())
    dist.destroy_process_group()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(options.turns):
            for size in options.sizes:
                args = size, folder, turn, options.repeats
                mp.spawn(measure, args, nprocs=size)
        found = {
            n: np.min([np.load(f) for f in Path(folder).glob(f"{n}-*.npy")], axis=0)
            for n in options.sizes
        }
    for problem, name in enumerate(PROBLEMS):
        print(name)
        for size, times in found.items():
            cpu, clock = times[problem]
            ratio = cpu / found[options.sizes[0]][problem, 0]
            print(
                f"  {size} processes: {cpu:.2f} s of CPU each (x {ratio:.2f}), "
                f"{clock:.2f} s of the clock"
            )


if __name__ == "__main__":
    main()

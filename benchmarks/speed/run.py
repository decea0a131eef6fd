"""Measure how fast skpresto trains and predicts, as ratios to alternatives.

    python benchmarks/speed/run.py          # about three minutes
    python benchmarks/speed/run.py --full   # more rounds and more data

Needs cleanlab (``pip install skpresto[bench]``). Alternatives are run in turn, the
fastest round of each is used, and torch uses one thread.
"""

import argparse
import os
import platform
import time
import warnings
from importlib.metadata import version
from pathlib import Path

import torch
from memory import memory_of_a_fit
from rows import every_row


def processor():
    """Return the name of the processor, if it is known."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def header():
    packages = ("torch", "skorch", "cleanlab", "scikit-learn", "numpy")
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    return (
        f"{processor()}, {os.cpu_count()} cores, {torch.get_num_threads()} torch "
        f"thread; Python {platform.python_version()}, {versions}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--full", action="store_true", help="more rounds, more data")
    full = parser.parse_args().full
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    started = time.perf_counter()
    print(header(), end="\n\n")
    print("| work | measured | at most | holds |\n|---|---|---|---|")
    for row in every_row(full):
        print(row.line(), flush=True)
    print()
    for sentence in memory_of_a_fit(full):
        print(f"- {sentence}", flush=True)
    print(f"\n{time.perf_counter() - started:.0f} seconds")


if __name__ == "__main__":
    main()

"""Compare two files of ``record.py``: which results are the same, bit for bit."""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

SOME = "some probabilities"


def differences(first: dict[str, Any], second: dict[str, Any]) -> list[str]:
    """Return the names of fields that differ."""
    names = sorted((first.keys() | second.keys()) - {SOME})
    return [name for name in names if first.get(name) != second.get(name)]


def described(first: dict[str, Any], second: dict[str, Any], name: str) -> str:
    """Return the name of a field, with both values where they can be read."""
    values = first.get(name), second.get(name)
    is_digest = any(isinstance(v, str) and name != "error" for v in values)
    return name if is_digest else f"{name} ({values[0]}, now {values[1]})"


def gap(first: dict[str, Any], second: dict[str, Any]) -> str:
    """Return how far probabilities differ, if both fits succeeded."""
    if SOME not in first or SOME not in second:
        return ""
    difference = np.abs(np.subtract(first[SOME], second[SOME])).max()
    return f"; largest difference of a probability {difference:.1e}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    paths = parser.parse_args()
    before, after = (
        json.loads(path.read_text()) for path in (paths.before, paths.after)
    )
    both = before.keys() & after.keys()
    for fit in sorted(before.keys() ^ after.keys()):
        print(f"{fit}: only in {'after' if fit in after else 'before'}")
    n_same = 0
    for fit in sorted(both):
        first, second = before[fit], after[fit]
        names = differences(first, second)
        n_same += not names
        if names:
            shown = ", ".join(described(first, second, name) for name in names)
            print(f"{fit}: {shown}{gap(first, second)}")
    n_alone = len(before.keys() ^ after.keys())
    print(f"{n_same} of {len(both)} fits are the same, {n_alone} are in one file only")
    return int(n_same < len(both) or n_alone > 0)


if __name__ == "__main__":
    raise SystemExit(main())

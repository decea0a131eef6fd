"""Compare two files of ``record.py``: which results are the same, bit for bit."""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

SOME = "some probabilities"


def differing(first: dict[str, Any], second: dict[str, Any]) -> str:
    """Return the fields that differ, with values that are no digests."""
    names = sorted((first.keys() | second.keys()) - {SOME})
    found = []
    for name in names:
        before, after = first.get(name), second.get(name)
        if before != after:
            is_digest = isinstance(before, str) and isinstance(after, str)
            found.append(name if is_digest else f"{name} ({before}, now {after})")
    if found and SOME in first and SOME in second:
        gap = np.abs(np.subtract(first[SOME], second[SOME])).max()
        found.append(f"probabilities by up to {gap:.1e}")
    return ", ".join(found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    paths = parser.parse_args()
    before, after = (json.loads(p.read_text()) for p in (paths.before, paths.after))
    alone = sorted(before.keys() ^ after.keys())
    for fit in alone:
        print(f"{fit}: only in {'after' if fit in after else 'before'}")
    both = sorted(before.keys() & after.keys())
    found = {fit: differing(before[fit], after[fit]) for fit in both}
    different = {fit: names for fit, names in found.items() if names}
    for fit, names in different.items():
        print(f"{fit}: {names}")
    n_same = len(both) - len(different)
    print(f"{n_same} of {len(both)} fits are the same, {len(alone)} in one file only")
    return int(bool(different or alone))


if __name__ == "__main__":
    raise SystemExit(main())

"""Compare two files of ``record.py``: which results are the same, bit for bit."""

import argparse
import json
from pathlib import Path

import numpy as np


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    paths = parser.parse_args()
    before, after = (
        json.loads(path.read_text()) for path in (paths.before, paths.after)
    )
    n_different = 0
    for fit in sorted(before.keys() | after.keys()):
        if fit not in before or fit not in after:
            print(f"{fit}: only in {'after' if fit in after else 'before'}")
            n_different += 1
            continue
        first, second = before[fit], after[fit]
        pairs = (np.array(one["some probabilities"]) for one in (first, second))
        gap = float(np.abs(np.subtract(*pairs)).max())
        names = [name for name in first if name != "some probabilities"]
        different = [name for name in names if first[name] != second[name]]
        if different:
            n_different += 1
            print(
                f"{fit}: {', '.join(different)} differ; largest difference of a "
                f"probability {gap:.1e}"
            )
    print(f"{len(before) - n_different} of {len(before)} fits are the same")
    return int(n_different > 0)


if __name__ == "__main__":
    raise SystemExit(main())

"""Print the errors of methods that were added later, beside some others.

python benchmarks/accuracy/newer_table.py
"""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
from contenders import CLEAN_SUBSET, DEFAULT, PRESTOPPING
from fits import by_seed, over_seeds, read_fits, with_default_rule
from layout import markdown, paragraph, texts
from rivals import NEWER

RESULTS = Path(__file__).parent / "results" / "newer.jsonl"
#: Columns of the table, as far as there are results.
COMPARED = (CLEAN_SUBSET, DEFAULT, PRESTOPPING, "ELR", *NEWER)


def table(fits: pd.DataFrame) -> Iterator[str]:
    """Yield errors by row."""
    yield from paragraph(
        """Test error in %, with a standard error where there is more than one seed.
        Seeds are 12 and 13, of which some were run."""
    )
    errors = by_seed(with_default_rule(fits))
    means = over_seeds(errors).of([name for name in COMPARED if name in errors])
    rivals = means.mean.drop(columns=CLEAN_SUBSET, errors="ignore")
    shown = texts(means, means.mean.eq(rivals.min(axis=1), axis=0))
    yield from markdown(shown)


def main() -> int:
    """Print the table."""
    print("\n".join(table(read_fits(RESULTS))))
    return 0


if __name__ == "__main__":
    main()

"""``python -m skpresto``: the command line."""

import sys

from skpresto.cli import main

if __name__ == "__main__":
    sys.exit(main())

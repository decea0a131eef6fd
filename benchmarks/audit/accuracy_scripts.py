"""Make the scripts of the accuracy benchmark importable by name."""

import sys
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "accuracy"
# Scripts of this folder come first, and installed packages last.
sys.path.insert(1, str(FOLDER))

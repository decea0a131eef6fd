"""Pictures of the page for docs/audit.md, from digits with labels of lookalikes.

    python benchmarks/audit/page_figures.py

Needs ``chromium`` and ``pip install skpresto[audit]``.
"""

import argparse
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image
from sklearn.datasets import load_digits

from skpresto.cli import main as skpresto
from skpresto.noise import PairNoise

FIGURES = Path(__file__).parents[2] / "docs" / "figures"
NAMES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
LOOKALIKE = {0: 6, 1: 7, 2: 3, 3: 8, 4: 9, 5: 6, 6: 5, 7: 1, 8: 3, 9: 4}
#: A page in a frame: a window of chromium cannot be as narrow as a phone.
FRAME = (
    '<body style="margin:0">'
    '<iframe src="{}" style="border:0;width:{}px;height:{}px"></iframe>'
)


def write_digits(folder: Path) -> None:
    """Write digits as a table and as images."""
    X, y = load_digits(return_X_y=True)
    noise = PairNoise(rate=0.3, mapping=LOOKALIKE, exact=True, random_state=0)
    given = np.array(NAMES)[noise.fit_transform(y)]
    frame = pd.DataFrame(X).add_prefix("pixel ").assign(digit=given)
    frame.to_csv(folder / "digits.csv", index=False)
    for number, image in enumerate(X.reshape(-1, 8, 8)):
        file = folder / "digits" / given[number] / f"{number:04d}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray((255 - 15.9 * image).astype(np.uint8)).save(file)


def picture(page: Path, name: str, width: int, height: int, at: str = "", *more: str):
    """Save a picture of a page from the element ``at`` on, in few colors."""
    shell, file = page.with_name("frame.html"), FIGURES / name
    shell.write_text(FRAME.format(f"{page.name}{at}", width, height), "utf-8")
    command = ["chromium", "--headless", "--no-sandbox", "--hide-scrollbars"]
    command += ["--force-prefers-reduced-motion", *more]
    size = f"--window-size={max(width, 500)},{height}"
    command += [size, f"--screenshot={file}", "--virtual-time-budget=3000"]
    subprocess.run([*command, shell.as_uri()], check=True, capture_output=True)
    image = Image.open(file).convert("RGB").crop((0, 0, width, height))
    image.quantize(256).save(file, optimize=True)


def main() -> None:
    """Make all pictures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_digits(folder)
        page = folder / "page.html"
        skpresto(f"audit {folder}/digits --quick --out {page}".split())
        picture(page, "audit_review.png", 1280, 960, "#review")
        picture(page, "audit_dark.png", 1280, 960, "#review", "--force-dark-mode")
        picture(page, "audit_phone.png", 390, 844, "#review")
        table = f"{folder}/digits.csv --label digit"
        skpresto(f"audit {table} --out {page} --force".split())
        picture(page, "audit_summary.png", 1280, 1060)


if __name__ == "__main__":
    main()

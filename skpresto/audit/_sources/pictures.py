"""Images that a column of a table names, to be shown on the page."""

from pathlib import Path
from typing import Any

import pandas as pd

from skpresto.audit._page import ImageView, SampleView
from skpresto.audit._sources.images import open_image


class PictureView(ImageView):
    """Show an image per sample, with text and values beside it.

    Parameters
    ----------
    files : list of Path
        The images. One that cannot be decoded is shown as a grey area.
    beside : SampleView or None
        Shows what else is known of the samples.
    """

    def __init__(self, files: list[Path], beside: SampleView | None) -> None:
        super().__init__(lambda position: _opened(files[position]), files)
        self.text_name = None if beside is None else beside.text_name
        self._beside = beside

    def cards(self, report: Any, positions: Any) -> dict[str, list[Any]]:
        """Return the images as data addresses, and what is shown beside them."""
        shown = super().cards(report, positions)
        beside = {} if self._beside is None else self._beside.cards(report, positions)
        return shown | beside

    def whole(self, positions: Any) -> list[dict[str, Any]]:
        """Return the images as data addresses, and what is known beside them."""
        shown = super().whole(positions)
        if self._beside is None:
            return shown
        beside = self._beside.whole(positions)
        return [image | other for image, other in zip(shown, beside, strict=True)]


def pictures_of(
    frame: pd.DataFrame, column: str | None, path: Path
) -> list[Path] | None:
    """Return the images that a column names, relative to its file or to the folder.

    Raises ``ValueError`` if one of them does not exist.
    """
    if column is None:
        return None
    names = [str(name) for name in frame[column].tolist()]
    first = next(iter(names), "")
    base = path.parent if (path.parent / first).is_file() else Path()
    files = [base / name for name in names]
    missing = [file for file in files if not file.is_file()]
    if missing:
        raise ValueError(
            f"Column {column!r} of {path} names {len(missing):,} images that are not "
            f"there, such as {missing[0]}. Paths count from the folder of {path.name} "
            "or from the current one. Correct them, or leave out --image."
        )
    return files


def _opened(file: Path) -> Any:
    from PIL import Image

    try:
        return open_image(file, 320)
    except Exception:  # decoders raise many kinds of errors
        return Image.new("RGB", (64, 64), "grey")

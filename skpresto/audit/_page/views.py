"""What the page shows of a sample: feature values, a text, or an image."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skpresto.audit._page.telling import TellingFeatures, short
from skpresto.audit._page.thumbnails import array_image, data_address, thumbnails

Positions = NDArray[np.intp]

#: Distinct values from which on a column of strings is shown as text.
_MANY_VALUES = 50
#: Characters of all texts of a page, and of one text.
_TEXT_BUDGET = 2_500_000
_LONGEST_TEXT = 1200
#: Characters of a text, and side of an image, that are shown beside a similar one.
_LONGEST_BRIEF, _SIDE_OF_SIMILAR = 120, 64
#: Longest side of an image in a file of another tool.
SIDE_ELSEWHERE = 320


class SampleView(ABC):
    """Show samples on the page."""

    #: Name of the column that the texts are taken from, if any.
    text_name: str | None = None
    #: The image of each sample, if there are files.
    files: Sequence[Path] | None = None
    #: Characters of a page that samples similar to suspects may take.
    space_for_similar = 120_000

    @abstractmethod
    def cards(self, report: Any, positions: Positions) -> dict[str, list[Any]]:
        """Return what is shown of the samples at the given positions.

        The result has one list per kind of content, ``text``, ``image`` or
        ``features``, with one entry per position.
        """

    @abstractmethod
    def whole(self, positions: Positions) -> list[dict[str, Any]]:
        """Return the samples in full, for other tools.

        Each is a dict with ``text``, ``image`` (a data address) or ``values`` by name.
        """

    @abstractmethod
    def brief(self, position: int, features: Any) -> dict[str, str]:
        """Return ``text`` or ``image``: a sample at a glance, beside a similar one.

        ``features`` are the values that are shown of the other one.
        """


@dataclass(eq=False)
class TextView(SampleView):
    """Show one text per sample, shortened where a page would become too large."""

    texts: Sequence[Any]
    text_name: str | None = None

    def cards(self, report: Any, positions: Positions) -> dict[str, list[Any]]:
        """Return the texts."""
        longest = min(_LONGEST_TEXT, _TEXT_BUDGET // max(len(positions), 1))
        values = [self.texts[position] for position in positions]
        return {"text": [short(value, longest) for value in values]}

    def whole(self, positions: Positions) -> list[dict[str, Any]]:
        """Return the texts."""
        values = [plain(self.texts[position]) for position in positions]
        return [{"text": "" if v is None else str(v)} for v in values]

    def brief(self, position: int, features: Any) -> dict[str, str]:
        """Return the beginning of the text."""
        return {"text": short(self.texts[position], _LONGEST_BRIEF)}


@dataclass(eq=False)
class ImageView(SampleView):
    """Show one small image per sample.

    Parameters
    ----------
    open_image : callable
        Returns a Pillow image for a position.
    files : sequence of Path, default=None
        Where the images are, if they are files.
    """

    open_image: Callable[[int], Any]
    files: Sequence[Path] | None = None
    space_for_similar = 600_000

    def cards(self, report: Any, positions: Positions) -> dict[str, list[Any]]:
        """Return the images as data addresses."""
        return {"image": thumbnails(self.open_image, positions)}

    def whole(self, positions: Positions) -> list[dict[str, Any]]:
        """Return the images as data addresses, larger than on a page."""
        images = (self.open_image(int(position)) for position in positions)
        return [{"image": data_address(image, SIDE_ELSEWHERE)} for image in images]

    def brief(self, position: int, features: Any) -> dict[str, str]:
        """Return a small image."""
        return {"image": data_address(self.open_image(position), _SIDE_OF_SIMILAR)}


class FeatureView(SampleView):
    """Show the feature values that differ most from the given class.

    Parameters
    ----------
    frame : DataFrame
        The columns of the samples.
    text : str, default=None
        A column that is shown as text. None means the longest of the columns of strings
        with many distinct values, if there is one.
    """

    def __init__(self, frame: Any, text: str | None = None) -> None:
        texts = [name for name in frame.columns if _is_free_text(frame[name])]
        self.text_name = text or max(
            texts,
            key=lambda name: frame[name].astype(str).str.len().mean(),
            default=None,
        )
        hidden = [name for name in {*texts, self.text_name} if name is not None]
        self.columns = frame.drop(columns=hidden)
        self._texts = None if self.text_name is None else frame[self.text_name].tolist()
        self._beside = frame[[name for name in frame.columns if name != self.text_name]]

    def cards(self, report: Any, positions: Positions) -> dict[str, list[Any]]:
        """Return the telling values, and the text where there is one."""
        shown: dict[str, list[Any]] = {}
        if self._texts is not None:
            shown |= TextView(self._texts).cards(report, positions)
        if len(self.columns.columns):
            self._telling = TellingFeatures(self.columns, report)
            shown["features"] = self._telling.of(positions)
        return shown

    def brief(self, position: int, features: Any) -> dict[str, str]:
        """Return the beginning of the text, or the same values as of the other one."""
        if self._texts is not None:
            return TextView(self._texts).brief(position, features)
        values = self._telling.values(position, [name for name, *_ in features])
        return {"text": ", ".join(f"{name} {value}" for name, value in values)}

    def whole(self, positions: Positions) -> list[dict[str, Any]]:
        """Return the texts, and the values of all other columns by name."""
        shown: list[dict[str, Any]] = [{} for _ in positions]
        if self._texts is not None:
            shown = TextView(self._texts).whole(positions)
        if not len(self._beside.columns):
            return shown
        rows = self._beside.iloc[positions]
        columns = {str(name): map(plain, rows[name].array) for name in rows.columns}
        for sample in shown:
            sample["values"] = {name: next(values) for name, values in columns.items()}
        return shown


def view_of(X: Any) -> SampleView | None:
    """Return a view for samples as passed to a report; None if they cannot be shown."""
    import pandas as pd

    if X is None:
        return None
    if isinstance(X, pd.DataFrame):
        return FeatureView(X)
    if isinstance(X, (list, tuple, pd.Series)) and all(isinstance(x, str) for x in X):
        return TextView(list(X))
    if isinstance(X, (list, tuple)) and all(isinstance(x, Path) for x in X):
        from skpresto.audit._sources.pictures import PictureView

        return PictureView(list(X), None)
    array = np.asarray(X) if not hasattr(X, "shape") else X
    if array.ndim == 1 and array.dtype.kind in "UO":
        return TextView(array.tolist())
    if array.ndim == 2 and array.dtype.kind in "biuf":
        names = [f"feature {i}" for i in range(array.shape[1])]
        return FeatureView(pd.DataFrame(np.asarray(array), columns=names))
    if array.ndim == 4 and array.dtype.kind in "uif":
        low, high = float(array.min()), float(array.max())
        return ImageView(lambda position: array_image(array[position], low, high))
    return None


def plain(value: Any) -> Any:
    """Return a value as JSON has it: a number, a text, or None if it is missing.

    Examples
    --------
    >>> plain(np.float32(7.7)), plain(np.datetime64("2026-01-31")), plain(float("nan"))
    (7.7, '2026-01-31', None)
    """
    import pandas as pd

    if isinstance(value, np.float32 | np.float16):
        value = float(str(value))  # 7.7, not 7.699999809265137
    elif isinstance(value, np.generic) and value.dtype.kind in "biuf":
        value = value.item()
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, float) and not np.isfinite(value):
        return None if np.isnan(value) else str(value)
    return value if isinstance(value, bool | int | float | str) else str(value)


def _is_free_text(column: Any) -> bool:
    import pandas as pd

    is_string = pd.api.types.is_string_dtype(column) or column.dtype == object
    return bool(is_string) and column.astype(str).nunique() > _MANY_VALUES

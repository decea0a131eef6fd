"""What the page shows of a sample: feature values, a text, or an image."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skpresto.audit._page.telling import TellingFeatures, short
from skpresto.audit._page.thumbnails import array_image, thumbnails

Positions = NDArray[np.intp]

#: Distinct values from which on a column of strings is shown as text.
_MANY_VALUES = 50
#: Characters of all texts of a page, and of one text.
_TEXT_BUDGET = 2_500_000
_LONGEST_TEXT = 1200


class SampleView(ABC):
    """Show samples on the page."""

    #: Name of the column that the texts are taken from, if any.
    text_name: str | None = None

    @abstractmethod
    def cards(self, report: Any, positions: Positions) -> dict[str, list[Any]]:
        """Return what is shown of the samples at the given positions.

        The result has one list per kind of content, ``text``, ``image`` or
        ``features``, with one entry per position.
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


@dataclass(eq=False)
class ImageView(SampleView):
    """Show one small image per sample.

    Parameters
    ----------
    open_image : callable
        Returns a Pillow image for a position.
    """

    open_image: Callable[[int], Any]

    def cards(self, report: Any, positions: Positions) -> dict[str, list[Any]]:
        """Return the images as data addresses."""
        return {"image": thumbnails(self.open_image, positions)}


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

    def cards(self, report: Any, positions: Positions) -> dict[str, list[Any]]:
        """Return the telling values, and the text where there is one."""
        shown: dict[str, list[Any]] = {}
        if self._texts is not None:
            shown |= TextView(self._texts).cards(report, positions)
        if len(self.columns.columns):
            shown["features"] = TellingFeatures(self.columns, report).of(positions)
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


def _is_free_text(column: Any) -> bool:
    import pandas as pd

    is_string = pd.api.types.is_string_dtype(column) or column.dtype == object
    return bool(is_string) and column.astype(str).nunique() > _MANY_VALUES

"""Samples of several parts, for modules with several inputs."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from skpresto._data.features import map_parts
from skpresto._data.samples import SampleRows


class PartsRows(SampleRows):
    """Samples of which each has several parts, kept in arrays of equal length.

    Parameters
    ----------
    parts : dict or tuple of SampleRows
        The rows of each part.
    """

    is_table = False

    def __init__(
        self, parts: Mapping[str, SampleRows] | tuple[SampleRows, ...]
    ) -> None:
        self.parts = parts
        self.sample_shape = map_parts(lambda part: part.sample_shape, parts)
        self.source = map_parts(lambda part: part.source, parts)
        self._all = list(parts.values() if isinstance(parts, Mapping) else parts)

    def __len__(self) -> int:
        return len(self._all[0])

    @property
    def nbytes(self) -> int | None:
        """Memory of all parts, None if some are not dense."""
        sizes = [part.nbytes for part in self._all]
        return None if None in sizes else sum(filter(None, sizes))

    def _copied_to(self, device: torch.device) -> "PartsRows":
        return PartsRows(map_parts(lambda part: part._copied_to(device), self.parts))

    def take(self, index: Tensor) -> Any:
        """Return a dict or tuple of the parts of the samples at ``index``."""
        return map_parts(lambda part: part.take(index), self.parts)

    def slice(self, start: int, stop: int) -> Any:
        """Return a dict or tuple of the parts of consecutive samples."""
        return map_parts(lambda part: part.slice(start, stop), self.parts)

    def item(self, row: int) -> Any:
        """Return a dict or tuple of the parts of one sample."""
        return map_parts(lambda part: part.item(row), self.parts)

    @property
    def row_size(self) -> int:
        """Number of values in all parts of a row."""
        return sum(part.row_size for part in self._all)

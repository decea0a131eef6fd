"""The layout of a CSV file: encoding, separator, header and records."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_SEPARATORS = ",;\t|"
_BYTE_ORDER_MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


@dataclass(frozen=True)
class Layout:
    """How a CSV file is to be read.

    Parameters
    ----------
    path : Path
        The file.
    encoding : str
        Its encoding.
    separator : str
        The character between two values.
    columns : tuple of str
        The names of the header.
    """

    path: Path
    encoding: str
    separator: str
    columns: tuple[str, ...]

    def records(self) -> Iterator[tuple[str, list[str]]]:
        """Yield each record, the header first, as raw text and as values.

        Together the raw texts are the whole file: empty lines belong to the record
        before them, those before the header to the header.
        """
        with self.path.open(encoding=self.encoding, newline="") as file:
            lines = _Lines(file)
            raw, values = "", None
            for record in csv.reader(lines, delimiter=self.separator):
                text = lines.take()
                if self._is_blank(record):
                    raw += text
                    continue
                if values is not None:
                    yield raw, values
                    raw = ""
                raw, values = raw + text, record
            if values is not None:
                yield raw, values

    def _is_blank(self, record: list[str]) -> bool:
        is_only_space = len(record) == 1 and not record[0].strip()
        return not record or (is_only_space and len(self.columns) > 1)

    def line(self, values: list[str], end: str) -> str:
        """Return values as a line of the file."""
        out = io.StringIO()
        csv.writer(out, delimiter=self.separator, lineterminator=end).writerow(values)
        return out.getvalue()


class _Lines:
    """Iterate over the lines of a file, and keep those not yet taken."""

    def __init__(self, file: Iterator[str]) -> None:
        self._file = file
        self._kept: list[str] = []

    def __iter__(self) -> Iterator[str]:
        for line in self._file:
            self._kept.append(line)
            yield line

    def take(self) -> str:
        """Return the lines read since the last call."""
        lines, self._kept = "".join(self._kept), []
        return lines


def layout_of(path: Path, encoding: str | None = None) -> Layout:
    """Return the layout of a CSV file, and raise if it has none.

    Parameters
    ----------
    path : Path
        The file.
    encoding : str, default=None
        Its encoding; None means UTF-8.
    """
    encoding = encoding or "utf-8-sig"
    try:
        with path.open(encoding=encoding, newline="") as file:
            first = next((line for line in file if line.strip()), "")
            file.seek(0)
            separator = _separator(first)
            rows = csv.reader(file, delimiter=separator)
            header = next((row for row in rows if row), [])
    except UnicodeDecodeError as error:
        raise wrong_encoding(path, encoding, error) from None
    except LookupError:
        raise ValueError(
            f"{encoding!r} is not an encoding that Python knows."
        ) from None
    except csv.Error as error:
        raise ValueError(f"{path} cannot be read as CSV: {error}.") from None
    if not header:
        raise ValueError(f"{path} is empty. An audit needs a header and labeled rows.")
    columns = [name or f"Unnamed: {i}" for i, name in enumerate(header)]
    check_unique(columns, path)
    return Layout(path, encoding, separator, tuple(columns))


def check_unique(columns: list[str], path: Path) -> None:
    """Raise if two columns have the same name."""
    twice = sorted({name for name in columns if columns.count(name) > 1})
    if twice:
        raise ValueError(
            f"{path} has more than one column named {twice[0]!r}. Rename the columns "
            "so that every name occurs once."
        )


def wrong_encoding(path: Path, encoding: str, error: UnicodeDecodeError) -> ValueError:
    """Return the error for a file in another encoding."""
    with path.open("rb") as file:
        hint = _BYTE_ORDER_MARKS.get(file.read(2), "latin-1")
    name = "UTF-8" if encoding.startswith("utf-8") else encoding
    return ValueError(
        f"{path} is not encoded as {name} ({error.reason}). Pass its encoding, such as "
        f"--encoding {hint}, or save it as UTF-8."
    )


def _separator(line: str) -> str:
    """Return the most frequent separator outside quotes."""
    outside = "".join(line.split('"')[::2])
    return max(_SEPARATORS, key=outside.count)

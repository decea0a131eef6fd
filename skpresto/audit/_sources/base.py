"""What every input of an audit has in common, and the checks of its labels."""

import difflib
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skpresto.audit._sources.identifiers import is_moment
from skpresto.audit._sources.spellings import Variant, common_spellings, with_classes

#: Distinct numbers as labels from which a target is likely not a class.
MAX_NUMERIC_CLASSES = 200
MAX_FRACTIONAL_CLASSES = 20
_MOST_LISTED = 10
#: What is said where images or texts are trained on without embeddings.
EMBEDDINGS_HINT = (
    "Embeddings of a network that was trained on millions of {what} show more of what "
    "is in them, so that more wrong labels are found: see 'Embeddings' in the "
    "documentation of the audit."
)
#: Deviation of a column of embeddings, in times the median one, that is cut down.
_FAR_LARGER = 30


class LeftOut(NamedTuple):
    """A row or file that is not audited, and the reason."""

    name: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Source(ABC):
    """Labeled samples of one file or folder.

    Parameters
    ----------
    path : Path
        The file or folder.
    fingerprint : str
        Identifies the content; decisions are applied only to the same content.
    labels : array of shape (n_samples,)
        Given labels as strings, each in the common spelling of its class.
    spelled : array of shape (n_samples,)
        The same as the input spells them.
    variants : list of Variant
        The spellings that are taken for a class.
    rows : array of shape (n_samples,)
        Position of each sample in the input, counted from 0.
    n_rows : int
        Number of rows of the input, with those that are left out.
    left_out : list of LeftOut
        Rows or files that are not audited.
    notes : list of str
        Sentences about what was done with the input.
    embeddings : array of shape (n_samples, n_dimensions), default=None
        What a trained network has made of the samples, to train on.
    names : Series of str, default=None
        What the samples are called, by a column that identifies them.
    """

    path: Path
    fingerprint: str
    labels: NDArray[Any]
    spelled: NDArray[Any]
    variants: list[Variant] = field(default_factory=list)
    rows: NDArray[np.intp]
    n_rows: int
    left_out: list[LeftOut] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    embeddings: NDArray[np.float32] | None = None
    names: pd.Series | None = None

    #: What the input is: "table", "images" or "probabilities".
    kind = "table"
    label_name: str | None = None
    #: Fields with one entry per sample.
    _per_sample: ClassVar[tuple[str, ...]] = (
        "labels",
        "spelled",
        "rows",
        "embeddings",
        "names",
    )

    def features(self, seed: int) -> NDArray[np.float32]:
        """Return the samples as numbers to train on, if there is something to train."""
        if self.embeddings is None:
            raise NotImplementedError
        return scaled(self.embeddings)

    def among(self, keep: NDArray[np.bool_]) -> Self:
        """Return the same with some of the samples."""
        fields = {}
        for name in self._per_sample:
            values = getattr(self, name)
            if isinstance(values, list):
                values = [values[i] for i in np.flatnonzero(keep)]
            elif values is not None:
                values = values[keep]
            fields[name] = values
        return replace(self, **fields)

    @abstractmethod
    def view(self) -> Any:
        """Return what the page shows of a sample."""

    def row_names(self) -> list[str]:
        """Return the name of each sample, as shown on the page."""
        rows = [f"row {row}" for row in self.rows]
        if self.names is None:
            return rows
        pairs = zip(self.names, rows, strict=True)
        return [f"{name} · {row}" if name else row for name, row in pairs]

    def ids(self) -> pd.Series | None:
        """Return what identifies the samples in other files, too, unless it is a time.

        None if there is nothing of the kind, or not all are different.
        """
        names = self.names
        if names is None or not all(names) or not names.is_unique or is_moment(names):
            return None
        return names

    def row_keys(self) -> list[Any]:
        """Return what identifies each row of the input in a table."""
        return list(range(self.n_rows))


def scaled(embeddings: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return columns with mean 0 and variances of 1 on average.

    Columns keep their relative variances, which tell how much they matter, but for
    those of a few neurons that are far larger than all others.

    Examples
    --------
    >>> values = np.random.RandomState(0).normal(size=(100, 9)) * ([1] * 8 + [1000])
    >>> bool(scaled(values.astype(np.float32)).std(axis=0).max() < 4)
    True
    """
    centered = embeddings - embeddings.mean(axis=0, dtype=np.float64).astype("float32")
    deviation = centered.std(axis=0, dtype=np.float64)
    is_varying = deviation > 0
    most = _FAR_LARGER * np.median(deviation[is_varying]) if is_varying.any() else 1.0
    centered *= np.minimum(1.0, most / np.maximum(deviation, most)).astype(np.float32)
    return centered / np.float32(centered.std(dtype=np.float64) or 1.0)


def fingerprint_of_file(path: Path) -> str:
    """Return a hash of the content of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fingerprint_of_strings(strings: Iterable[str]) -> str:
    """Return a hash of a sequence of strings."""
    content = hashlib.sha256()
    for string in strings:
        encoded = string.encode("utf-8", "surrogatepass")
        content.update(len(encoded).to_bytes(8, "little") + encoded)
    return content.hexdigest()


def nearest_name(name: str, known: Sequence[str], what: str = "columns") -> str:
    """Return a hint at the nearest known name, or the list of names.

    Examples
    --------
    >>> nearest_name("specis", ["species", "length"])
    "Did you mean 'species'?"
    >>> nearest_name("zzz", ["species", "length"])
    "The columns are 'species', 'length'."
    """
    lowered = {other.lower(): other for other in reversed(known)}
    near = difflib.get_close_matches(name.lower(), list(lowered), n=1, cutoff=0.6)
    if near:
        return f"Did you mean {lowered[near[0]]!r}?"
    return listed(known, what)


def listed(names: Sequence[str], what: str = "columns") -> str:
    """Return a sentence that lists the first names."""
    if not names:
        return f"It has no other {what}."
    shown = ", ".join(repr(name) for name in names[:_MOST_LISTED])
    more = ", ..." if len(names) > _MOST_LISTED else ""
    return f"The {what} are {shown}{more}."


def labeled_rows(
    column: pd.Series, what: str, way_out: str, as_given: bool = True
) -> dict[str, Any]:
    """Return the fields of a source that its labels give, after checks.

    Parameters
    ----------
    column : Series
        The labels; rows without one are left out.
    what, way_out : str
        For error messages: the subject of the sentence, and what the user can do.
    as_given : bool, default=True
        Whether every spelling is a class.
    """
    has_label = column.notna().to_numpy()
    labels = column[has_label].astype(str).to_numpy(dtype=object).astype(str)
    return {
        **classes_of_labels(labels, what, way_out, as_given),
        "rows": np.flatnonzero(has_label),
        "n_rows": len(column),
        "left_out": [
            LeftOut(f"row {r}", "no label") for r in (~has_label).nonzero()[0]
        ],
    }


def classes_of_labels(
    labels: NDArray[Any], what: str, way_out: str, as_given: bool
) -> dict[str, Any]:
    """Return labels by class and as they are spelled, after checks."""
    variants = [] if as_given else common_spellings(labels)
    classes = with_classes(labels, variants) if variants else labels
    check_classes(classes, what, way_out)
    return {"labels": classes, "spelled": labels, "variants": variants}


def check_classes(labels: NDArray[Any], what: str, way_out: str) -> None:
    """Raise unless the labels are at least two classes, and look like classes."""
    classes, counts = np.unique(labels, return_counts=True)
    if len(classes) == 0:
        raise ValueError(f"{what} has no labeled rows. {way_out}")
    if len(classes) == 1:
        raise ValueError(
            f"{what} has one class, {str(classes[0])!r}, but an audit needs at least "
            f"two. {way_out}"
        )
    numbers = pd.to_numeric(pd.Series(classes), errors="coerce")
    if np.isfinite(numbers).all():
        is_fractional = bool((numbers % 1 != 0).any())
        limit = MAX_FRACTIONAL_CLASSES if is_fractional else MAX_NUMERIC_CLASSES
        if len(classes) > limit:
            raise ValueError(
                f"{what} has {len(classes):,} different numbers, which looks like a "
                "regression target; an audit needs classes. Choose another label, or "
                "group the numbers into classes first."
            )
    in_class = np.repeat(counts, counts)  # how often the label of each row occurs
    if len(labels) > 20 and np.median(in_class) < 2:
        raise ValueError(
            f"{what} has {len(classes):,} different values in {len(labels):,} rows, "
            f"most of them only once, so they are not classes. {way_out}"
        )

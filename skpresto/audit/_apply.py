"""Copies of the data with the labels that were decided."""

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from skpresto.audit._carried_over import carried_over
from skpresto.audit._decisions import Decisions
from skpresto.audit._safe_write import UNFINISHED, check_writable, whole_file
from skpresto.audit._same_file import same_file
from skpresto.audit._sources.base import fingerprint_of_file
from skpresto.audit._sources.columns import id_texts
from skpresto.audit._sources.delimited import Layout, layout_of, wrong_encoding
from skpresto.audit._sources.frames import (
    MISSING_LABELS,
    PARQUET_ENDINGS,
    check_columns,
    label_strings,
    read_frame,
)
from skpresto.audit._sources.images import fingerprint_of_folder, images_below


class Applied(NamedTuple):
    """What became of decisions.

    Parameters
    ----------
    decisions : Decisions
        With the rows of the data, and without those that do not fit it.
    n_changed : int
        How many labels differ from those of the data.
    """

    decisions: Decisions
    n_changed: int


class Moves(NamedTuple):
    """Images that belong to another class, or to none: paths below the folder."""

    decisions: Decisions
    moved: list[tuple[Path, Path]]
    discarded: set[Path]


_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def apply_to_table(
    decisions: Decisions,
    path: Path,
    out: Path,
    *,
    encoding: str | None = None,
    overwrite: bool = False,
    new_classes: Sequence[str] = (),
) -> Applied:
    """Write a copy of a CSV or Parquet file with the decided labels.

    Of a CSV file, all lines without a new label are copied as they are. Rows that were
    discarded are left out.

    Parameters
    ----------
    decisions : Decisions
        The decisions about this file.
    path, out : Path
        The file, and the copy.
    encoding : str, default=None
        Encoding of a CSV file; None means UTF-8.
    overwrite : bool, default=False
        Whether an existing copy may be replaced.
    new_classes : sequence of str, default=()
        Labels that may be decided on though no row has them.

    Returns
    -------
    applied : Applied
        What became of the decisions.
    """
    fingerprint = fingerprint_of_file(path)
    if decisions.id_name is None:
        decisions.check_fingerprint(fingerprint, path)

    def fitting(labels: list[str | None]) -> Decisions:
        found = carried_over(
            decisions,
            fingerprint,
            labels,
            lambda: ids_of_table(path, decisions, encoding),
            path,
        )
        found.check_labels(labels, path, new_classes)
        return found

    if path.suffix.lower() in PARQUET_ENDINGS:
        from pyarrow import parquet

        table, applied = _corrected_table(decisions.label, path, fitting)
        with whole_file(out, overwrite=overwrite, mode="wb") as file:
            parquet.write_table(table, file)
        return applied
    layout = layout_of(path, encoding)
    check_columns([str(decisions.label)], layout.columns, path)
    position = layout.columns.index(str(decisions.label))
    labels = _labels_of(layout, position)
    found = fitting(labels)
    changes = found.of_all_rows(labels)
    options = {"encoding": _encoding_with_mark(layout), "newline": ""}
    with whole_file(out, overwrite=overwrite, **options) as file:
        file.writelines(_corrected_lines(changes, found.discarded, layout, position))
    return Applied(found, len(changes))


def ids_of_table(path: Path, decisions: Decisions, encoding: str | None) -> list[str]:
    """Return what identifies the rows of a CSV or Parquet file, as the audit does."""
    label, column = str(decisions.label), str(decisions.id_name)
    frame = read_frame(path, label, [label, column], encoding, lambda sentence: None)
    return [str(name) for name in id_texts(frame[column])]


def _labels_of(layout: Layout, position: int) -> list[str | None]:
    try:
        rows = [values[position : position + 1] for _, values in layout.records()]
    except UnicodeDecodeError as error:
        raise wrong_encoding(layout.path, layout.encoding, error) from None
    labels = ["".join(values) for values in rows[1:]]
    return [None if label in MISSING_LABELS else label for label in labels]


def _corrected_lines(
    changes: dict[int, str], discarded: set[int], layout: Layout, position: int
) -> Iterator[str]:
    for row, (raw, values) in enumerate(layout.records(), start=-1):
        if row in discarded:
            continue
        if row in changes:
            values[position] = changes[row]
            body = raw.rstrip("\r\n")
            raw = layout.line(values, raw[len(body) :])
        yield raw


def _corrected_table(
    label: str | None, path: Path, fitting: Callable[[list[str | None]], Decisions]
) -> tuple[Any, Applied]:
    """Return the table of a Parquet file with the decided labels."""
    from pyarrow import parquet

    table = parquet.read_table(path)
    column = str(label)
    check_columns([column], table.column_names, path)
    values = table[column].to_pylist()
    names = label_strings(values)
    decisions = fitting(names)
    original = dict(zip(names, values, strict=True))
    changes = decisions.of_all_rows(names)
    for row, name in changes.items():
        if name not in original:
            original[name] = _typed(name, table[column].type)
        values[row] = original[name]
    position = table.column_names.index(column)
    field = table.schema.field(column)
    corrected = _arrow_array(values, table[column])
    table = table.set_column(position, field, corrected)
    if decisions.discarded:
        table = table.filter([i not in decisions.discarded for i in range(len(values))])
    return table, Applied(decisions, len(changes))


def _typed(label: str, type_: Any) -> Any:
    """Return a new class in the type of the labels."""
    import pyarrow as pa

    if pa.types.is_dictionary(type_):
        type_ = type_.value_type
    return pa.scalar(label).cast(type_).as_py()


def _arrow_array(values: list[Any], like: Any) -> Any:
    """Return values as an array of the same type, with categories in their order."""
    import pyarrow as pa

    if not pa.types.is_dictionary(like.type):
        return pa.array(values, type=like.type)
    known = like.unify_dictionaries().chunk(0).dictionary.to_pylist()
    names = list(dict.fromkeys([*known, *(v for v in values if v is not None)]))
    codes = {value: code for code, value in enumerate(names)}
    indices = pa.array([codes.get(value) for value in values], like.type.index_type)
    categories = pa.array(names, like.type.value_type)
    return pa.DictionaryArray.from_arrays(
        indices, categories, ordered=like.type.ordered
    )


def moves_of_images(
    decisions: Decisions, folder: Path, new_classes: Sequence[str] = ()
) -> Moves:
    """Return which images belong to another class, or to none."""
    for name in (*new_classes, *decisions.new_classes):
        if Path(name).name != name or name.startswith(".") or "\\" in name:
            raise ValueError(
                f"The new class {name!r} is no name of a folder of images. Choose one "
                "without a slash, that does not begin with a dot."
            )
    files = images_below(folder)
    fingerprint = fingerprint_of_folder(folder, files)
    if decisions.id_name is None:
        decisions.check_fingerprint(fingerprint, folder)
    labels = [file.parent.name for file in files]
    paths = [file.relative_to(folder) for file in files]
    decisions = carried_over(
        decisions,
        fingerprint,
        labels,
        lambda: [file.as_posix() for file in paths],
        folder,
    )
    decisions.check_labels(labels, folder, new_classes)
    moves, taken = [], set(paths)
    for row, label in sorted(decisions.of_all_rows(labels).items()):
        old = paths[row]
        new = old.parent.with_name(label) / old.name
        while new in taken:
            new = new.with_stem(f"{new.stem}-from-{labels[row]}")
        taken.add(new)
        moves.append((old, new))
    return Moves(decisions, moves, {paths[row] for row in decisions.discarded})


def copy_images(folder: Path, moves: Moves, new_folder: Path) -> int:
    """Copy the images of a folder to a new one, by their corrected class.

    Images that were discarded are not copied.

    Returns
    -------
    n_images : int
        How many images were copied.
    """
    if new_folder.exists():
        raise FileExistsError(
            f"{new_folder} exists already, and nothing is overwritten. Choose a new "
            "folder."
        )
    if any(same_file(folder, parent) for parent in new_folder.resolve().parents):
        raise ValueError(f"{new_folder} is inside {folder}. Choose a folder outside.")
    check_writable(new_folder, overwrite=False)
    target = dict(moves.moved)
    found = [file.relative_to(folder) for file in images_below(folder)]
    files = [file for file in found if file not in moves.discarded]
    unfinished = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=new_folder.parent))
    try:
        for file in files:
            copy = unfinished / target.get(file, file)
            copy.parent.mkdir(exist_ok=True)
            if copy.exists():  # where a file system takes other letters for the same
                raise FileExistsError(
                    f"Two images of {folder} would both become {target.get(file, file)}"
                    f" in {new_folder}. Rename one of them, and audit again."
                )
            shutil.copy2(folder / file, copy)
        unfinished.chmod(folder.stat().st_mode)
        unfinished.rename(new_folder)
    except BaseException:
        shutil.rmtree(unfinished)
        raise
    return len(files)


def _encoding_with_mark(layout: Layout) -> str:
    """Return the encoding to write: with a byte order mark only if there was one."""
    if layout.encoding != "utf-8-sig":
        return layout.encoding
    with layout.path.open("rb") as file:
        has_mark = file.read(3) == _BYTE_ORDER_MARK
    return "utf-8-sig" if has_mark else "utf-8"

"""Copies of the data with the labels that were decided."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from skpresto.audit._decisions import Decisions
from skpresto.audit._safe_write import check_writable, whole_file
from skpresto.audit._sources.base import fingerprint_of_file, nearest_name
from skpresto.audit._sources.delimited import Layout, layout_of
from skpresto.audit._sources.frames import PARQUET_ENDINGS, label_strings
from skpresto.audit._sources.images import fingerprint_of_folder, images_below

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def apply_to_table(
    decisions: Decisions,
    path: Path,
    out: Path,
    *,
    encoding: str | None = None,
    overwrite: bool = False,
) -> None:
    """Write a copy of a CSV or Parquet file with the decided labels.

    Of a CSV file, all lines without a new label are copied as they are.

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
    """
    if out.exists() and out.samefile(path):
        raise ValueError(f"{path} is never overwritten. Choose another name for --out.")
    check_writable(out, overwrite=overwrite)
    decisions.check_fingerprint(fingerprint_of_file(path), path)
    if path.suffix.lower() in PARQUET_ENDINGS:
        _apply_to_parquet(decisions, path, out, overwrite)
        return
    layout = layout_of(path, encoding)
    options = {"encoding": _encoding_with_mark(layout), "newline": ""}
    with whole_file(out, overwrite=overwrite, **options) as file:
        file.writelines(_corrected_lines(decisions, layout))


def _corrected_lines(decisions: Decisions, layout: Layout) -> Iterator[str]:
    column = _column(decisions, list(layout.columns), layout.path)
    position = layout.columns.index(column)
    remaining = dict(decisions.changes)
    for row, (raw, values) in enumerate(layout.records(), start=-1):
        if row < 0 or row not in remaining:
            yield raw
            continue
        given, label = remaining.pop(row)
        found = values[position] if position < len(values) else ""
        if found != given:
            raise _does_not_fit(decisions, layout.path, row, given, found)
        values[position] = label
        body = raw.rstrip("\r\n")
        yield layout.line(values, raw[len(body) :])
    if remaining:
        row, (given, _) = next(iter(remaining.items()))
        raise _does_not_fit(decisions, layout.path, row, given, "no such row")


def _apply_to_parquet(
    decisions: Decisions, path: Path, out: Path, overwrite: bool
) -> None:
    from pyarrow import parquet

    table = parquet.read_table(path)
    column = _column(decisions, table.column_names, path)
    values = table[column].to_pylist()
    names = label_strings(values)
    original = dict(zip(names, values, strict=True))
    for row, (given, label) in decisions.changes.items():
        if row >= len(names) or names[row] != given:
            found = names[row] if row < len(names) else "no such row"
            raise _does_not_fit(decisions, path, row, given, str(found))
        values[row] = original[label]
    position = table.column_names.index(column)
    field = table.schema.field(column)
    changed = table.set_column(position, field, _arrow_array(values, table[column]))
    with whole_file(out, overwrite=overwrite, mode="wb") as file:
        parquet.write_table(changed, file)


def _arrow_array(values: list[Any], like: Any) -> Any:
    """Return values as an array of the same type, with categories in their order."""
    import pyarrow as pa

    if not pa.types.is_dictionary(like.type):
        return pa.array(values, type=like.type)
    categories = like.unify_dictionaries().chunk(0).dictionary
    codes = {value: code for code, value in enumerate(categories.to_pylist())}
    indices = pa.array([codes.get(value) for value in values], like.type.index_type)
    return pa.DictionaryArray.from_arrays(
        indices, categories, ordered=like.type.ordered
    )


def moves_of_images(decisions: Decisions, folder: Path) -> list[tuple[Path, Path]]:
    """Return which images belong to another class: paths below the folder."""
    files = images_below(folder)
    decisions.check_fingerprint(fingerprint_of_folder(folder, files), folder)
    moves, taken = [], {file.relative_to(folder) for file in files}
    for row, (given, label) in sorted(decisions.changes.items()):
        old = files[row].relative_to(folder)
        if old.parent.name != given:
            raise _does_not_fit(decisions, folder, row, given, old.parent.name)
        new = old.parent.with_name(label) / old.name
        if new in taken:
            new = new.with_stem(f"{old.stem}-from-{given}")
        taken.add(new)
        moves.append((old, new))
    return moves


def copy_images(folder: Path, moves: list[tuple[Path, Path]], new_folder: Path) -> int:
    """Copy all images of a folder to a new one, by their corrected class.

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
    if folder.resolve() in new_folder.resolve().parents:
        raise ValueError(f"{new_folder} is inside {folder}. Choose a folder outside.")
    check_writable(new_folder, overwrite=False)
    target = dict(moves)
    files = [file.relative_to(folder) for file in images_below(folder)]
    unfinished = Path(
        tempfile.mkdtemp(prefix=f".{new_folder.name}.", dir=new_folder.parent)
    )
    try:
        for file in files:
            copy = unfinished / target.get(file, file)
            copy.parent.mkdir(exist_ok=True)
            shutil.copy2(folder / file, copy)
        unfinished.chmod(folder.stat().st_mode)
        unfinished.rename(new_folder)
    except BaseException:
        shutil.rmtree(unfinished)
        raise
    return len(files)


def _column(decisions: Decisions, columns: list[str], path: Path) -> str:
    label = decisions.label
    if label not in columns:
        hint = nearest_name(str(label), columns)
        raise ValueError(f"{path} has no column {label!r}. {hint}")
    return label


def _does_not_fit(
    decisions: Decisions, path: Path, row: int, given: str, found: str
) -> ValueError:
    return ValueError(
        f"{decisions.path} says that row {row} of {path} has the label {given!r}, but "
        f"it has {found!r}. Nothing was written. Export the decisions again."
    )


def _encoding_with_mark(layout: Layout) -> str:
    """Return the encoding to write: with a byte order mark only if there was one."""
    if layout.encoding != "utf-8-sig":
        return layout.encoding
    with layout.path.open("rb") as file:
        has_mark = file.read(3) == _BYTE_ORDER_MARK
    return "utf-8-sig" if has_mark else "utf-8"

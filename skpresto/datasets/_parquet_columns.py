"""Columns of Parquet files as arrays: which types there are, and what is refused."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skpresto.datasets._packages import needed

#: For error messages.
NAME = "ParquetDataset"


def pyarrow(module: str = "pyarrow") -> Any:
    """Return a module of the package that reads Parquet."""
    return needed(NAME, module, "pyarrow", "read Parquet files", "parquet")


def width_of(name: str, type_: Any, file: Any) -> int:
    """Return the number of values that a column has in each row.

    Parameters
    ----------
    name : str
        Name of the column.
    type_ : DataType
        Its type: numbers, or lists of one length.
    file : ParquetFile
        For the length of lists, which is that of the first row.
    """
    types = pyarrow().types
    kinds = types.is_list, types.is_large_list, types.is_fixed_size_list
    is_list = any(is_kind(type_) for is_kind in kinds)
    if not _is_number(type_.value_type if is_list else type_):
        raise ValueError(
            f"{NAME} needs columns of numbers, or of lists of numbers, but {name!r} "
            f"has the type {type_}. Encode it as numbers when the file is written, "
            "or name the columns to use with columns=[...]."
        )
    if not is_list:
        return 1
    batches = file.iter_batches(batch_size=1, columns=[name], use_threads=False)
    first = next(batches).column(0)[0]
    return len(first) if first.is_valid else 0


def _is_number(type_: Any) -> bool:
    types = pyarrow().types
    kinds = types.is_integer, types.is_floating, types.is_boolean
    return any(is_kind(type_) for is_kind in kinds)


def column_values(
    name: str, column: Any, width: int, where: str
) -> NDArray[np.float32]:
    """Return a column as float32, of shape (n_rows, width).

    Parameters
    ----------
    name : str
        Name of the column.
    column : ChunkedArray
        Its values.
    width : int
        Number of values in each row.
    where : str
        The row group, for error messages.
    """
    _check_no_nulls(name, column, where)
    if not _is_number(column.type):
        column = _flat(name, column, width, where)
        _check_no_nulls(name, column, where)
    with np.errstate(over="ignore"):  # infinite values are an error below
        values = column.to_numpy().astype(np.float32, copy=False)
    values = values.reshape(-1, width)
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
        raise ValueError(
            f"{NAME} found NaN, infinity or a value too large for float32 in column "
            f"{name!r}, row {row} of {where}. Replace such values when the file is "
            "written."
        )
    return values


def _flat(name: str, column: Any, width: int, where: str) -> Any:
    """Return the values of lists, which must have one length."""
    compute = pyarrow("pyarrow.compute")
    lengths = compute.list_value_length(column).to_numpy()
    if (lengths != width).any():
        row = int(np.flatnonzero(lengths != width)[0])
        raise ValueError(
            f"{NAME} needs lists of one length, but in column {name!r} the first "
            f"row has {width} values, and row {row} of {where} has {lengths[row]}. "
            "Pad them when the file is written."
        )
    return compute.list_flatten(column)


def column_labels(name: str, column: Any, where: str) -> NDArray:
    """Return labels: numbers as they are, text as an array of str."""
    _check_no_nulls(name, column, where)
    if pyarrow().types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if _is_number(column.type):
        return column.to_numpy()
    if str(column.type) not in ("string", "large_string", "string_view"):
        raise ValueError(
            f"{NAME} needs a label column of text, integers or booleans, but {name!r} "
            f"has the type {column.type}. Write it as text."
        )
    return column.to_numpy().astype(str)


def _check_no_nulls(name: str, column: Any, where: str) -> None:
    if column.null_count:
        raise ValueError(
            f"{NAME} found {column.null_count} missing values (nulls) in column "
            f"{name!r}, {where}. Fill them in, or leave these rows out, when the file "
            "is written."
        )

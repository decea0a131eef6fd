"""Parquet files that cannot be trained on, each with a sentence that says why."""

import sys

import numpy as np
import pytest
import torch
from torch.utils.data import Dataset

import skpresto.datasets
from skpresto import DefaultClassifier
from skpresto.datasets import ParquetDataset
from tests.discovery import quick

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def written(tmp_path, **columns):
    path = tmp_path / "f.parquet"
    pq.write_table(pa.table(columns), path)
    return path


GOOD = {"x": [1.0, 2.0], "z": [1, 2], "y": ["a", "b"]}


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"label": "Y"},
            "needs 'Y', but .*f.parquet' has only the columns 'x', 'z', 'y'",
        ),
        (
            {"columns": ["x", "w"]},
            "needs 'w', but .* has only the columns 'x', 'z', 'y'",
        ),
        ({"columns": []}, r"at least one column of features.* got columns=\[\]"),
        ({"columns": ["x", "x"]}, "each once .* got columns="),
        ({"columns": ["x", "y"], "label": "y"}, "none of them the label"),
        ({}, "columns of numbers.*but 'y' has the type string. Encode it"),
        ({"label": "y", "shape": (2, 2)}, r"which has 2, got shape=\(2, 2\)"),
    ],
)
def test_columns_that_are_not_there_or_no_numbers(params, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        ParquetDataset(written(tmp_path, **GOOD), **params)


@pytest.mark.parametrize(
    "params", [{"columns": "x"}, {"columns": ["x"], "cache_bytes": "1 GB"}]
)
def test_parameters_of_another_type(params, tmp_path):
    with pytest.raises(TypeError, match="needs columns to be a list of names and cach"):
        ParquetDataset(written(tmp_path, **GOOD), **params)


@pytest.mark.parametrize(
    "type_", [pa.date32(), pa.decimal128(5), pa.list_(pa.string())]
)
def test_other_types_of_columns(type_, tmp_path):
    path = written(tmp_path, x=pa.array([None], type_))
    with pytest.raises(ValueError, match="'x' has the type .* Encode it as numbers"):
        ParquetDataset(path)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (
            pa.array([1.0, None]),
            r"1 missing values \(nulls\) in column 'x', row group 0",
        ),
        (pa.array([[1.0], None]), r"1 missing values \(nulls\) in column 'x'"),
        (pa.array([[1.0], [None]]), r"1 missing values \(nulls\) in column 'x'"),
        (pa.array([1.0, np.nan]), "NaN, infinity or .* in column 'x', row 1 of row gr"),
        (pa.array([1.0, 1e300]), "a value too large for float32 in column 'x', row 1"),
        (
            pa.array([[1.0], [1.0, 2.0]]),
            "lists of one length, .* first row has 1 values",
        ),
    ],
)
def test_values_that_cannot_be_trained_on(column, message, tmp_path):
    data = ParquetDataset(written(tmp_path, x=column))
    with pytest.raises(ValueError, match=message):
        _ = data[1]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (pa.array(["a", None]), r"1 missing values \(nulls\) in column 'y'"),
        (pa.array([[1], [2]]), "label column of text, integers .* has the type list"),
    ],
)
def test_labels_that_cannot_be_trained_on(labels, message, tmp_path):
    data = ParquetDataset(written(tmp_path, x=[1.0, 2.0], y=labels), label="y")
    with pytest.raises(ValueError, match=message):
        _ = data.targets


@pytest.mark.parametrize(
    ("files", "message"), [(3, "a path or a list"), ([3], "a path")]
)
def test_files_that_are_no_paths(files, message):
    with pytest.raises(TypeError, match=f"ParquetDataset needs files to be {message}"):
        ParquetDataset(files)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(
        FileNotFoundError, match="found no '.*/a.parquet'. Check the pat"
    ):
        ParquetDataset(tmp_path / "a.parquet")
    for empty in (tmp_path, []):
        with pytest.raises(FileNotFoundError, match=r"found no file \*.parquet in"):
            ParquetDataset(empty)


def test_files_that_are_no_parquet_files(tmp_path):
    (tmp_path / "f.parquet").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="cannot read '.*f.parquet' as a Parquet file"):
        ParquetDataset(tmp_path / "f.parquet")


def test_files_without_rows(tmp_path):
    with pytest.raises(ValueError, match="needs at least one row, but '.*' has none"):
        ParquetDataset(written(tmp_path, x=pa.array([], pa.float32())))
    with pytest.raises(ValueError, match="needs at least one row, but '.*' has none"):
        ParquetDataset(written(tmp_path, x=pa.array([], pa.list_(pa.float32()))))


def test_files_with_other_columns(tmp_path):
    pq.write_table(pa.table({"x": [1.0]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"x": [1]}), tmp_path / "2.parquet")
    with pytest.raises(
        ValueError, match="the same columns, but 'x' of .*2.parquet' dif"
    ):
        ParquetDataset(tmp_path)
    pq.write_table(pa.table({"x": [1.0], "w": ["a"]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"x": [1.0], "w": [1.0]}), tmp_path / "2.parquet")
    with pytest.raises(ValueError, match="same columns, but 'w' of .* Write them"):
        ParquetDataset(tmp_path, label="w")
    pq.write_table(pa.table({"x": [1.0]}), tmp_path / "1.parquet")
    assert ParquetDataset(tmp_path).columns == ["x"]
    pq.write_table(pa.table({"w": [1.0]}), tmp_path / "2.parquet")
    with pytest.raises(
        ValueError, match="needs 'x', but .*2.parquet' has only the col"
    ):
        ParquetDataset(tmp_path)


def test_columns_of_one_name(tmp_path):
    table = pa.Table.from_arrays([pa.array([1.0]), pa.array([2.0])], names=["x", "x"])
    pq.write_table(table, tmp_path / "f.parquet")
    with pytest.raises(ValueError, match="different names, but .* several of 'x'"):
        ParquetDataset(tmp_path)


def test_a_file_that_changes_or_goes(tmp_path):
    path = written(tmp_path, x=[1.0, 2.0])
    data = ParquetDataset(path)
    written(tmp_path, x=[1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="the file has changed since. Make a new"):
        _ = data[0]
    path.unlink()
    with pytest.raises(FileNotFoundError, match="cannot read '.*': .*No such file"):
        _ = data[0]


def test_a_file_that_is_damaged_inside(tmp_path):
    path = written(tmp_path, x=np.random.RandomState(0).normal(size=1000))
    data = ParquetDataset(path)
    content = bytearray(path.read_bytes())
    content[4:2000] = b"\xff" * 1996
    path.write_bytes(content)
    with pytest.raises(ValueError, match="cannot read '.*' as a Parquet file"):
        _ = data[0]


@pytest.mark.parametrize("row", [2, -3])
def test_a_row_that_is_not_there(row, tmp_path):
    data = ParquetDataset(written(tmp_path, x=[1.0, 2.0]))
    with pytest.raises(IndexError, match=f"has no row {row}"):
        _ = data[row]


def test_pyarrow_that_is_not_installed(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"needs pyarrow .*'skpresto\[parquet\]'"):
        ParquetDataset(tmp_path)


def test_other_names_of_the_module_are_missing():
    assert "ParquetDataset" in dir(skpresto.datasets)
    with pytest.raises(AttributeError, match="has no attribute 'CsvDataset'"):
        skpresto.datasets.CsvDataset  # noqa: B018


def test_a_dataset_that_reads_too_few_items_is_refused(blobs):
    class Wrong(Dataset):
        def __len__(self):
            return 10

        def __getitem__(self, row):
            return torch.zeros(2), row % 2

        def __getitems__(self, rows):
            return [self[rows[0]]]

    with pytest.raises(
        ValueError, match="must return one item for each of 2 rows, but"
    ):
        quick(DefaultClassifier).fit(Wrong())

"""Files of an audit that can be read in part, or not at all."""

import numpy as np
import pandas as pd
import pytest

from skpresto.audit._page.telling import _spread
from skpresto.audit._sources import read_with_labels
from skpresto.audit._sources.delimited import layout_of
from skpresto.datasets._arrays import as_labels
from skpresto.datasets._cifar import CIFAR10


@pytest.fixture
def labels(tmp_path):
    path = tmp_path / "labels.npy"
    np.save(path, np.array(["a", "b"] * 5))
    return path


def test_probabilities_must_be_numbers(tmp_path, labels):
    path = tmp_path / "p.npy"
    np.save(path, np.full((10, 2), "half"))
    with pytest.raises(ValueError, match="needs numbers, got an array of <U4"):
        read_with_labels(path, labels)


def test_labels_must_be_one_per_row(tmp_path, labels):
    path = tmp_path / "p.npy"
    np.save(path, np.full((10, 2), 0.5))
    assert read_with_labels(path, labels).n_rows == 10
    np.save(labels, np.full((10, 2), "a"))
    with pytest.raises(ValueError, match=r"one label per row.*shape \(10, 2\)"):
        read_with_labels(path, labels)


def test_nothing_is_trained_on_ready_probabilities(tmp_path, labels):
    path = tmp_path / "p.npy"
    np.save(path, np.full((10, 2), 0.5))
    with pytest.raises(NotImplementedError):
        read_with_labels(path, labels).features(0)


def test_a_field_beyond_the_limit_of_csv_is_told(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text('a,"' + "x" * 200_000 + '"\n')
    with pytest.raises(ValueError, match="cannot be read as CSV: field larger"):
        layout_of(path)


def test_a_column_without_values_has_no_spread():
    assert np.isnan(_spread(pd.Series([np.nan, np.nan])))


def test_labels_of_different_lengths_are_no_array(tmp_path):
    with pytest.raises(ValueError, match="labels are not an array"):
        as_labels(CIFAR10.source, [[1], [1, 2]], 10, tmp_path)

"""What of a callback's state is stored with the progress of a fit."""

import numpy as np
import torch

from skpresto._training.stage import plain


def test_entries_that_cannot_be_stored_are_left_out():
    stored = plain({"a": torch.ones(1), "b": object(), "c": {"d": print, "e": None}})
    assert list(stored) == ["a", "c"]
    assert stored["c"] == {"e": None}


def test_numbers_of_numpy_are_stored_as_those_of_python():
    stored = plain({"a": [np.float64(0.5), (np.int64(2), 3)]})
    assert stored == {"a": [0.5, (2, 3)]}
    assert type(stored["a"][0]) is float
    assert type(stored["a"][1][0]) is int

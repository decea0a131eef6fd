"""What of a callback's state is stored with the progress of a fit."""

import numpy as np
import torch

from skpresto._training.stage import is_plain, plain


def test_tensors_numbers_and_containers_of_them_are_plain():
    assert is_plain([1, (2.0, torch.ones(1)), {"a": np.float32(3)}, None, "text"])
    assert not is_plain([1, object()])
    assert not is_plain({"a": [print]})


def test_numbers_of_numpy_are_stored_as_those_of_python():
    stored = plain({"a": [np.float64(0.5), (np.int64(2), 3)]})
    assert stored == {"a": [0.5, (2, 3)]}
    assert type(stored["a"][0]) is float
    assert type(stored["a"][1][0]) is int

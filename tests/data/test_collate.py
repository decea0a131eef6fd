import numpy as np
import pytest
import torch
from torch.utils.data import default_collate

from skpresto._data.collate import CollatePairs
from skpresto._data.samples import TensorRows
from skpresto._data.training_data import PredictionRows, TrainingRows
from skpresto._networks.probe import probe_batch

ITEMS = [(torch.ones(n), torch.tensor(n % 2), 10 * n) for n in (3, 1, 2)]


def pad(pairs):
    features, labels = zip(*pairs, strict=True)
    return torch.nn.utils.rnn.pad_sequence(features, batch_first=True), labels


def test_the_function_sees_pairs_and_positions_pass_by_it():
    seen = []
    collate = CollatePairs(lambda pairs: seen.append(pairs) or pad(pairs), "name")
    features, labels, positions = collate(ITEMS)
    assert features.shape == (3, 3)
    assert labels.tolist() == [1, 1, 0]
    assert positions.tolist() == [30, 10, 20]
    assert [len(pair) for pair in seen[0]] == [2, 2, 2]
    assert len(collate([item[:2] for item in ITEMS])) == 2


@pytest.mark.parametrize("as_labels", [list, np.array, torch.stack, torch.tensor])
def test_labels_may_be_returned_as_anything_like_an_array(as_labels):
    collate = CollatePairs(lambda p: (0, as_labels([label for _, label in p])), "name")
    assert torch.equal(collate(ITEMS)[1], torch.tensor([1, 1, 0]))


def test_arrays_and_float64_become_float32_tensors():
    collated = {"a": np.zeros((3, 2)), "b": (torch.zeros(3, dtype=torch.int64), "text")}
    features, *_ = CollatePairs(lambda pairs: (collated, pad(pairs)[1]), "name")(ITEMS)
    assert features["a"].dtype == torch.float32
    assert features["b"][0].dtype == torch.int64
    assert features["b"][1] == "text"


def by_length(pairs):
    return pad(sorted(pairs, key=lambda pair: len(pair[0])))


@pytest.mark.parametrize(
    ("collate", "error", "message"),
    [
        (lambda pairs: torch.zeros(3), TypeError, "name must.*pair.*got a Tensor"),
        (lambda pairs: (1, 2, 3), TypeError, "got a tuple of 3.*as one dict or tuple"),
        (by_length, ValueError, "in the same order.*enforce_sorted=False"),
        (
            lambda pairs: (0, None),
            ValueError,
            "name must return the labels it is given",
        ),
        (lambda pairs: (0, torch.rand(3, 2)), ValueError, "must return the labels"),
    ],
)
def test_what_the_function_must_return(collate, error, message):
    with pytest.raises(error, match=message):
        CollatePairs(collate, "name")(ITEMS)


def test_samples_without_labels_are_told_apart_too():
    X = [torch.ones(n) for n in (3, 1)]
    items = [
        (x, PredictionRows(TensorRows(torch.zeros(2, 1)))[i][1])
        for i, x in enumerate(X)
    ]
    with pytest.raises(ValueError, match="in the same order"):
        CollatePairs(by_length, "name")(items)


def test_the_default_function_gives_what_a_loader_gives():
    rows = TrainingRows(
        TensorRows(torch.rand(4, 3)), torch.arange(4), torch.tensor([2, 0])
    )
    items = [rows[0], rows[1]]
    expected = default_collate(items)
    collated = CollatePairs(default_collate, "name")(items)
    assert all(map(torch.equal, collated, expected))
    X = TensorRows(torch.rand(4, 3))
    both = probe_batch(X, None), probe_batch(X, CollatePairs(default_collate, "name"))
    assert torch.equal(*both)


def test_the_function_must_be_one():
    with pytest.raises(TypeError, match="name must be a function, got 3"):
        CollatePairs(3, "name")

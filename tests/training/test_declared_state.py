"""What a stage changes is what a resumed fit gets back."""

import copy

import pytest
import torch

from skpresto._data.state import Stateful
from skpresto._label_quality.history import PredictionHistory
from skpresto._training.trainer import Trainer
from tests.discovery import every, quick, short_fits_warn

pytestmark = short_fits_warn


def snapshot(part):
    """Return copies of tensors and numbers among the attributes of an object."""
    plain = (torch.Tensor, int, float, list, tuple, type(None))
    return {k: copy.deepcopy(v) for k, v in vars(part).items() if isinstance(v, plain)}


def is_same(first, second):
    if isinstance(first, torch.Tensor) and isinstance(second, torch.Tensor):
        return torch.equal(first, second)
    if isinstance(first, (list, tuple)) and isinstance(second, (list, tuple)):
        pairs = zip(first, second, strict=False)
        return len(first) == len(second) and all(is_same(*pair) for pair in pairs)
    return type(first) is type(second) and first == second


@every
def test_what_an_epoch_changes_is_declared(Classifier, noisy_blobs, monkeypatch):
    """Of policies and recorders, and of what they refer to."""
    X, y, _ = noisy_blobs
    run_epoch, changed, seen = Trainer._run_epoch, set(), set()

    def spy(trainer, rows, stage):
        roots = [stage.policy, *trainer.recorders_of(stage)]
        parts = roots + [
            value
            for root in roots
            for value in vars(root).values()
            if isinstance(value, Stateful) and value not in roots
        ]
        before = [snapshot(part) for part in parts]
        is_stopped = run_epoch(trainer, rows, stage)
        for part, values in zip(parts, before, strict=True):
            seen.add(type(part).__name__)
            if isinstance(part, PredictionHistory):  # part of every checkpoint
                continue
            after = snapshot(part)
            changed.update(
                f"{type(part).__name__}.{name}"
                for name in values.keys() | after.keys()
                if not is_same(values.get(name), after.get(name))
                and name not in part._state
            )
        return is_stopped

    monkeypatch.setattr(Trainer, "_run_epoch", spy)
    quick(Classifier, max_epochs=8, q=3).fit(X, y)
    assert seen
    assert not changed


def test_state_is_put_back_in_place():
    class Inner(Stateful):
        _state = ("value",)

        def __init__(self, value):
            self.value = value

    class Outer(Stateful):
        _state = ("inner", "tensor", "numbers", "later")

        def __init__(self, number):
            self.inner = Inner(number)
            self.tensor = torch.full((2,), float(number))
            self.numbers = [number]
            self.later = None if number else torch.ones(1)
            self.other = number

    outer, source = Outer(1), Outer(0)
    inner, tensor = outer.inner, outer.tensor
    outer.load_state_dict(source.state_dict())
    assert outer.inner is inner
    assert outer.tensor is tensor
    assert (inner.value, tensor.tolist(), outer.numbers) == (0, [0.0, 0.0], [0])
    assert torch.equal(outer.later, torch.ones(1))
    assert outer.other == 1
    with pytest.raises(AttributeError):
        outer.load_state_dict({"unknown": 1})

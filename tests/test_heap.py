import ctypes

import pytest

from skpresto import _heap as heap
from skpresto._heap import has_large_outputs, return_freed_memory
from skpresto._label_quality.blocks import blocks
from skpresto._training.policy import LearnFromAll


def test_only_the_outputs_of_many_classes_are_large():
    assert not has_large_outputs(n_networks=8, batch_size=128, n_classes=100)
    assert has_large_outputs(n_networks=5, batch_size=128, n_classes=5000)


def test_freed_memory_is_returned_where_that_is_possible():
    heap._trim.cache_clear()
    return_freed_memory()


@pytest.mark.parametrize("error", [AttributeError, OSError, TypeError])
def test_other_allocators_are_left_alone(error, monkeypatch):
    def fail(name):
        raise error

    monkeypatch.setattr(ctypes, "CDLL", fail)
    heap._trim.cache_clear()
    return_freed_memory()
    assert heap._trim() is None
    heap._trim.cache_clear()


def test_memory_is_returned_after_each_large_batch(make_trainer, monkeypatch):
    calls = []
    monkeypatch.setattr("skpresto._training.epoch.has_large_outputs", lambda *_: True)
    monkeypatch.setattr(
        "skpresto._training.epoch.return_freed_memory", lambda: calls.append(1)
    )
    trainer = make_trainer()
    trainer.run(LearnFromAll(), 1, stage="train")
    assert len(calls) == trainer.net.history[-1, "train_batch_count"]


def test_memory_is_returned_between_blocks_of_large_matrices(monkeypatch):
    calls = []
    monkeypatch.setattr(
        "skpresto._label_quality.blocks.return_freed_memory", lambda: calls.append(1)
    )
    assert len(list(blocks(1000, n_columns=10))) == 1
    assert not calls
    assert len(list(blocks(5000, n_columns=5000))) == len(calls) > 1

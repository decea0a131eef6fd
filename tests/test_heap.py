import ctypes
from contextlib import nullcontext

import pytest

from skpresto import _heap as heap
from skpresto._heap import return_freed_memory
from skpresto._label_quality.blocks import blocks
from skpresto._training.policy import LearnFromAll
from skpresto._training.stage import Stage
from skpresto._training.torch_state import fit_turn


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
    with heap.kept_heap():
        pass
    heap._trim.cache_clear()


def test_freed_memory_is_kept_in_a_block_and_returned_after_it(monkeypatch):
    calls = []

    class Allocator:
        def mallopt(self, option, value):
            calls.append((option, value >> 20))

        def malloc_trim(self, kept):
            calls.append("trim")

    monkeypatch.setattr(ctypes, "CDLL", lambda name: Allocator())
    heap._trim.cache_clear()
    with heap.kept_heap():
        assert calls == [(-3, 32), (-1, 1024)]
    assert calls[2:] == [(-1, 64), "trim"]
    heap._trim.cache_clear()


def test_fits_on_images_keep_freed_memory(monkeypatch):
    kept = []
    monkeypatch.setattr(
        "skpresto._training.torch_state.kept_heap",
        lambda: kept.append(1) or nullcontext(),
    )
    for shape in ((8,), (1, 4, 4), None, {"a": (1, 2, 3)}):
        with fit_turn(0, "cpu", shape):
            assert len(kept) == (shape != (8,))


@pytest.mark.parametrize(("n_outputs", "is_large"), [(256, True), (257, False)])
def test_memory_is_returned_after_each_large_batch(
    make_trainer, monkeypatch, n_outputs, is_large
):
    """Batches have 64 rows of four classes."""
    calls = []
    monkeypatch.setattr("skpresto._training.epoch.LARGE_OUTPUTS", n_outputs)
    monkeypatch.setattr(
        "skpresto._training.epoch.return_freed_memory", lambda: calls.append(1)
    )
    trainer = make_trainer()
    trainer.run(Stage("train", LearnFromAll(), 1))
    n_batches = trainer.net.history[-1, "train_batch_count"]
    assert len(calls) == (n_batches if is_large else 0)


def test_memory_is_returned_between_blocks_of_large_matrices(monkeypatch):
    calls = []
    monkeypatch.setattr(
        "skpresto._label_quality.blocks.return_freed_memory", lambda: calls.append(1)
    )
    assert len(list(blocks(1000, n_columns=10))) == 1
    assert not calls
    assert len(list(blocks(5000, n_columns=5000))) == len(calls) > 1

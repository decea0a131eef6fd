from pathlib import Path

from skpresto._engine.checkpoint import Checkpoint, CheckpointStore
from skpresto._selection.base import LearnFromAll


def checkpoint_of(trainer):
    return Checkpoint.of(trainer.net, trainer.history, trainer.n_epochs)


def restore(checkpoint, trainer):
    checkpoint.restore(trainer.net, trainer.history)
    trainer.n_epochs = checkpoint.n_epochs


def test_checkpoints_beyond_the_limit_go_to_disk_and_come_back_equal(
    make_trainer, everything, assert_equal
):
    trainer = make_trainer()
    trainer.run(LearnFromAll(), 1, stage="train")
    first, store = everything(trainer), CheckpointStore(memory_limit=0)
    store.put(0, checkpoint_of(trainer))
    trainer.run(LearnFromAll(), 1, stage="train")
    second = everything(trainer)
    store.put(1, checkpoint_of(trainer))
    folder = store._folder.name
    assert 0 in store
    trainer.run(LearnFromAll(), 1, stage="train")
    restore(store.get(1), trainer)
    assert_equal(everything(trainer), second)
    restore(store.get(0), trainer)
    assert_equal(everything(trainer), first)
    store.keep_only([1])
    assert 0 not in store
    store.clear()
    assert not Path(folder).exists()


def test_size_counts_weights_momentum_and_history(make_trainer):
    trainer = make_trainer(q=10)
    trainer.run(LearnFromAll(), 1, stage="train")
    n_parameters = sum(p.numel() for p in trainer.net.module_.parameters())
    size = checkpoint_of(trainer).nbytes
    assert size >= 2 * 4 * n_parameters + 11 * 400

from pathlib import Path

from skpresto._training.checkpoints import Checkpoint, CheckpointShelf
from skpresto._training.policy import LearnFromAll


def test_checkpoints_beyond_the_limit_go_to_disk_and_come_back_equal(
    make_trainer, everything, assert_equal
):
    trainer = make_trainer()
    trainer.run(LearnFromAll(), 1)
    first, shelf = everything(trainer), CheckpointShelf(memory_limit=0)
    shelf.put(0, Checkpoint.of(trainer.net))
    trainer.run(LearnFromAll(), 1)
    second = everything(trainer)
    shelf.put(1, Checkpoint.of(trainer.net))
    folder = shelf._folder.name
    assert 0 in shelf
    trainer.run(LearnFromAll(), 1)
    shelf.get(1).restore(trainer.net)
    assert_equal(everything(trainer), second)
    shelf.get(0).restore(trainer.net)
    assert_equal(everything(trainer), first)
    shelf.keep_only([1])
    assert 0 not in shelf
    shelf.clear()
    assert not Path(folder).exists()


def test_size_counts_weights_momentum_and_history(make_trainer):
    trainer = make_trainer(q=10)
    trainer.run(LearnFromAll(), 1)
    n_parameters = sum(p.numel() for p in trainer.net.module_.parameters())
    size = Checkpoint.of(trainer.net).nbytes
    assert size >= 2 * 4 * n_parameters + 11 * 400

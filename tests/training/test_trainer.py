import copy

import pytest
import torch
from skorch.callbacks import Callback, GradientNormClipping, LRScheduler
from torch import nn

from skpresto._methods._two_phases import LearnFromSafeSet
from skpresto._training.policy import LearnFromAll, Policy, Selection
from skpresto._training.stage import Stage
from skpresto.exceptions import TrainingDivergedError
from skpresto.modules import MLP
from skpresto.stopping import StopRule


class FixedStop(StopRule):
    """Choose one epoch from the start, and wait for a number of others."""

    def __init__(self, chosen=2, wait_for=6):
        self.chosen = chosen
        self.wait_for = wait_for

    def candidate(self, records):
        return min(self.chosen, len(records) - 1)

    def is_settled(self, records):
        return len(records) >= self.wait_for


class SelectNothing(Policy):
    def select(self, batch):
        return Selection(weights=torch.zeros_like(batch.losses))


SCHEDULES = {
    "built-in": [],
    "epochs": [LRScheduler(torch.optim.lr_scheduler.ExponentialLR, gamma=0.7)],
    "batches": [
        LRScheduler(
            torch.optim.lr_scheduler.CyclicLR,
            base_lr=0.01,
            max_lr=0.2,
            step_size_up=7,
            step_every="batch",
        )
    ],
    "plateau": [
        LRScheduler(
            torch.optim.lr_scheduler.ReduceLROnPlateau,
            monitor="train_loss",
            patience=0,
            threshold=0.5,
        )
    ],
}


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("dropout", [0.0, 0.5])
@pytest.mark.parametrize("optimizer", [torch.optim.SGD, torch.optim.AdamW])
def test_going_back_equals_never_having_gone_past(
    make_trainer, everything, assert_equal, schedule, dropout, optimizer
):
    params = {
        "module": MLP,
        "module__hidden": (8, 8),
        "module__dropout": dropout,
        "optimizer": optimizer,
        "optimizer__weight_decay": 5e-4,
        "lr": 0.05,
    }
    far = make_trainer(**params, callbacks=copy.deepcopy(SCHEDULES[schedule]))
    rule = FixedStop(chosen=2, wait_for=7)
    assert far.run(Stage("train", LearnFromAll(), 10, rule=rule))
    assert far.n_epochs == 7
    far.go_back_to(2)
    far.run(Stage("phase 2", LearnFromSafeSet(far.history), 5))

    near = make_trainer(**params, callbacks=copy.deepcopy(SCHEDULES[schedule]))
    near.run(Stage("train", LearnFromAll(), 3))
    near.run(Stage("phase 2", LearnFromSafeSet(near.history), 5))

    assert_equal(everything(far), everything(near))
    assert [r.epoch for r in far.records] == [1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7, 8]
    assert [r.stage for r in far.records] == ["train"] * 7 + ["phase 2"] * 5
    assert far.net.stage_ == "phase 2"


class LearnedTemperature(nn.Module):
    """A criterion with a parameter of its own."""

    def __init__(self):
        super().__init__()
        self.temperature = nn.Parameter(torch.ones(()))

    def forward(self, logits, labels):
        scaled = logits / self.temperature
        return nn.functional.cross_entropy(scaled, labels, reduction="none")


class CountsPasses(MLP):
    """A module with a buffer that is not saved with it."""

    def __init__(self, n_features, n_classes):
        super().__init__(n_features, n_classes, hidden=(8,))
        self.register_buffer("n_passes", torch.zeros(()), persistent=False)

    def forward(self, X):
        self.n_passes += self.training
        return super().forward(X)


def test_going_back_restores_criterion_and_unsaved_buffers(make_trainer):
    params = {"module": CountsPasses, "criterion": LearnedTemperature}
    far = make_trainer(**params)
    far.run(Stage("train", LearnFromAll(), 10, rule=FixedStop(chosen=2, wait_for=7)))
    far.go_back_to(2)
    far.run(Stage("train", LearnFromAll(), 1))
    near = make_trainer(**params)
    near.run(Stage("train", LearnFromAll(), 4))
    assert torch.equal(far.net.module_.n_passes, near.net.module_.n_passes)
    first, second = (t.net.criterion_.temperature for t in (far, near))
    assert torch.equal(first, second)
    assert first != 1


@pytest.mark.parametrize("optimizer", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad"])
def test_empty_selection_leaves_everything_as_it_was(
    make_trainer, everything, assert_equal, optimizer
):
    trainer = make_trainer(
        optimizer=getattr(torch.optim, optimizer),
        optimizer__weight_decay=1e-2,
        lr=0.01,
        callbacks=[LRScheduler(torch.optim.lr_scheduler.StepLR, step_size=100)],
    )
    trainer.run(Stage("train", LearnFromAll(), 2))
    before = everything(trainer)
    trainer.run(Stage("train", SelectNothing(), 1))
    after = everything(trainer)
    changing = ("predicted", "n_entries", "n_epochs", "schedule.0")
    for name in changing:
        before.pop(name), after.pop(name)
    assert len(before) > 10
    assert_equal(before, after)
    record = trainer.records[-1]
    assert record.n_skipped_batches == len(trainer.net.history[-1]["batches"]) == 7
    assert record.selected_fraction == 0.0


def test_checkpoints_are_kept_only_while_they_can_be_wanted(make_trainer):
    trainer = make_trainer()
    trainer.run(Stage("train", LearnFromAll(), 5, rule=FixedStop(chosen=3, wait_for=9)))
    assert trainer.checkpoints.epochs == [3, 4]


def test_a_rule_that_moves_backwards_raises(make_trainer):
    trainer = make_trainer()
    trainer.run(Stage("train", LearnFromAll(), 5, rule=FixedStop(chosen=3, wait_for=9)))
    with pytest.raises(ValueError, match="no checkpoint of epoch 2.*never move backw"):
        trainer.go_back_to(1)


def test_start_builds_a_new_network_with_an_empty_history(make_trainer):
    trainer = make_trainer()
    trainer.run(Stage("train", LearnFromAll(), 3))
    first = trainer.net.module_
    trainer.start()
    assert trainer.net.module_ is not first
    assert trainer.n_epochs == 0
    assert not trainer.history.is_visited().any()
    assert trainer.net.optimizer_.param_groups[0]["lr"] == 0.1


def test_start_can_change_the_number_of_networks_and_keep_the_old_ones(make_trainer):
    trainer = make_trainer()
    trainer.start(n_networks=3)
    trainer.run(Stage("train", LearnFromAll(), 2))
    folds = trainer.net.networks
    before = [[p.clone() for p in network.parameters()] for network in folds]
    trainer.start(n_networks=2, folds=folds)
    assert len(trainer.net.networks) == 2
    trainer.run(Stage("train", LearnFromAll(), 2))
    after = [list(network.parameters()) for network in folds]
    for old, new in zip(before, after, strict=True):
        assert all(map(torch.equal, old, new))
    X = torch.as_tensor(trainer.data.X.source)
    with torch.no_grad():
        fresh, old = (
            torch.stack([torch.log_softmax(n.eval()(X), dim=1) for n in networks])
            for networks in (trainer.net.networks, folds)
        )
        together = torch.softmax(trainer.net.module_.eval()(X), dim=1)
    assert (len(fresh), len(old)) == (2, 3)
    weighted = 0.8 * fresh.mean(dim=0) + 0.2 * old.mean(dim=0)
    expected = torch.softmax(weighted, dim=1)
    assert torch.allclose(together, expected, atol=1e-6)


def test_held_out_rows_are_not_visited_and_their_error_is_measured(make_trainer):
    trainer = make_trainer()
    holdout = torch.arange(0, 400, 10)
    trainer.run(Stage("train", LearnFromAll(), 2, holdout=holdout))
    assert not trainer.history.is_visited()[holdout].any()
    assert trainer.history.is_visited().sum() == 360
    assert 0 < trainer.records[-1].holdout_error < 1
    assert trainer.records[-1].n_holdout == 40
    trainer.predict_unseen_samples()
    assert trainer.history.is_visited().all()


def test_records_agree_with_a_hand_count(make_trainer):
    trainer = make_trainer(q=1)
    trainer.run(Stage("train", LearnFromAll(), 1))
    before = trainer.history.newest().clone()
    trainer.run(Stage("train", LearnFromAll(), 1))
    first, second = trainer.records
    now = trainer.history.newest()
    wrong = now != trainer.labels
    assert first.changed_fraction == 1.0
    assert second.changed_fraction == pytest.approx((now != before).double().mean())
    assert second.train_error == pytest.approx(wrong.double().mean().item())
    # With one entry per sample, memorized is predicted.
    assert second.memorized_fraction == pytest.approx(1 - second.train_error)
    correct = trainer.data.is_correct
    both = (~wrong & correct).sum().item()
    assert second.memorization_precision == both / (~wrong).sum().item()
    assert second.memorization_recall == both / correct.sum().item()
    assert second.selected_fraction == 1.0


class NaNAfter(nn.Module):
    def __init__(self, n_features, n_classes, healthy_steps):
        super().__init__()
        self.linear = nn.Linear(n_features, n_classes)
        self.healthy_steps = healthy_steps

    def forward(self, X):
        if self.training:
            self.healthy_steps -= 1
        return self.linear(X) * (1.0 if self.healthy_steps >= 0 else float("nan"))


def test_divergence_names_the_learning_rate(make_trainer):
    trainer = make_trainer(module=NaNAfter, module__healthy_steps=8, lr=0.25)
    trainer.run(Stage("train", LearnFromAll(), 1))
    with pytest.raises(TrainingDivergedError, match=r"epoch 2 is nan.*lr=0\.25"):
        trainer.run(Stage("train", LearnFromAll(), 1))


class Listener(Callback):
    def __init__(self):
        self.heard = []

    def on_batch_begin(self, net, batch=None, training=None, **kwargs):
        self.heard.append(("begin", len(batch[0]), len(batch[1])))

    def on_batch_end(self, net, batch=None, training=None, loss=None, **kwargs):
        self.heard.append(("end", loss.ndim))

    def on_epoch_end(self, net, **kwargs):
        self.heard.append(("epoch", net.history[-1, "train_loss"] > 0))


def test_callbacks_hear_of_batches_and_epochs(make_trainer):
    trainer = make_trainer(callbacks=[("listener", Listener)], batch_size=200)
    trainer.run(Stage("train", LearnFromAll(), 1))
    heard = dict(trainer.net.callbacks_)["listener"].heard
    assert heard == [("begin", 200, 200), ("end", 0)] * 2 + [("epoch", True)]


def test_gradient_clipping_is_heard(make_trainer, everything):
    plain, clipped = (
        make_trainer(callbacks=callbacks)
        for callbacks in ([], [GradientNormClipping(gradient_clip_value=1e-6)])
    )
    start = everything(clipped)["module.0.weight"]
    plain.run(Stage("train", LearnFromAll(), 1))
    clipped.run(Stage("train", LearnFromAll(), 1))
    moved = (everything(clipped)["module.0.weight"] - start).abs().max()
    assert 0 < moved < 1e-4
    assert not torch.equal(
        everything(plain)["module.0.weight"], everything(clipped)["module.0.weight"]
    )


def test_nothing_of_the_training_stays_on_the_net(make_trainer):
    trainer = make_trainer()
    trainer.run(Stage("train", LearnFromAll(), 1))
    trainer.finish()
    assert "blueprint" not in vars(trainer.net)
    assert trainer.net.callbacks == trainer.net.callbacks_ == []
    samples = trainer.data.X, trainer.data.X.source
    assert not any(v is x for v in vars(trainer.net).values() for x in samples)

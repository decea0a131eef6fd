"""An epoch of training equals the same epoch written in plain torch."""

import copy

import pytest
import torch
from torch.nn.functional import cross_entropy, log_softmax

from skpresto._label_quality.recorder import Recorder
from skpresto._training.policy import LearnFromAll, Policy, Selection
from skpresto._training.stage import Stage

PLAIN = {"module__dropout": 0.0, "module__hidden": (8,), "batch_size": 80}


def in_plain_torch(networks, trainer, loss_of_batch, n_epochs=2):
    """Train networks one by one on the batches that the trainer will draw."""
    X, labels = torch.as_tensor(trainer.data.X.source), trainer.data.labels
    state = torch.get_rng_state()
    batches = [b for _ in range(n_epochs) for b in torch.randperm(400).split(80)]
    torch.set_rng_state(state)
    for k, network in enumerate(networks):
        network.train()
        optimizer = torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9)
        for rows in batches:
            optimizer.zero_grad()
            loss_of_batch(k, rows, network(X[rows]), labels[rows]).backward()
            optimizer.step()


def assert_same_networks(first, second):
    for one, other in zip(first, second, strict=True):
        values = zip(
            one.state_dict().values(), other.state_dict().values(), strict=True
        )
        for value, expected in values:
            torch.testing.assert_close(value, expected, rtol=1e-4, atol=1e-5)


def check_against_plain_torch(trainer, policy, loss_of_batch):
    twins = copy.deepcopy(trainer.net.networks)
    in_plain_torch(twins, trainer, loss_of_batch)
    before = copy.deepcopy(trainer.net.networks)
    trainer.run(Stage("train", policy, 2))
    assert_same_networks(trainer.net.networks, twins)
    with pytest.raises(AssertionError):
        assert_same_networks(before, twins)


class Select(Policy):
    """Return what a function makes of each batch."""

    def __init__(self, select):
        self.select = select

    def select(self, batch):
        raise NotImplementedError


both_numbers = pytest.mark.parametrize("n_networks", [1, 2])


@both_numbers
def test_an_objective_adds_a_loss_term_with_gradients(make_trainer, n_networks):
    """Here the negative entropy of the prediction."""

    def objective(logits, losses):
        assert logits.requires_grad
        assert losses.requires_grad
        assert logits.shape[:2] == losses.shape
        assert len(logits) == n_networks
        logarithms = log_softmax(logits, dim=2)
        return losses + 0.5 * (logarithms.exp() * logarithms).sum(dim=2)

    def loss_of_batch(k, rows, outputs, labels):
        logarithms = log_softmax(outputs, dim=1)
        extra = (logarithms.exp() * logarithms).sum(dim=1).mean()
        return cross_entropy(outputs, labels) + 0.5 * extra

    trainer = make_trainer(**PLAIN, n_networks=n_networks)
    policy = Select(lambda batch: Selection(objective=objective))
    check_against_plain_torch(trainer, policy, loss_of_batch)


@both_numbers
def test_an_objective_may_couple_the_networks(make_trainer, n_networks):
    """The gradient of one network's term with respect to another one arrives."""

    def objective(logits, losses):
        return losses + logits.mean(dim=0).square().mean(dim=1)

    trainer = make_trainer(**PLAIN, n_networks=n_networks)
    twins = copy.deepcopy(trainer.net.networks)
    parameters = [p for twin in twins for p in twin.parameters()]
    optimizer = torch.optim.SGD(parameters, lr=0.1, momentum=0.9)
    X, labels = torch.as_tensor(trainer.data.X.source), trainer.data.labels
    state = torch.get_rng_state()
    for rows in torch.randperm(400).split(80):
        outputs = torch.stack([twin.train()(X[rows]) for twin in twins])
        own = sum(cross_entropy(output, labels[rows]) for output in outputs)
        shared = outputs.mean(dim=0).square().mean(dim=1).mean()
        optimizer.zero_grad()
        (own + n_networks * shared).backward()
        optimizer.step()
    torch.set_rng_state(state)
    policy = Select(lambda batch: Selection(objective=objective))
    trainer.run(Stage("train", policy, 1))
    assert_same_networks(trainer.net.networks, twins)


@both_numbers
def test_an_objective_sees_the_losses_of_the_targets(make_trainer, n_networks):
    targets = torch.arange(400) % 4

    def loss_of_batch(k, rows, outputs, labels):
        return 2 * cross_entropy(outputs, targets[rows])

    trainer = make_trainer(**PLAIN, n_networks=n_networks)
    policy = Select(
        lambda batch: Selection(
            targets=targets[batch.index], objective=lambda logits, losses: 2 * losses
        )
    )
    check_against_plain_torch(trainer, policy, loss_of_batch)


@both_numbers
@pytest.mark.parametrize("per_network", [False, True])
def test_probabilities_as_targets_are_learned_by_soft_cross_entropy(
    make_trainer, n_networks, per_network
):
    generator = torch.Generator().manual_seed(0)
    soft = torch.rand(n_networks, 400, 4, generator=generator).softmax(dim=2)
    if not per_network:
        soft = soft[0]

    def loss_of_batch(k, rows, outputs, labels):
        return cross_entropy(outputs, soft[k][rows] if per_network else soft[rows])

    trainer = make_trainer(**PLAIN, n_networks=n_networks)
    policy = Select(lambda batch: Selection(targets=soft[..., batch.index, :]))
    check_against_plain_torch(trainer, policy, loss_of_batch)


def weighted_mean(losses, weights):
    total = sum(weights)
    return sum(w * loss for w, loss in zip(weights, losses, strict=True)) / total


@both_numbers
def test_sample_weights_are_those_of_a_weighted_mean(make_trainer, n_networks):
    weights = torch.tensor([1.0, 2.0, 0.5, 0.25]).repeat(100)

    def loss_of_batch(k, rows, outputs, labels):
        losses = cross_entropy(outputs, labels, reduction="none")
        return weighted_mean(losses, weights[rows].tolist())

    trainer = make_trainer(**PLAIN, n_networks=n_networks, weights=weights)
    check_against_plain_torch(trainer, LearnFromAll(), loss_of_batch)


def test_rows_of_weight_zero_are_not_visited(make_trainer):
    is_weighted = torch.arange(400) % 3 > 0
    trainer = make_trainer(**PLAIN, weights=is_weighted.float())
    trainer.run(Stage("train", LearnFromAll(), 1))
    assert torch.equal(trainer.history.is_visited(), is_weighted)
    assert trainer.records[-1].selected_fraction == 1.0


@both_numbers
def test_sample_weights_multiply_the_weights_of_the_policy(make_trainer, n_networks):
    own = 1.0 + torch.arange(400) % 3
    chosen = torch.stack([torch.arange(400) % 2, torch.arange(400) % 5]).float()
    chosen = chosen[:n_networks]

    def loss_of_batch(k, rows, outputs, labels):
        losses = cross_entropy(outputs, labels, reduction="none")
        return weighted_mean(losses, (own[rows] * chosen[k, rows]).tolist())

    trainer = make_trainer(**PLAIN, n_networks=n_networks, weights=own)
    policy = Select(lambda batch: Selection(weights=chosen[:, batch.index]))
    check_against_plain_torch(trainer, policy, loss_of_batch)


@pytest.mark.filterwarnings("ignore:Detected call of `lr_scheduler.step")
def test_a_batch_whose_sample_weights_are_all_zero_changes_nothing(
    make_trainer, everything
):
    trainer = make_trainer(**PLAIN)
    # Weights above zero can become zero in half precision.
    trainer.sample_weight = torch.zeros(400)
    before = everything(trainer)
    trainer.run(Stage("train", LearnFromAll(), 1))
    after = everything(trainer)
    for name, value in before.items():
        if name.startswith(("module", "optimizer")):
            assert torch.equal(value, after[name])
    assert trainer.records[-1].n_skipped_batches == 5


def test_equal_sample_weights_change_nothing(make_trainer):
    weighted = make_trainer(**PLAIN, weights=torch.ones(400))
    weighted.run(Stage("train", LearnFromAll(), 2))
    plain = make_trainer(**PLAIN)
    plain.run(Stage("train", LearnFromAll(), 2))
    assert_same_networks(weighted.net.networks, plain.net.networks)


class Seen(Recorder):
    """Collect batches."""

    def __init__(self):
        self.batches = []
        self.n_epochs = 0

    def record(self, batch):
        self.batches.append(batch)

    def end_epoch(self):
        self.n_epochs += 1


def test_a_recorder_sees_every_batch_of_every_network(make_trainer):
    trainer = make_trainer(**PLAIN, n_networks=2)
    seen, folds = Seen(), torch.arange(400) % 2
    stage = Stage("train", LearnFromAll(), 2, recorders=[seen], folds=folds)
    trainer.run(stage)
    assert seen.n_epochs == 2
    in_epoch = [[b for b in seen.batches if b.epoch == epoch] for epoch in (0, 1)]
    for batches in in_epoch:
        index = torch.cat([batch.index for batch in batches])
        assert sorted(index.tolist()) == list(range(400))
    assert {batch.logits.shape for batch in seen.batches} == {(2, 80, 4)}
    assert not any(batch.logits.requires_grad for batch in seen.batches)
    for batch in seen.batches:
        assert torch.equal(batch.fold, folds[batch.index])
        assert torch.equal(batch.labels, trainer.labels[batch.index])


class CompareViews(Policy):
    """Add the distance between the outputs for a batch and for twice its features."""

    needs_views = True

    def select(self, batch):
        def objective(logits, losses):
            doubled = batch.view(lambda X: 2 * X)
            assert doubled.shape == logits.shape
            return losses + 0.01 * (logits - doubled).square().sum(dim=2)

        return Selection(objective=objective)


def _shifted_in_place(network, args):
    args[0].add_(1)


@both_numbers
def test_gradients_flow_through_a_second_view(make_trainer, n_networks):
    """Also of modules that work in place, and with the statistics of BatchNorm."""
    trainer = make_trainer(**PLAIN, n_networks=n_networks)
    for network in trainer.net.networks:
        network.register_forward_pre_hook(_shifted_in_place)
    X = torch.as_tensor(trainer.data.X.source)
    twins = copy.deepcopy(trainer.net.networks)

    def loss_of_batch(k, rows, outputs, labels):
        distance = (outputs - twins[k](2 * X[rows])).square().sum(dim=1)
        return cross_entropy(outputs, labels) + 0.01 * distance.mean()

    in_plain_torch(twins, trainer, loss_of_batch)
    trainer.run(Stage("train", CompareViews(), 2))
    assert_same_networks(trainer.net.networks, twins)

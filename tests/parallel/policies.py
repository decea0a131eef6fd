"""Policies, modules and criteria that test what is shared in a step."""

import warnings

import torch
from torch import nn

from skpresto import DefaultClassifier
from skpresto._classifier.check import check_fit
from skpresto._classifier.spec import build_net
from skpresto._training.context import current_context
from skpresto._training.policy import Policy, Selection
from skpresto._training.stage import Stage
from skpresto._training.trainer import Trainer
from tests.parallel.cases import Double, block, noisy_blobs


class Select(Policy):
    """Return what a function makes of each batch."""

    needs_views = True

    def __init__(self, name):
        self.select = SELECTIONS[name]

    def select(self, batch):
        raise NotImplementedError


def _weights(batch, is_selected):
    return is_selected.to(batch.losses.dtype).expand_as(batch.losses).clone()


def first_half(batch):
    """Nothing in the rows of the last process."""
    return Selection(weights=_weights(batch, torch.arange(len(batch.index)) < 9))


def sometimes_nothing(batch):
    """Nothing in any process, in some batches."""
    is_any = batch.index.sum() % 2 == 0
    return Selection(weights=_weights(batch, is_any.expand(len(batch.index))))


def one_network(batch):
    """Nothing for one of the networks, in turn."""
    weights = torch.ones_like(batch.losses)
    weights[batch.index[0] % len(weights)] = 0
    return Selection(weights=weights)


def other_targets(batch):
    """Class numbers that differ between networks."""
    shifts = torch.arange(len(batch.losses)).unsqueeze(1)
    return Selection(targets=(batch.labels + shifts) % 4)


def soft_targets(batch):
    """Class probabilities, and weights of any size."""
    targets = torch.softmax(batch.logits.flip(1) + 1, dim=-1)
    return Selection(weights=batch.losses.exp(), targets=targets)


def objective(batch):
    """A further term in which the rows of a batch mix."""

    def mixed(logits, losses):
        return losses + 0.1 * logits.mean(dim=1).square().sum(dim=-1, keepdim=True)

    return Selection(objective=mixed)


def second_view(batch):
    """The distance to the outputs for twice the features."""

    def compared(logits, losses):
        distance = (logits - batch.view(lambda X: 2 * X)).square().sum(dim=2)
        return losses + 0.01 * distance

    return Selection(objective=compared)


SELECTIONS = {
    function.__name__: function
    for function in (
        first_half,
        sometimes_nothing,
        one_network,
        other_targets,
        soft_targets,
        objective,
        second_view,
    )
}


class ScaledLoss(nn.Module):
    """A criterion with a parameter that is trained."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, outputs, targets):
        losses = nn.functional.cross_entropy(outputs, targets, reduction="none")
        return losses * self.scale.square() + (1 - self.scale).square()


class WithConstants(Double):
    """A network with infinite constants, and with parameters it does not use."""

    def __init__(self, n_features, n_classes):
        super().__init__(n_features, n_classes)
        self.unused = nn.Linear(2, 2).double()
        self.register_buffer("constants", torch.tensor([0.1, -torch.inf, torch.nan]))

    def forward(self, X):
        X = X.double()
        for layer in list(self)[:3]:
            X = layer(X)
        return X


def train(policy, is_parallel=True, n_networks=1, **params):
    """Train under a policy; return weights, optimizer state and losses."""
    settings = {"max_epochs": 3, "batch_size": 19, "random_state": 0, "module": Double}
    estimator = DefaultClassifier(**{**settings, **params})
    X, y = noisy_blobs(100)
    data = check_fit(estimator, X, y, None, None, None, None).data
    with torch.random.fork_rng(devices=[]), block(is_parallel):
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        net, blueprint = build_net(estimator, data)
        trainer = Trainer(net, blueprint, data, 3, context=current_context())
        trainer.start(n_networks, must_differ=n_networks > 1)
        trainer.run(Stage("train", Select(policy), 3))
    state = net.optimizer_.state_dict()["state"].values()
    return {
        **nn.ModuleList([net.module_, net.criterion_]).state_dict(),
        **{f"momentum {i}": v["momentum_buffer"] for i, v in enumerate(state)},
        "losses": torch.tensor([record.train_loss for record in trainer.records]),
        "skipped": torch.tensor([r.n_skipped_batches for r in trainer.records]),
    }

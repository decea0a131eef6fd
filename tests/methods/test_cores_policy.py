"""The regularizer, the sieve and the prior of CORES, by loops."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from skpresto._data.batch import Batch
from skpresto._methods.cores import ConfidenceRegularization

N_EPOCHS = {"warm_up": 2, "ramp_epochs": 4, "sieve_from": 3}


class NaiveCores:
    """The rule of the release, sample by sample, on lists."""

    def __init__(self, labels, n_classes, beta):
        self.labels, self.n_classes, self.beta = labels, n_classes, beta
        self.prior = [labels.count(k) / len(labels) for k in range(n_classes)]

    def weight(self, epoch):
        grown = [self.beta * i / 3 for i in range(4)]  # a linspace of four epochs
        return ([0.0, 0.0] + grown + [self.beta] * 9)[epoch]

    def epoch(self, epoch, rows):
        """Return the loss of each sample, None for those sieved; update the prior."""
        beta, losses, sieved = self.weight(epoch), [], [0] * self.n_classes
        for label, row in zip(self.labels, rows, strict=True):
            total = sum(math.exp(z) for z in row)
            of_classes = [-math.log(math.exp(z) / total + 1e-8) for z in row]
            is_above = of_classes[label] > sum(of_classes) / len(of_classes)
            if epoch >= 3 and is_above:
                sieved[label] += 1
                losses.append(None)
                continue
            reward = sum(p * x for p, x in zip(self.prior, of_classes, strict=True))
            losses.append((of_classes[label] - beta * reward) / (1 + beta))
        left = [self.labels.count(k) - sieved[k] for k in range(self.n_classes)]
        if sum(left):
            self.prior = [n / sum(left) for n in left]
        return losses


def is_clear(row):
    """Return whether no class is about as likely as classes are on average."""
    return all(abs(z - sum(row) / len(row)) > 1e-3 for z in row)


rows = st.lists(st.floats(-6, 6, width=32), min_size=3, max_size=3).filter(is_clear)
epochs = st.lists(st.lists(rows, min_size=4, max_size=4), min_size=7, max_size=7)


@given(
    labels=st.lists(st.integers(0, 2), min_size=4, max_size=4),
    epochs=epochs,
    beta=st.floats(0, 4),
)
def test_policy_equals_its_naive_twin(labels, epochs, beta):
    policy = ConfidenceRegularization(
        torch.tensor(labels), 3, None, beta=beta, **N_EPOCHS
    )
    twin = NaiveCores(labels, 3, beta)
    for epoch, drawn in enumerate(epochs):
        logits, index = torch.tensor([drawn]), torch.tensor([2, 0, 3, 1])
        given_labels = torch.tensor(labels)[index]
        losses = torch.nn.functional.cross_entropy(
            logits[0, index], given_labels, reduction="none"
        )
        batch = Batch(index, given_labels, logits[:, index], losses[None], epoch)
        selection = policy.select(batch)
        found = losses[None]
        if selection.objective is not None:
            found = selection.objective(batch.logits, found)
        expected = twin.epoch(epoch, drawn)
        for i, kept, loss in zip(index, selection.weights[0], found[0], strict=True):
            assert bool(kept) == (expected[i] is not None)
            if kept:
                assert loss.item() == pytest.approx(expected[i], rel=1e-3, abs=5e-3)
        policy.end_epoch()
        assert policy.prior.tolist() == pytest.approx(twin.prior)
        assert policy.selected.tolist() == [x is not None for x in expected]


def test_rows_without_weight_have_no_part_in_the_prior():
    labels, rows = torch.tensor([0, 0, 0, 1]), torch.tensor([2, 3])
    policy = ConfidenceRegularization(labels, 3, rows, beta=1.0, **N_EPOCHS)
    assert policy.prior.tolist() == [0.5, 0.5, 0]


def test_the_reward_is_limited():
    policy = ConfidenceRegularization(
        torch.tensor([0, 1]), 2, None, beta=2.0, **N_EPOCHS
    )
    logits = torch.tensor([[[1e6, -1e6], [-1e6, 1e6]]], requires_grad=True)
    batch = Batch(torch.arange(2), policy.labels, logits.detach(), torch.zeros(1, 2), 6)
    loss = policy.select(batch).objective(logits, torch.zeros(1, 2)).sum()
    loss.backward()
    assert loss.item() == pytest.approx(-2 * 2 * 0.5 * -math.log(1e-8) / 3, rel=1e-4)
    assert torch.isfinite(logits.grad).all()

"""One loss per sample, from class numbers or class probabilities."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn.functional import cross_entropy

from skpresto._networks.forward import sample_losses

CRITERION = nn.CrossEntropyLoss(reduction="none")


@st.composite
def outputs_and_targets(draw):
    """Draw logits of one or two networks, and class numbers and probabilities.

    Batches are often as large as there are classes, or networks.
    """
    n_networks = draw(st.sampled_from([None, 1, 2]))
    n_classes = draw(st.integers(2, 3))
    n_samples = draw(st.integers(1, 4))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(draw(st.integers(0, 999)))
        leading = () if n_networks is None else (n_networks,)
        outputs = torch.randn(*leading, n_samples, n_classes)
        own = leading if draw(st.booleans()) else ()
        numbers = torch.randint(0, n_classes, (*own, n_samples))
        probabilities = torch.rand(*own, n_samples, n_classes).softmax(dim=-1)
    return outputs, numbers, probabilities


def naive_losses(outputs, targets, of_sample):
    """Return the loss of each network and sample by a loop."""
    networks = outputs if outputs.dim() == 3 else outputs.unsqueeze(0)
    losses = []
    for k, logits in enumerate(networks):
        own = targets[k] if targets.dim() > of_sample + 1 else targets
        pairs = zip(logits.log_softmax(dim=1), own, strict=True)
        for logarithms, target in pairs:
            loss = logarithms[target] if of_sample == 0 else logarithms @ target
            losses.append(-loss.item())
    return losses


@given(outputs_and_targets())
def test_integers_are_class_numbers_whatever_their_shape(drawn):
    outputs, numbers, _ = drawn
    losses = sample_losses(CRITERION, outputs, numbers)
    assert losses.tolist() == pytest.approx(naive_losses(outputs, numbers, 0), abs=1e-5)


@given(outputs_and_targets())
def test_floats_are_probabilities_whatever_their_shape(drawn):
    outputs, _, probabilities = drawn
    losses = sample_losses(CRITERION, outputs, probabilities)
    expected = naive_losses(outputs, probabilities, 1)
    assert losses.tolist() == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("n_networks", [1, 2])
def test_numbers_of_k_networks_are_not_taken_for_probabilities(n_networks):
    """With two samples of two classes, (k, b) could be (b, n_classes)."""
    torch.manual_seed(0)
    outputs = torch.randn(n_networks, 2, 2)
    numbers = torch.tensor([[1, 0], [0, 1]])[:n_networks]
    losses = sample_losses(CRITERION, outputs, numbers).view(n_networks, 2)
    for k in range(n_networks):
        expected = cross_entropy(outputs[k], numbers[k], reduction="none")
        assert torch.equal(losses[k], expected)
    shared = torch.tensor([[0.25, 0.75], [1.0, 0.0]])
    losses = sample_losses(CRITERION, outputs, shared).view(n_networks, 2)
    for k in range(n_networks):
        expected = cross_entropy(outputs[k], shared, reduction="none")
        torch.testing.assert_close(losses[k], expected)


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4)])
@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_a_criterion_with_one_loss_per_batch_is_refused(shape, reduction):
    outputs, criterion = torch.zeros(shape), nn.CrossEntropyLoss(reduction=reduction)
    with pytest.raises(ValueError, match=r"one loss per sample.*returned \(\)"):
        sample_losses(criterion, outputs, torch.zeros(3, dtype=torch.int64))

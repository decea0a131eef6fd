"""The policy of forward correction replaces the criterion."""

import numpy as np
import pytest
import torch

from skpresto._data.batch import Batch
from skpresto._methods.forward_correction import LearnForwardCorrected
from skpresto.losses import ForwardCorrectionLoss


@pytest.mark.parametrize("n_networks", [1, 2])
def test_losses_are_those_of_the_corrected_loss(n_networks):
    matrix = np.array([[0.7, 0.3, 0.0], [0.0, 0.7, 0.3], [0.3, 0.0, 0.7]])
    policy = LearnForwardCorrected(ForwardCorrectionLoss(matrix, reduction="none"))
    torch.manual_seed(0)
    logits, labels = torch.randn(n_networks, 5, 3), torch.tensor([0, 1, 2, 0, 1])
    batch = Batch(torch.arange(5), labels, logits, torch.zeros(n_networks, 5), 0)
    selection = policy.select(batch)
    assert selection.weights is None
    losses = selection.objective(logits, batch.losses)
    for k in range(n_networks):
        for i, y in enumerate(labels):
            p = logits[k, i].softmax(dim=0).numpy()
            noisy = sum(p[c] * matrix[c, y] for c in range(3))
            assert losses[k, i].item() == pytest.approx(-np.log(noisy), rel=1e-5)

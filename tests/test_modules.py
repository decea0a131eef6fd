import pytest
import torch

from skpresto.modules import MLP, SmallCNN


@pytest.mark.parametrize("hidden", [(), (8,), (8, 4)])
def test_mlp_has_the_layers_asked_for(hidden):
    module = MLP(5, 3, hidden=hidden)
    assert module(torch.zeros(2, 5)).shape == (2, 3)
    widths = [m.out_features for m in module if isinstance(m, torch.nn.Linear)]
    assert widths == [*hidden, 3]


@pytest.mark.parametrize("shape", [(1, 28, 28), (3, 32, 32), (1, 5, 7), (2, 1, 1)])
def test_small_cnn_takes_images_of_any_size(shape):
    module = SmallCNN(shape, n_classes=4, widths=(4, 8))
    assert module(torch.zeros(2, *shape)).shape == (2, 4)


def test_dropout_is_passed_on():
    dropouts = [m.p for m in MLP(5, 3, dropout=0.3).modules() if hasattr(m, "p")]
    assert dropouts == [0.3, 0.3]

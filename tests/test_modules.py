import copy
import pickle

import numpy as np
import pytest
import torch
from sklearn.base import clone
from torch import nn

from skpresto import PrestoppingClassifier
from skpresto.modules import MLP, VGG19, DenseNet, SmallCNN


def n_parameters(*modules):
    return sum(p.numel() for module in modules for p in module.parameters())


def parts(module, *kinds):
    return [part for part in module.modules() if isinstance(part, kinds)]


@pytest.fixture(scope="module")
def small():
    """Small networks of each kind for images of one channel, 8x8 pixels."""
    return {
        "SmallCNN": SmallCNN((1, 8, 8), 3, widths=(4,), dropout=0.3),
        "DenseNet": DenseNet((1, 8, 8), 3, depth=7, growth_rate=2, dropout=0.3),
        "VGG19": VGG19((1, 8, 8), 3, hidden=4, dropout=0.3),
    }


@pytest.fixture
def without_memory(monkeypatch):
    """Create weights on the meta device, without memory for their values."""
    monkeypatch.setattr(nn.init, "kaiming_normal_", lambda *args, **kwargs: None)
    with torch.device("meta"):
        yield


@pytest.mark.parametrize("hidden", [(), (8,), (8, 4)])
def test_mlp_has_the_given_hidden_layers(hidden):
    module = MLP(5, 3, hidden=hidden)
    assert module(torch.zeros(2, 5)).shape == (2, 3)
    widths = [m.out_features for m in module if isinstance(m, torch.nn.Linear)]
    assert widths == [*hidden, 3]


@pytest.mark.parametrize("shape", [(1, 28, 28), (3, 32, 32), (1, 5, 7), (2, 1, 1)])
def test_small_cnn_accepts_images_of_any_size(shape):
    module = SmallCNN(shape, n_classes=4, widths=(4, 8))
    assert module(torch.zeros(2, *shape)).shape == (2, 4)


def test_dropout_is_used(small):
    for module in [MLP(5, 3, dropout=0.3), *small.values()]:
        dropouts = [part.p for part in parts(module, nn.Dropout)]
        assert dropouts
        assert set(dropouts) == {0.3}


def naive_densenet_count(channels, n_classes, depth, growth_rate):
    """Count the parameters of each layer of the definition, without biases."""
    count, width = channels * 16 * 9, 16
    for block in range(3):
        for _ in range((depth - 4) // 3):
            count += 2 * width + width * growth_rate * 9
            width += growth_rate
        if block < 2:
            count += 2 * width + width * width
    return count + 2 * width + width * n_classes + n_classes


@pytest.mark.parametrize(
    ("shape", "n_classes", "depth", "growth_rate"),
    [((3, 32, 32), 10, 40, 12), ((3, 64, 64), 101, 25, 12), ((1, 8, 8), 3, 10, 4)],
)
def test_densenet_has_the_parameters_of_its_definition(
    without_memory, shape, n_classes, depth, growth_rate
):
    module = DenseNet(shape, n_classes, depth=depth, growth_rate=growth_rate)
    expected = naive_densenet_count(shape[0], n_classes, depth, growth_rate)
    assert n_parameters(module) == expected


def test_densenet_40_12_has_the_published_size(without_memory):
    module = DenseNet((3, 32, 32), 10)
    assert n_parameters(module) == 1_019_722  # "1.0M" in table 2 of Huang et al.
    n_weighted = len(parts(module, nn.Conv2d, nn.Linear))
    assert n_weighted == 40


def test_vgg19_has_the_published_size(without_memory):
    module = VGG19((3, 224, 224), 1000)
    normalization = parts(module, nn.BatchNorm1d, nn.BatchNorm2d)
    assert n_parameters(*parts(module, nn.Conv2d)) == 20_024_384
    assert n_parameters(module) - n_parameters(*normalization) == 143_667_240
    assert len(parts(module, nn.Conv2d, nn.Linear)) == 19


def test_vgg19_has_the_documented_size_on_cifar(without_memory):
    assert n_parameters(VGG19((3, 32, 32), 10)) == 38_975_306


@pytest.mark.parametrize("shape", [(3, 32, 32), (1, 28, 28), (2, 4, 9)])
def test_densenet_accepts_images_from_four_pixels(shape):
    module = DenseNet(shape, n_classes=5, depth=7, growth_rate=3)
    assert module(torch.zeros(2, *shape)).shape == (2, 5)


@pytest.mark.parametrize("shape", [(3, 64, 64), (1, 33, 28)])
def test_vgg19_accepts_images_of_any_size(shape):
    module = VGG19(shape, n_classes=5, hidden=8).eval()
    with torch.no_grad():
        assert module(torch.zeros(1, *shape)).shape == (1, 5)


@pytest.mark.parametrize("network", [DenseNet, VGG19])
@pytest.mark.parametrize("shape", [(64,), (28, 28), (0, 8, 8)])
def test_image_networks_refuse_other_shapes(network, shape):
    with pytest.raises(ValueError, match=r"needs images.*got input_shape=.*Use MLP"):
        network(shape, n_classes=3)


def test_densenet_refuses_images_below_four_pixels():
    with pytest.raises(ValueError, match=r"at least 4 x 4.*\(1, 3, 8\).*SmallCNN"):
        DenseNet((1, 3, 8), n_classes=3)


@pytest.mark.parametrize(
    ("depth", "way_out"), [(41, "40 or 43"), (42, "40 or 43"), (4, "7 or 10")]
)
def test_densenet_refuses_other_depths_and_names_the_nearest(depth, way_out):
    with pytest.raises(ValueError, match=rf"depth={depth}\. Use {way_out}"):
        DenseNet((3, 32, 32), n_classes=10, depth=depth)


@pytest.mark.parametrize("name", ["DenseNet", "VGG19"])
def test_every_layer_gets_a_gradient(small, name):
    module = copy.deepcopy(small[name]).train()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        X, y = torch.randn(6, 1, 8, 8), torch.tensor([0, 1, 2, 0, 1, 2])
        nn.functional.cross_entropy(module(X), y).backward()
    for layer in parts(module, nn.Conv2d, nn.Linear):
        assert layer.weight.grad.isfinite().all()
        assert layer.weight.grad.abs().sum() > 0


def test_networks_can_be_pickled(small):
    X = torch.ones(2, 1, 8, 8)
    for module in [nn.Sequential(nn.Flatten(), MLP(64, 3)), *small.values()]:
        with torch.no_grad():
            expected = module.eval()(X)
            torch.testing.assert_close(pickle.loads(pickle.dumps(module))(X), expected)


def test_classifiers_set_the_input_shape_of_densenet():
    rng = np.random.default_rng(0)
    y = np.repeat(["bright", "dark"], 24)
    X = (
        rng.normal(size=(48, 1, 8, 8))
        + np.where(y == "bright", 2, -2)[:, None, None, None]
    )
    clf = PrestoppingClassifier(
        DenseNet,
        module__depth=10,
        module__growth_rate=4,
        q=2,
        max_epochs=12,
        batch_size=16,
        random_state=0,
    )
    fitted = clone(clf).fit(X, y, y_true=y, X_val=X[::4], y_val=y[::4])
    assert fitted.score(X, y) > 0.9
    assert fitted.net_.module_.head.out_features == 2

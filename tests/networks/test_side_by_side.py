"""Networks in threads: the bits of one after another, and no thread of torch more."""

import threading
import time
import warnings

import numpy as np
import pytest
import torch
from torch import nn

from skpresto import (
    CoTeachingClassifier,
    CrossPrestoppingClassifier,
    PrestoppingClassifier,
)
from skpresto._networks.new import convolution_products
from skpresto._networks.side_by_side import in_threads
from skpresto._networks.stack import NetworkStack
from skpresto.modules import MLP, SmallCNN
from tests.discovery import quick


class DrawsOnce(nn.Sequential):
    """Draws from torch's generator in training, and notes in which thread."""

    def __init__(self, n_features=8, n_classes=3):
        super().__init__(nn.Linear(n_features, 16), nn.Linear(16, n_classes))
        self.threads = set()

    def forward(self, X):
        self.threads.add(threading.get_ident())
        noise = torch.rand(1) if self.training else 0
        return super().forward(X) + noise


class DrawsNothing(nn.Linear):
    pass


def trained(module, n_threads, n_networks=3):
    """Return a stack after four steps, and the last outputs and gradients."""
    torch.manual_seed(0)
    stack = NetworkStack([module(8, 3) for _ in range(n_networks)]).train()
    stack.n_threads = n_threads
    optimizer = torch.optim.SGD(stack.parameters(), lr=0.1)
    for _ in range(4):
        X, weights = torch.randn(20, 8), torch.rand(n_networks, 20, 3)
        optimizer.zero_grad()
        outputs = stack(X)
        (outputs * weights).sum().backward()
        optimizer.step()
    return stack, [outputs.detach(), *(p.grad for p in stack.parameters())]


@pytest.mark.parametrize("n_threads", [2, 3, 8])
@pytest.mark.parametrize("module", [MLP, DrawsOnce, DrawsNothing])
def test_threads_train_networks_to_the_same_bits(module, n_threads):
    _, expected = trained(module, 1)
    state = torch.get_rng_state()
    _, found = trained(module, n_threads)
    assert all(map(torch.equal, found, expected))
    assert torch.equal(torch.get_rng_state(), state)


def test_networks_that_draw_from_the_generator_of_torch_take_turns():
    own = threading.get_ident()
    stack, _ = trained(DrawsOnce, 2)
    assert stack.n_threads == 1
    assert all(network.threads == {own} for network in stack.networks)
    stack, _ = trained(DrawsNothing, 3)
    assert stack.n_threads == 3


def test_networks_draw_their_dropout_apart():
    torch.manual_seed(0)
    stack = NetworkStack([MLP(8, 3, dropout=0.5) for _ in range(2)]).train()
    stack.networks[1].load_state_dict(stack.networks[0].state_dict())
    outputs = stack(torch.randn(20, 8))
    assert not torch.allclose(outputs[0], outputs[1])
    assert all(part.generator is None for n in stack.networks for part in list(n)[3::4])


@pytest.mark.parametrize("grad", [True, False])
def test_tasks_have_one_thread_of_torch_and_the_modes_of_the_caller(grad):
    before = torch.get_num_threads()
    torch.set_num_threads(3)

    both = threading.Barrier(2, timeout=30)  # seconds

    def task():
        both.wait()
        return threading.get_ident(), torch.get_num_threads(), torch.is_grad_enabled()

    with torch.set_grad_enabled(grad):
        idents, n_threads, modes = zip(*in_threads([task] * 2, 2), strict=True)
    assert torch.get_num_threads() == 3
    torch.set_num_threads(before)
    assert len(set(idents)) == 2
    assert set(n_threads) == {1}
    assert set(modes) == {grad}


def test_an_error_in_a_thread_is_raised_when_all_have_ended():
    ended = []

    def fail():
        time.sleep(0.01)
        raise ArithmeticError

    def end():
        time.sleep(0.03)
        ended.append(1)

    for tasks in ([fail, end], [end, fail]):
        with pytest.raises(ArithmeticError):
            in_threads(tasks, 2)
    assert len(ended) == 2


@pytest.mark.parametrize(
    "clf",
    [
        quick(CrossPrestoppingClassifier, cv=3, max_epochs=4, random_state=0),
        quick(CoTeachingClassifier, noise_rate=0.2, max_epochs=3, random_state=0),
        quick(PrestoppingClassifier, max_epochs=3, random_state=0),
    ],
)
def test_fits_and_predictions_have_the_same_bits_for_every_number_of_jobs(clf, blobs):
    X, y = blobs
    found = []
    for n_jobs in (1, 2, 3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clf.set_params(n_jobs=n_jobs, module__hidden=(256, 256)).fit(X, y)
        found.append(clf.set_params(n_jobs=3).predict_proba(X))
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_products_of_convolutions_are_counted():
    network = SmallCNN((2, 6, 5), 3, widths=(4,))
    first, second = 6 * 5 * 4 * 2 * 9, 6 * 5 * 4 * 4 * 9
    X = torch.zeros(2, 2, 6, 5)
    assert convolution_products(network, lambda net: net(X)) == 2 * (first + second)

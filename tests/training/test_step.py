import copy
from functools import partial
from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from skpresto._methods._two_phases import LearnFromSafeSet
from skpresto._networks.new import prepare_optimizer
from skpresto._networks.stack import NetworkStack, networks_of
from skpresto._training import machinery
from skpresto._training.policy import LearnFromAll
from skpresto._training.stage import Stage
from skpresto._training.step import Step, StepUnlessEmpty

OPTIMIZERS = {
    "SGD": (torch.optim.SGD, {"momentum": 0.9, "weight_decay": 0.01}),
    "plain SGD": (torch.optim.SGD, {}),
    "Nesterov": (torch.optim.SGD, {"momentum": 0.9, "nesterov": True}),
    "Adam": (torch.optim.Adam, {"weight_decay": 0.01}),
    "AdamW": (torch.optim.AdamW, {}),
    "Adagrad": (torch.optim.Adagrad, {"lr_decay": 0.1}),
}


@pytest.fixture(params=OPTIMIZERS)
def make_optimizer(request):
    """Return a function that makes a fused optimizer of some kind."""
    kind, params = OPTIMIZERS[request.param]

    def make(module):
        optimizer = kind(module.parameters(), lr=0.1, fused=True, **params)
        prepare_optimizer(optimizer)
        return optimizer

    return make


def network():
    return nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 4))


def net_of(module, optimizer, scaler=None):
    """Return what a step needs of a net."""
    return SimpleNamespace(
        module_=module,
        networks=networks_of(module),
        optimizer_=optimizer,
        scaler_=scaler,
        is_heard=lambda *hooks: False,
        infer=module.train(),
    )


def learn(step, module, weights):
    """Take a step on data that depend on nothing but their shape."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        X, y = torch.randn(weights.shape[1], 3), torch.arange(weights.numel()) % 4
    logits = step.forward(X, len(X)).view(-1, 4)
    step.learn(nn.functional.cross_entropy(logits, y, reduction="none"), weights)


def numbers(module, optimizer):
    states = optimizer.state_dict()["state"].values()
    return copy.deepcopy(
        [*module.state_dict().values()]
        + [v for state in states for v in state.values() if torch.is_tensor(v)]
    )


#: Two ways to leave a step out.
SKIPPING = {
    "after a look": partial(Step, may_skip=True),
    "on the device": StepUnlessEmpty,
}
WEIGHTS = [(1, 1, 0, 1, 0, 1), (0,) * 6, (0, 0, 1, 1, 1, 1), (1,) * 6, (0,) * 6]


def test_steps_left_out_on_the_device_are_those_left_out_after_a_look(make_optimizer):
    results = []
    for kind in SKIPPING:
        torch.manual_seed(0)
        module = network()
        optimizer = make_optimizer(module)
        net = net_of(module, optimizer)
        assert StepUnlessEmpty.serves(net)
        step = SKIPPING[kind](net)
        for weights in (WEIGHTS[1], *WEIGHTS):
            learn(step, module, torch.tensor([weights]).float())
        results.append(numbers(module, optimizer))
        assert not hasattr(optimizer, "found_inf")
    for looked, unlooked in zip(*results, strict=True):
        assert torch.equal(looked, unlooked)


@pytest.mark.parametrize("kind", SKIPPING)
def test_an_empty_selection_changes_nothing(make_optimizer, kind):
    module = network()
    optimizer = make_optimizer(module)
    step = SKIPPING[kind](net_of(module, optimizer))
    learn(step, module, torch.ones(1, 6))
    before = numbers(module, optimizer)
    learn(step, module, torch.zeros(1, 6))
    assert all(map(torch.equal, numbers(module, optimizer), before))


def test_one_network_of_two_can_be_idle_from_the_first_batch_on(make_optimizer):
    torch.manual_seed(0)
    both = NetworkStack([network(), network()])
    step = Step(net_of(both, make_optimizer(both)), may_skip=True)
    first, second = copy.deepcopy(both.networks)
    learn(step, both, torch.tensor([[0.0] * 6, [1.0] * 6]))
    for name, value in both.networks[0].state_dict().items():
        assert torch.equal(value, first.state_dict()[name])
    assert not torch.equal(both.networks[1][0].weight, second[0].weight)
    learn(step, both, torch.ones(2, 6))
    assert not torch.equal(both.networks[0][0].weight, first[0].weight)


def test_parameters_may_join_after_the_first_step(make_optimizer):
    module = network()
    module[0].requires_grad_(False)
    optimizer = make_optimizer(module)
    step = Step(net_of(module, optimizer), may_skip=False)
    learn(step, module, torch.ones(1, 6))
    module[0].requires_grad_(True)
    before = module[0].weight.clone()
    learn(step, module, torch.ones(1, 6))
    assert not torch.equal(module[0].weight, before)


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_momentum_from_zero_is_momentum_from_the_first_gradient(momentum):
    results = []
    for begins in (False, True):
        torch.manual_seed(0)
        module = network()
        optimizer = torch.optim.SGD(
            module.parameters(), lr=0.1, momentum=momentum, fused=True
        )
        if begins:
            prepare_optimizer(optimizer)
        step = Step(net_of(module, optimizer), may_skip=False)
        for _ in range(3):
            learn(step, module, torch.ones(1, 6))
        results.append(numbers(module, optimizer))
    assert all(map(torch.equal, *results))


def test_weights_count_in_the_mean():
    module = nn.Linear(1, 1, bias=False)
    optimizer = torch.optim.SGD(module.parameters(), lr=1.0)
    step = Step(net_of(module, optimizer), may_skip=False)
    start = module.weight.item()
    losses = step.forward(torch.tensor([[1.0], [10.0], [4.0]]), 3).view(-1)
    step.learn(losses, torch.tensor([[1.0, 0.0, 3.0]]))
    assert module.weight.item() == pytest.approx(start - (1 * 1 + 3 * 4) / 4)


def test_weights_count_in_the_mean_beside_an_idle_network():
    both = NetworkStack([nn.Linear(1, 1, bias=False) for _ in range(2)])
    optimizer = torch.optim.SGD(both.parameters(), lr=1.0)
    step = Step(net_of(both, optimizer), may_skip=True)
    starts = [network.weight.item() for network in both.networks]
    losses = step.forward(torch.tensor([[1.0], [10.0], [4.0]]), 3).view(-1)
    step.learn(losses, torch.tensor([[1.0, 0.0, 3.0], [0.0, 0.0, 0.0]]))
    first, second = (network.weight.item() for network in both.networks)
    assert first == pytest.approx(starts[0] - (1 * 1 + 3 * 4) / 4)
    assert second == starts[1]


def test_without_weights_each_network_learns_from_a_mean_of_its_own():
    """Not from its losses divided by the number of losses of all networks."""
    alone = [nn.Linear(1, 1, bias=False) for _ in range(2)]
    both = NetworkStack(alone)
    optimizer = torch.optim.SGD(both.parameters(), lr=1.0)
    step = Step(net_of(both, optimizer), may_skip=False)
    X = torch.tensor([[1.0], [10.0], [4.0]])
    for n_samples in (3, 2):  # the last batch of an epoch may be smaller
        starts = [network.weight.item() for network in alone]
        step.learn(step.forward(X[:n_samples], n_samples).view(-1), None)
        mean = X[:n_samples].mean().item()
        for network, start in zip(alone, starts, strict=True):
            assert network.weight.item() == pytest.approx(start - mean)


def test_a_dampened_momentum_begins_with_the_first_gradient():
    """Torch does not dampen the first gradient, which it would from zeros."""
    for dampening, begins in ((0.5, False), (0.0, True)):
        module = nn.Linear(1, 1, bias=False)
        optimizer = torch.optim.SGD(
            module.parameters(), lr=1.0, momentum=0.9, dampening=dampening, fused=True
        )
        prepare_optimizer(optimizer)
        assert bool(optimizer.state) is begins
        start = module.weight.item()
        step = Step(net_of(module, optimizer), may_skip=False)
        step.learn(step.forward(torch.tensor([[4.0]]), 1).view(-1), None)
        assert module.weight.item() == pytest.approx(start - 4.0)


#: What makes the host wait for a number on the device.
WAITING = {"item", "tolist", "cpu", "numpy", "__bool__", "__int__", "__float__"}


class CountCalls(TorchFunctionMode):
    """Count the calls from Python that wait for the device."""

    def __init__(self):
        super().__init__()
        self.n_calls = 0

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.n_calls += getattr(func, "__name__", "") in WAITING
        return func(*args, **(kwargs or {}))


class CountOperations(TorchDispatchMode):
    """Count the operations, in C++ too, whose result or its size is a host number."""

    def __init__(self):
        super().__init__()
        self.n_calls = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.overloadpacket.__name__
        self.n_calls += name in ("_local_scalar_dense", "nonzero", "masked_select")
        return func(*args, **(kwargs or {}))


def pretend_to_be_on(monkeypatch, device):
    """Let the training loop choose its kind of step as on another device."""
    fake = SimpleNamespace(device=lambda _: SimpleNamespace(type=device))
    monkeypatch.setattr(machinery, "torch", fake)


@pytest.mark.parametrize("optimizer", [torch.optim.SGD, torch.optim.AdamW])
@pytest.mark.parametrize("in_phase_two", [False, True])
def test_an_epoch_waits_for_the_device_equally_often_however_many_batches(
    make_trainer, monkeypatch, optimizer, in_phase_two
):
    pretend_to_be_on(monkeypatch, "cuda")
    n_waits = []
    for batch_size in (200, 10):
        trainer = make_trainer(batch_size=batch_size, optimizer=optimizer, lr=0.01)
        history = trainer.history
        policy = LearnFromSafeSet(history) if in_phase_two else LearnFromAll()
        trainer.run(Stage("train", LearnFromAll(), 1))
        with CountOperations() as operations, CountCalls() as calls:
            trainer.run(Stage("train", policy, 1))
        assert trainer.net.history[-1, "train_batch_count"] == 400 / batch_size
        n_waits.append((operations.n_calls, calls.n_calls))
    assert n_waits[0] == n_waits[1]
    assert n_waits[0][1] > 0  # it does count


def test_training_is_the_same_whether_or_not_steps_wait_for_the_device(
    make_trainer, everything, assert_equal, monkeypatch
):
    results = []
    for device in ("cpu", "cuda"):
        pretend_to_be_on(monkeypatch, device)
        trainer = make_trainer(batch_size=5)
        trainer.run(Stage("train", LearnFromAll(), 2))
        trainer.run(Stage("train", LearnFromSafeSet(trainer.history), 2))
        results.append((everything(trainer), trainer.records[-1]))
    assert_equal(results[0][0], results[1][0])
    first, second = (record for _, record in results)
    assert first.n_skipped_batches == second.n_skipped_batches
    assert first.train_loss == second.train_loss


def test_steps_with_a_gradient_scaler_are_skipped_by_the_scaler_itself():
    module = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1, fused=True)
    assert StepUnlessEmpty.serves(net_of(module, optimizer))
    assert not StepUnlessEmpty.serves(net_of(module, optimizer, scaler=object()))

import numpy as np
import pytest
import torch
from torch import nn

from skpresto import DefaultClassifier
from skpresto._data.training_data import PredictionRows
from skpresto._methods.d2l import mean_dimensionality
from skpresto._networks.activations import activations_and_logits
from skpresto.baselines import D2LClassifier
from tests.discovery import quick


def test_turning_point_and_dimensionality_are_recorded(memorizable):
    X, y, *_ = memorizable
    clf = quick(D2LClassifier, max_epochs=20, warm_up=2).fit(X, y)
    assert all(record.dimensionality > 0 for record in clf.history_)
    assert 8 <= clf.turning_epoch_ < 20


def test_without_a_turning_point_all_labels_are_learned_as_given(noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(D2LClassifier, max_epochs=5).fit(X, y)
    assert clf.turning_epoch_ is None
    # Measuring draws samples, so the batches of later epochs are others.
    plain = quick(DefaultClassifier, max_epochs=5).fit(X, y)
    assert clf.history_[0].train_loss == plain.history_[0].train_loss


def test_wrong_labels_are_memorized_less(memorizable):
    X, y, y_true, X_test, y_test = memorizable
    params = {"max_epochs": 25, "batch_size": 32, "module__hidden": (128,)}
    clf = quick(D2LClassifier, **params).fit(X, y, y_true=y_true)
    plain = quick(DefaultClassifier, **params).fit(X, y, y_true=y_true)
    last = [c.history_[-1].memorization_precision for c in (clf, plain)]
    assert last[0] > last[1] + 0.05
    assert clf.score(X_test, y_test) > plain.score(X_test, y_test)


@pytest.mark.filterwarnings("ignore::skpresto.exceptions.MismatchWarning")
def test_any_criterion_can_be_mixed(memorizable):
    """Those too that take no class probabilities as targets."""
    X, y, *_ = memorizable
    clf = quick(D2LClassifier, criterion=nn.MultiMarginLoss, max_epochs=20, warm_up=0)
    assert clf.fit(X, y).turning_epoch_ is not None


class Convolutional(nn.Sequential):
    """No linear layer."""

    def __init__(self):
        super().__init__(nn.Unflatten(1, (2, 1)), nn.Conv1d(2, 4, 1), nn.Flatten())


class LinearPerToken(nn.Module):
    """The last linear layer gets more than a vector per sample."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(1, 4)

    def forward(self, X):
        return self.layer(X.unsqueeze(2)).mean(dim=1)


class CalledByName(nn.Module):
    """The layers are not called in the order in which they were made."""

    def __init__(self):
        super().__init__()
        self.last = nn.Linear(8, 4)
        self.first = nn.Linear(2, 8)

    def forward(self, X):
        return self.last(input=self.first(X).relu())


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        (CalledByName, lambda network, X: network.first(X).relu()),
        (Convolutional, lambda network, X: network(X)),
        (LinearPerToken, lambda network, X: network(X)),
        (nn.Linear(2, 4), lambda network, X: X),
    ],
)
def test_activations_enter_the_linear_layer_that_is_called_last(
    make_trainer, module, expected
):
    trainer = make_trainer(module=module)
    rows = torch.tensor([3, 0, 7])
    data = trainer.data
    activations, _ = activations_and_logits(trainer.net, PredictionRows(data.X, rows))
    (network,) = trainer.net.networks
    X = torch.as_tensor(data.X.source)[rows]
    torch.testing.assert_close(activations, expected(network, X))
    assert not activations.requires_grad
    assert not any(part._forward_pre_hooks for part in network.modules())


def test_activations_of_a_compiled_network(make_trainer):
    trainer = make_trainer(compile=True, compile__backend="eager")
    (network,) = trainer.net.networks
    compiled = network._compiled_call_impl
    rows = PredictionRows(trainer.data.X, torch.arange(5))
    assert activations_and_logits(trainer.net, rows)[0].shape == (5, 256)
    assert network._compiled_call_impl is compiled


def test_samples_are_drawn_from_those_with_a_weight(make_trainer, monkeypatch):
    weights = torch.zeros(400)
    weights[200:340] = 1.0
    trainer = make_trainer(module=nn.Linear(2, 4), weights=weights)
    seen = []
    monkeypatch.setattr(
        "skpresto._methods._dimensionality.activations_and_logits",
        lambda net, rows: (seen.append(rows.rows) or torch.randn(len(rows), 3), None),
    )
    # 128 and 12 samples: the second group is too small for 20 neighbors.
    assert mean_dimensionality(trainer, 20) > 0
    assert sorted(seen[0].tolist()) == list(range(200, 340))


def test_dead_activations_have_no_dimensionality(noisy_blobs):
    X, y, _ = noisy_blobs

    class Dead(nn.Sequential):
        def __init__(self):
            super().__init__(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 4))
            nn.init.zeros_(self[0].weight)
            nn.init.constant_(self[0].bias, -1.0)

    clf = D2LClassifier(Dead(), max_epochs=3, random_state=0).fit(X, y)
    assert [record.dimensionality for record in clf.history_] == [None] * 3
    assert clf.turning_epoch_ is None
    assert np.isfinite(clf.predict_proba(X)).all()

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import TensorDataset

from skpresto import DefaultClassifier
from skpresto._classifier.weights import validation_weights
from skpresto._data.samples import TensorRows
from skpresto._data.training_data import PredictionRows
from skpresto._methods._clean_gradient import CleanGradient
from skpresto.baselines import LearningToReweightClassifier
from skpresto.exceptions import FallbackWarning
from skpresto.modules import MLP
from tests.discovery import quick


def test_clean_samples_are_needed(noisy_blobs):
    X, y, _ = noisy_blobs
    with pytest.raises(ValueError, match="needs X_val and y_val, samples with correct"):
        quick(LearningToReweightClassifier).fit(X, y)
    with pytest.raises(ValueError, match="at least 2 samples in X_val, got 1"):
        quick(LearningToReweightClassifier).fit(X, y, X_val=X[:1], y_val=y[:1])


def test_wrong_labels_get_less_weight_than_in_plain_training(memorizable):
    X, y, y_true, X_test, y_test = memorizable
    params = {"max_epochs": 15, "batch_size": 32, "module__hidden": (128,)}
    clean = {"X_val": X_test[:60], "y_val": y_test[:60]}
    clf = quick(LearningToReweightClassifier, **params)
    clf.fit(X, y, y_true=y_true, **clean)
    plain = quick(DefaultClassifier, **params).fit(X, y, y_true=y_true)
    last = [c.history_[-1].memorization_precision for c in (clf, plain)]
    assert last[0] > last[1] + 0.05
    rest = X_test[60:], y_test[60:]
    assert clf.score(*rest) > plain.score(*rest) + 0.05
    assert 0.3 < clf.history_[-1].selected_fraction < 0.8


def trainer_with_clean_rows(make_trainer, n_rows, **params):
    trainer = make_trainer(**params)
    X, labels = trainer.data.X.X[:n_rows], trainer.data.labels[:n_rows]
    rows = PredictionRows(TensorRows(X), labels=labels)
    return trainer.net, CleanGradient(trainer.net, rows), X, labels


def test_clean_gradient_is_that_of_the_mean_loss(make_trainer):
    module = MLP(2, 4, hidden=(8,), dropout=0.0)
    net, clean_gradient, X, y = trainer_with_clean_rows(
        make_trainer, 30, module=module, iterator_valid__batch_size=5000
    )
    net._set_training(True)
    before = {k: v.clone() for k, v in net.module_.state_dict().items()}
    parameters, gradient = clean_gradient()
    after = net.module_.state_dict()
    assert all(torch.equal(after[name], value) for name, value in before.items())
    loss = nn.functional.cross_entropy(net.module_(X), y)
    expected = torch.autograd.grad(loss, list(net.module_.parameters()))
    assert len(parameters) == len(expected)
    for ours, theirs in zip(gradient, expected, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_clean_gradient_over_several_batches_and_without_frozen_parameters(
    make_trainer,
):
    module = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 4))
    module[0].requires_grad_(False)
    loader = {"iterator_valid__batch_size": 7, "iterator_valid__num_workers": 0}
    net, clean_gradient, X, y = trainer_with_clean_rows(
        make_trainer, 30, module=module, **loader
    )
    parameters, gradient = clean_gradient()
    assert [tuple(p.shape) for p in parameters] == [(4, 8), (4,)]
    loss = nn.functional.cross_entropy(net.module_(X), y)
    for ours, theirs in zip(
        gradient, torch.autograd.grad(loss, parameters), strict=True
    ):
        torch.testing.assert_close(ours, theirs)


def test_as_many_clean_samples_are_drawn_as_a_batch_has(make_trainer):
    _, clean_gradient, _, y = trainer_with_clean_rows(make_trainer, 30, batch_size=7)
    drawn = clean_gradient._draw()
    assert len(drawn) == len(set(drawn.tolist())) == 7
    assert torch.equal(clean_gradient._rows_at(drawn).labels, y[drawn])


def test_clean_samples_are_weighted_by_their_class(make_trainer):
    torch.manual_seed(0)
    module = nn.Linear(2, 4)
    net, _, X, y = trainer_with_clean_rows(make_trainer, 30, module=module)
    owner = LearningToReweightClassifier(class_weight="balanced")
    owner.classes_ = np.arange(4)
    weights = validation_weights(owner, y.numpy(), owner.classes_)
    _, gradient = CleanGradient(net, PredictionRows(TensorRows(X), labels=y), weights)()
    losses = nn.functional.cross_entropy(net.module_(X), y, reduction="none")
    loss = sum(losses[y == k].mean() for k in range(4)) / 4
    expected = torch.autograd.grad(loss, list(net.module_.parameters()))
    for ours, theirs in zip(gradient, expected, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_a_pass_waiting_for_its_gradient_is_not_disturbed(make_trainer):
    """BatchNorm refers to its running means until then."""
    net, clean_gradient, X, y = trainer_with_clean_rows(make_trainer, 30)
    net._set_training(True)
    losses = nn.functional.cross_entropy(net.module_(X), y)
    clean_gradient()
    losses.backward()


def test_datasets_can_be_clean_samples(noisy_blobs):
    X, _, y_true = noisy_blobs

    def dataset(rows):
        return TensorDataset(torch.from_numpy(X[rows]), torch.from_numpy(y_true[rows]))

    few, others = np.arange(40), np.arange(40, 400)
    clf = quick(LearningToReweightClassifier, max_epochs=6)
    clf.fit(dataset(others), X_val=dataset(few))
    assert clf.score(X, y_true) > 0.8


def test_attention_works_sample_by_sample_with_a_warning(noisy_blobs):
    X, y, y_true = noisy_blobs

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = nn.MultiheadAttention(2, 1, batch_first=True)
            self.last = nn.Linear(2, 4)

        def forward(self, X):
            tokens = torch.stack((X, X.flip(1)), dim=1)
            three = tokens, tokens, tokens
            mixed, _ = self.attention(*three, need_weights=False)  # the fused kernel
            return self.last(mixed.mean(dim=1) + X)

    clf = LearningToReweightClassifier(Attention, max_epochs=1, random_state=0)
    with pytest.warns(FallbackWarning, match="has no second derivatives"):
        clf.fit(X[:60], y[:60], X_val=X[60:], y_val=y_true[60:])


def test_compiled_modules_with_one_backward_pass_are_refused(noisy_blobs):
    torch.compiler.reset()  # after many compilations, torch no longer compiles
    X, y, y_true = noisy_blobs
    clf = quick(LearningToReweightClassifier, compile=True, max_epochs=1)
    clf.set_params(compile__backend="aot_eager")
    with pytest.raises(ValueError, match=r"need the gradient of each .*compile=True"):
        clf.fit(X[:80], y[:80], X_val=X, y_val=y_true)

"""Modules as users bring them: pretrained, frozen, lazy, compiled, in place."""

import copy
import pickle

import numpy as np
import pytest
import torch
from sklearn.base import clone
from torch import nn

from skpresto import CoTeachingClassifier, CoTeachingPlusClassifier, DefaultClassifier
from skpresto._classifier.spec import SIZE_NAMES
from tests.discovery import CLASSIFIERS, METHODS, on_paths, quick, short_fits_warn

pytestmark = short_fits_warn


def quick_with(Classifier, module, **params):
    """Return a quick classifier without parameters for the built-in module."""
    clf = quick(Classifier, **{"max_epochs": 4, **params})
    del clf.module__hidden
    if Classifier is CoTeachingPlusClassifier:
        # It learns from disagreement, of which copies have none in the beginning.
        clf.set_params(warm_up=params.get("max_epochs", 4) // 2)
    return clf.set_params(module=module)


def network(*first):
    """Return an instance for two columns and four classes, after other layers."""
    torch.manual_seed(5)
    return nn.Sequential(*first, nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 4))


class LazyNet(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.layers = nn.Sequential(
            nn.LazyLinear(8), nn.ReLU(), nn.LazyLinear(num_classes)
        )

    def forward(self, X):
        return self.layers(X)


def initial_weights(clf, X, y):
    """Return the weights of each network before the first step."""
    clf.set_params(max_epochs=4, lr=1e-30).fit(X, y)
    return [list(trained.parameters()) for trained in clf.net_.networks]


@pytest.mark.parametrize("name", SIZE_NAMES["n_classes"])
def test_the_number_of_classes_goes_by_many_names(name, blobs):
    X, y = blobs
    namespace = {"nn": nn}
    exec(f"def build({name}): return nn.Linear(2, {name})", namespace)
    clf = quick_with(DefaultClassifier, namespace["build"], max_epochs=1).fit(X, y)
    assert clf.net_.module_.out_features == 4


def test_of_two_names_the_more_explicit_one_is_the_number_of_classes(blobs):
    def build(output_dim, n_classes):
        return nn.Sequential(nn.Linear(2, output_dim), nn.Linear(output_dim, n_classes))

    X, y = blobs
    clf = quick_with(DefaultClassifier, build, module__output_dim=7, max_epochs=1)
    assert clf.fit(X, y).net_.module_[0].out_features == 7
    with pytest.raises(TypeError, match="needs module__output_dim, without which bui"):
        quick_with(DefaultClassifier, build).fit(X, y)


@on_paths("one stage", "two networks")
@pytest.mark.parametrize("is_class", [True, False])
def test_lazy_modules(Classifier, is_class, blobs):
    X, y = blobs
    clf = quick_with(Classifier, LazyNet if is_class else LazyNet(4))
    fitted = clone(clf).fit(X, y)
    assert np.array_equal(
        fitted.predict_proba(X), clone(clf).fit(X, y).predict_proba(X)
    )
    assert pickle.loads(pickle.dumps(fitted)).score(X, y) == fitted.score(X, y)


@on_paths("one stage", "two networks", "folds", "gradients")
def test_frozen_parts_keep_their_bits_in_every_network(Classifier, blobs):
    X, y = blobs
    module = network()
    module[0].requires_grad_(False)
    clf = quick_with(Classifier, module, optimizer__weight_decay=0.1).fit(X, y)
    for trained in clf.net_.networks:
        assert torch.equal(trained[0].weight, module[0].weight)
        assert torch.equal(trained[0].bias, module[0].bias)
        assert not torch.equal(trained[2].weight, module[2].weight)


@on_paths("one stage", "two networks", "folds", "rounds")
def test_every_network_starts_from_the_weights_of_an_instance(Classifier, blobs):
    module = network()
    for weights in initial_weights(quick_with(Classifier, module), *blobs):
        for given, start in zip(module.parameters(), weights, strict=True):
            # The second network of Co-teaching gets noise of one percent.
            scale = given.detach().square().mean().sqrt().item()
            torch.testing.assert_close(start, given.detach(), rtol=0, atol=0.05 * scale)


def test_copies_of_an_instance_that_must_differ_do_after_training(blobs):
    X, y = blobs
    module = network()
    before = copy.deepcopy(module.state_dict())
    clf = quick_with(CoTeachingClassifier, module, max_epochs=12).fit(X, y)
    first, second = clf.net_.networks
    assert not torch.equal(first[2].weight, second[2].weight)
    assert all(torch.equal(before[k], v) for k, v in module.state_dict().items())
    assert clf.score(X, y) > 0.8


def test_classes_that_build_equal_networks_get_different_ones(blobs):
    def build(n_classes):
        return nn.Sequential(copy.deepcopy(network()[0]), nn.Linear(16, n_classes))

    clf = quick_with(CoTeachingClassifier, build)
    first, second = initial_weights(clf, *blobs)
    assert not torch.equal(first[2], second[2])


def test_module_that_is_frozen_throughout(blobs):
    clf = quick_with(DefaultClassifier, network().requires_grad_(False))
    with pytest.raises(ValueError, match="no parameters that can be trained.*requires"):
        clf.fit(*blobs)


@on_paths("one stage", "two networks", "folds", among=METHODS)
def test_compiled_networks(Classifier, blobs):
    X, y = blobs
    plain = quick_with(Classifier, network()).fit(X, y)
    clf = quick_with(Classifier, network(), compile=True, compile__backend="eager")
    assert clone(clf).get_params()["compile"] is True
    clf.fit(X, y)
    assert all(net._compiled_call_impl is not None for net in clf.net_.networks)
    assert (
        plain.net_.module_.state_dict().keys() == clf.net_.module_.state_dict().keys()
    )
    np.testing.assert_allclose(plain.predict_proba(X), clf.predict_proba(X), atol=1e-4)
    again = pickle.loads(pickle.dumps(clf))
    np.testing.assert_allclose(again.predict_proba(X), clf.predict_proba(X), atol=1e-6)


def test_layers_of_torch_are_compiled_as_well(blobs):
    compiled = []

    def backend(graph, inputs):
        compiled.append(graph)
        return graph.forward

    torch.compiler.reset()
    params = {"compile": True, "compile__backend": backend}
    quick_with(DefaultClassifier, network(), **params).fit(*blobs)
    assert compiled


def test_parameters_of_the_compiler_are_checked(blobs):
    clf = quick_with(
        DefaultClassifier, network(), compile=True, compile__bakend="eager"
    )
    with pytest.raises(ValueError, match="compile__bakend.*mean 'compile__backend'"):
        clf.fit(*blobs)
    clf = quick_with(DefaultClassifier, network(), compile=True, compile__backend="no")
    with pytest.raises(ValueError, match="could not be compiled: .*Leave compile=True"):
        clf.fit(*blobs)


def test_an_instance_that_is_already_compiled(blobs):
    X, y = blobs
    module = torch.compile(network(), backend="eager")
    clf = quick_with(DefaultClassifier, module, max_epochs=12).fit(X, y)
    assert pickle.loads(pickle.dumps(clf)).score(X, y) > 0.8


class NoiseInTraining(nn.Module):
    """Work in place, but only in training mode."""

    def forward(self, X):
        return X.add_(1.0) if self.training else X


@on_paths("two phases", "two networks", "gradients")
@pytest.mark.parametrize("first", [nn.ReLU(inplace=True), NoiseInTraining()])
def test_modules_that_work_in_place_leave_the_data_alone(Classifier, first, blobs):
    X, y = blobs
    before = X.copy()
    clf = quick_with(Classifier, network(first)).fit(X, y, X_val=X[:50], y_val=y[:50])
    proba = clf.predict_proba(X)
    assert np.array_equal(X, before)
    # The same network with a copy of its own gives the same bits.
    copies = network(Copy(), copy.deepcopy(first))
    other = quick_with(Classifier, copies).fit(X, y, X_val=X[:50], y_val=y[:50])
    assert np.array_equal(other.predict_proba(X), proba)
    assert np.array_equal(pickle.loads(pickle.dumps(clf)).predict_proba(X), proba)
    assert np.array_equal(X, before)


class Copy(nn.Module):
    def forward(self, X):
        return X.clone()


@on_paths("one stage", "gradients")
@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_fit_where_gradients_are_turned_off(Classifier, mode, blobs):
    X, y = blobs
    expected = quick_with(Classifier, network()).fit(X, y).predict_proba(X)
    with mode():
        clf = quick_with(Classifier, network()).fit(X, y)
        assert np.array_equal(clf.predict_proba(X), expected)
        assert not torch.is_grad_enabled()


class UndefinedFor(nn.Module):
    """Return NaN for large values of the first column, in evaluation mode."""

    def __init__(self, limit):
        super().__init__()
        self.limit = limit
        self.layer = nn.Linear(2, 4)

    def forward(self, X):
        outputs = self.layer(X)
        is_bad = (X[:, :1] > self.limit) & (not self.training)
        return outputs.masked_fill(is_bad, torch.nan)


@on_paths("one stage", "two networks")
def test_rows_without_a_finite_logit_are_no_prediction(Classifier, blobs):
    X, y = blobs
    clf = quick_with(Classifier, UndefinedFor(50.0)).fit(X, y)
    odd = X[:9].copy()
    odd[[4, 7], 0] = 60.0
    message = "no finite logits for 2 of 9 samples, the first of them in row 4"
    with pytest.raises(ValueError, match=message):
        clf.predict(odd)
    with pytest.raises(ValueError, match=message):
        clf.predict_proba(odd)


#: It looks at all training rows before the first epoch.
WITHOUT_SSR = [c for c in CLASSIFIERS if c.__name__ != "SSRClassifier"]


@on_paths("one stage", "folds", among=WITHOUT_SSR)
def test_validation_rows_without_a_finite_logit_end_the_fit(Classifier, blobs):
    X, y = blobs
    clf = quick_with(Classifier, UndefinedFor(X[:, 0].max() - 0.1))
    with pytest.raises(ValueError, match="epoch 1 it returns no finite.*valid_error"):
        clf.fit(X, y, X_val=X, y_val=y)
    assert not hasattr(clf, "net_")


@on_paths("one stage", "two networks", "gradients")
def test_batches_of_one_row_with_batch_normalization(Classifier, blobs):
    X, y = blobs
    module = nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4), nn.Linear(4, 4))
    clf = quick_with(Classifier, module, batch_size=1, max_epochs=1)
    with pytest.raises(
        ValueError, match="BatchNorm.*batch of one row.*batch_size of 2"
    ):
        clf.fit(X[:40], y[:40])

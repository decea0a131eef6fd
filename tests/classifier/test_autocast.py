"""Training and prediction in reduced precision."""

import pickle

import numpy as np
import pytest
import torch
from sklearn.base import clone
from torch import nn

import skpresto
from skpresto import CoTeachingClassifier, DefaultClassifier, PrestoppingClassifier
from skpresto._networks.forward import outputs_of
from skpresto._training.step import Step
from tests.discovery import on_paths, quick, short_fits_warn
from tests.training.test_step import net_of

pytestmark = short_fits_warn


class Spy(nn.Module):
    """Remember the type in which the layer computes, and the layout of its inputs."""

    seen: list = []

    def __init__(self, n_classes):
        super().__init__()
        self.layer = nn.Conv2d(2, n_classes, 3)

    def forward(self, X):
        outputs = self.layer(X)
        is_last = X.is_contiguous(memory_format=torch.channels_last)
        self.seen.append((outputs.dtype, is_last))
        return outputs.mean(dim=(2, 3))


@pytest.fixture
def images():
    X = np.random.RandomState(0).normal(size=(60, 2, 6, 6)).astype(np.float32)
    y = (X.mean(axis=(1, 2, 3)) > 0).astype(int)
    return X, y


@on_paths()
def test_every_method_computes_in_bfloat16_and_keeps_float32(Classifier, images):
    Spy.seen.clear()
    clf = quick(Classifier, module=Spy, max_epochs=2, autocast="bfloat16")
    del clf.module__hidden  # of the built-in network
    clf.fit(*images)
    probabilities = clf.predict_proba(images[0])
    assert set(Spy.seen[1:]) <= {(torch.bfloat16, True), (torch.float32, False)}
    assert (torch.bfloat16, True) in Spy.seen
    assert probabilities.dtype == np.float32
    assert {p.dtype for p in clf.net_.module_.parameters()} == {torch.float32}


def test_networks_learn_as_well_in_bfloat16(noisy_blobs):
    X, y_noisy, y = noisy_blobs
    clf = quick(PrestoppingClassifier, max_epochs=15)
    plain = clone(clf).fit(X, y_noisy)
    reduced = clf.set_params(autocast="bfloat16").fit(X, y_noisy)
    assert reduced.score(X, y) > plain.score(X, y) - 0.05


def test_probabilities_do_not_depend_on_the_other_rows(noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(DefaultClassifier, max_epochs=2, autocast="bfloat16").fit(X, y)
    whole = clf.predict_proba(X)
    np.testing.assert_array_equal(clf.predict_proba(X[7:8]), whole[7:8])
    np.testing.assert_array_equal(clf.predict_proba(X[::-1]), whole[::-1])


def test_a_stored_classifier_predicts_the_same(noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(DefaultClassifier, max_epochs=2, autocast="bfloat16").fit(X, y)
    loaded = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(loaded.predict_proba(X), clf.predict_proba(X))


def test_a_killed_fit_goes_on_in_bfloat16(noisy_blobs, tmp_path):
    X, y, _ = noisy_blobs
    clf = quick(PrestoppingClassifier, max_epochs=6, autocast="bfloat16")
    for _ in range(2):
        with skpresto.resumable(tmp_path / "fit", every=0, keep=True):
            clf.fit(X, y)
    expected = clone(clf).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(clf.predict_proba(X), expected)


@pytest.mark.parametrize("n_networks", [1, 2])
def test_compiled_networks_compute_in_bfloat16(n_networks, images):
    X, y = images
    compiled = []

    def backend(graph, inputs):
        compiled.append(graph)
        return graph.forward

    torch.compiler.reset()
    classifier = DefaultClassifier if n_networks == 1 else CoTeachingClassifier
    clf = quick(classifier, max_epochs=2, autocast="bfloat16", module__dropout=0.0)
    del clf.module__hidden  # of the network for tables
    plain = clone(clf).fit(X, y)
    clf.set_params(compile=True, compile__backend=backend).fit(X, y)
    assert compiled
    full = clone(plain).set_params(autocast=None).fit(X, y)
    probabilities = clf.predict_proba(X)
    np.testing.assert_allclose(probabilities, plain.predict_proba(X), atol=1e-6)
    assert np.abs(probabilities - full.predict_proba(X)).max() > 1e-5
    assert not torch.is_autocast_enabled("cpu")


def test_a_stored_compiled_classifier_predicts_in_bfloat16(noisy_blobs):
    X, y, _ = noisy_blobs
    params = {"autocast": "bfloat16", "compile": True, "compile__backend": "eager"}
    clf = quick(DefaultClassifier, max_epochs=2, **params).fit(X, y)
    loaded = pickle.loads(pickle.dumps(clf))
    expected = clf.predict_proba(X)
    np.testing.assert_allclose(loaded.predict_proba(X), expected, atol=1e-6)


def test_a_failing_forward_pass_leaves_no_reduced_precision_behind():
    with pytest.raises(RuntimeError):
        outputs_of(nn.Linear(3, 2), torch.zeros(1, 4), "bfloat16")
    assert not torch.is_autocast_enabled("cpu")


@pytest.mark.parametrize("may_skip", [False, True])
def test_gradients_in_float16_are_scaled_and_unscaled(may_skip):
    def trained(scaler):
        torch.manual_seed(0)
        network = nn.Linear(3, 2)
        optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
        step = Step(net_of(network, optimizer, scaler), may_skip)
        logits = step.forward(torch.ones(4, 3), 4)
        losses = nn.functional.cross_entropy(
            logits, torch.tensor([0, 1, 1, 1]), reduction="none"
        )
        step.learn(losses, torch.ones(1, 4))
        return network.weight.detach()

    scaler = torch.amp.GradScaler("cpu")
    torch.testing.assert_close(trained(scaler), trained(None))
    assert scaler.get_scale() == 2.0**16


@pytest.mark.parametrize(("name", "scales"), [("float16", True), ("bfloat16", False)])
def test_only_float16_needs_scaling(make_trainer, name, scales):
    net = make_trainer().net
    net.autocast = name
    net.initialize_optimizer()
    assert (net.scaler_ is not None) == scales


def test_the_module_alone_has_full_precision(images):
    Spy.seen.clear()
    clf = quick(DefaultClassifier, module=Spy, max_epochs=1, autocast="bfloat16")
    del clf.module__hidden
    clf.fit(*images)
    clf.net_.module_(torch.from_numpy(images[0][:2]))
    assert Spy.seen[-1][0] == torch.float32


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("half", "needs autocast to be None or one of"),
        (torch.bfloat16, "needs autocast to be None or one of"),
        ("float16", "with device='cpu'.*Use autocast='bfloat16'"),
    ],
)
def test_other_types_are_refused(value, message, noisy_blobs):
    X, y, _ = noisy_blobs
    with pytest.raises(ValueError, match=message):
        quick(DefaultClassifier, autocast=value).fit(X, y)

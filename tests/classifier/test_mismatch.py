"""Modules, criteria and devices of the wrong kind get a sentence that says so."""

import warnings

import numpy as np
import pytest
import torch
from torch import nn

from skpresto import DefaultClassifier, PrestoppingClassifier
from skpresto.exceptions import MismatchWarning
from tests.classifier.test_foreign_modules import network, quick_with
from tests.discovery import on_paths, quick, short_fits_warn

pytestmark = short_fits_warn


def ending_in(last):
    return nn.Sequential(network(), last)


def images(*shape):
    X = np.random.RandomState(0).normal(size=(24, *shape)).astype(np.float32)
    return X, np.arange(24) % 2


@on_paths("two phases", "folds", "rounds")
def test_module_that_ends_in_a_softmax_is_warned_of_once(Classifier, blobs):
    clf = quick_with(Classifier, ending_in(nn.Softmax(dim=-1)))
    with pytest.warns(
        MismatchWarning, match="returns probabilities.*Remove the s"
    ) as w:
        clf.fit(*blobs)
    found = [warning for warning in w if warning.category is MismatchWarning]
    assert len(found) == 1
    assert found[0].filename == __file__


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_log_softmax_needs_another_criterion(dtype, blobs):
    module = ending_in(nn.LogSoftmax(dim=-1)).to(dtype)
    with pytest.warns(
        MismatchWarning, match="log-probabilities.*use criterion=NLLLoss"
    ):
        with_warning = quick_with(DefaultClassifier, module).fit(*blobs)
    without = quick_with(DefaultClassifier, module, criterion=nn.NLLLoss).fit(*blobs)
    X = blobs[0]
    np.testing.assert_allclose(
        with_warning.predict_proba(X), without.predict_proba(X), atol=2e-2
    )


@pytest.mark.parametrize("last", [nn.Softmax(dim=-1), nn.LogSoftmax(dim=-1)])
def test_equal_samples_do_not_tell_logits_from_probabilities(last, blobs):
    # Outputs of equal samples are equal, and may sum to 1 by chance.
    X, y = blobs
    equal = np.repeat(X[:1], len(X), axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", MismatchWarning)
        quick_with(DefaultClassifier, ending_in(last)).fit(equal, y)


@pytest.mark.parametrize("classes", [2, 3, 50])
@pytest.mark.parametrize("scale", [0.0, 0.01, 1.0, 100.0])
def test_logits_of_any_scale_are_not_taken_for_probabilities(classes, scale):
    rng = np.random.RandomState(classes)
    X, y = rng.normal(size=(100, 3)).astype(np.float32), np.arange(100) % classes
    module = nn.Linear(3, classes)
    with torch.no_grad():
        module.weight *= scale
        module.bias *= scale
    with warnings.catch_warnings():
        warnings.simplefilter("error", MismatchWarning)
        quick_with(DefaultClassifier, module, max_epochs=1, lr=1e-9).fit(X, y)


@pytest.mark.parametrize("shape", [(28, 28, 1), (12, 12, 3), (10, 16, 3)])
def test_images_with_channels_last_for_the_built_in_network(shape):
    X, y = images(*shape)
    with pytest.warns(MismatchWarning, match=r"channels in the last.*transpose\(0, 3"):
        DefaultClassifier(max_epochs=1, random_state=0).fit(X, y)


@pytest.mark.parametrize("shape", [(3, 12, 12), (1, 8, 8), (3, 8, 3), (16, 40, 1)])
def test_images_with_channels_first_are_no_mistake(shape):
    DefaultClassifier(max_epochs=1, random_state=0).fit(*images(*shape))


def test_convolution_that_does_not_fit_the_shape_of_images():
    module = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.LazyLinear(2))
    message = r"not be applied to a batch of shape \(2, 12, 12, 3\).*channels, height"
    with pytest.raises(ValueError, match=message):
        DefaultClassifier(module).fit(*images(12, 12, 3))


def test_module_for_other_columns(blobs):
    clf = quick_with(DefaultClassifier, nn.Linear(3, 4))
    with pytest.raises(
        ValueError, match=r"a batch of shape \(2, 2\): RuntimeError: mat"
    ):
        clf.fit(*blobs)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_device_that_is_not_there(blobs):
    with pytest.raises(ValueError, match="cannot use device='cuda' on this machine: "):
        quick(PrestoppingClassifier, device="cuda").fit(*blobs)


def test_more_threads_than_a_process_can_have(blobs):
    X, y = blobs
    clf = quick(DefaultClassifier, max_epochs=1, n_jobs=100_000).fit(X, y)
    assert clf.predict(X).shape == y.shape

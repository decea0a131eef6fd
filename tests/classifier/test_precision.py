"""Networks in half and double precision."""

import numpy as np
import pytest
import torch
from torch import nn

from skpresto import DefaultClassifier
from tests.classifier.test_foreign_modules import network, quick_with
from tests.discovery import on_paths, quick, short_fits_warn

pytestmark = short_fits_warn
PRECISIONS = [torch.float64, torch.bfloat16, torch.float16]


@pytest.fixture
def double_by_default():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@on_paths("one stage", "two networks", "folds", "gradients")
@pytest.mark.parametrize("dtype", PRECISIONS)
def test_a_network_keeps_its_precision_and_learns(Classifier, dtype, blobs):
    X, y = blobs
    clf = quick_with(Classifier, network().to(dtype), max_epochs=12).fit(X, y)
    assert {p.dtype for p in clf.net_.module_.parameters()} == {dtype}
    assert clf.score(X, y) > 0.7
    assert clf.predict_proba(X).dtype == np.float32
    # In half precision, sums of rounded probabilities would be off by about 1e-3.
    np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1, atol=1e-6)
    assert len(np.unique(clf.label_quality_)) > 100


def test_tensors_that_numpy_has_no_type_for_are_taken_as_float32(blobs):
    X, y = torch.from_numpy(blobs[0]).bfloat16(), blobs[1]
    reduced, single = (
        quick(DefaultClassifier, max_epochs=2).fit(samples, y)
        for samples in (X, X.float().numpy())
    )
    assert np.array_equal(reduced.predict_proba(X), single.predict_proba(X.float()))


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_losses_are_computed_in_float32(dtype, blobs):
    seen = []

    class Remember(nn.CrossEntropyLoss):
        def forward(self, outputs, labels):
            seen.append(outputs.dtype)
            return super().forward(outputs, labels)

    X, y = blobs
    weight = torch.ones(4, dtype=torch.float64)
    quick_with(
        DefaultClassifier,
        network().to(dtype),
        criterion=Remember,
        criterion__weight=weight,
    ).fit(X, y)
    assert set(seen) == {torch.float32}


@pytest.mark.parametrize(
    ("optimizer", "dtype"),
    [
        (torch.optim.SGD, torch.float16),
        (torch.optim.SGD, torch.bfloat16),
        # In float16, the epsilon of the others is zero.
        (torch.optim.Adam, torch.bfloat16),
        (torch.optim.AdamW, torch.bfloat16),
        (torch.optim.Adagrad, torch.bfloat16),
    ],
)
def test_steps_in_half_precision_follow_those_in_single(optimizer, dtype, blobs):
    X, y = blobs
    settings = {"optimizer": optimizer, "lr": 0.01}
    half, single = (
        quick_with(DefaultClassifier, network().to(kind), **settings).fit(X, y)
        for kind in (dtype, torch.float32)
    )
    losses = [[record.train_loss for record in c.history_] for c in (half, single)]
    np.testing.assert_allclose(*losses, rtol=0.05)


@on_paths()
def test_float64_as_the_default_type(Classifier, double_by_default, noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(Classifier, max_epochs=6).fit(X, y, X_val=X[:40], y_val=y[:40])
    assert {p.dtype for p in clf.net_.module_.parameters()} == {torch.float64}
    assert clf.predict_proba(X).dtype == np.float32
    assert clf.predict(X).shape == y.shape


def test_integers_for_an_embedding_are_not_cast(blobs):
    from torch.utils.data import TensorDataset

    class Words(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.EmbeddingBag(10, 4)

        def forward(self, X):
            return self.embedding(X)

    words = torch.randint(10, (60, 5), generator=torch.Generator().manual_seed(0))
    data = TensorDataset(words, words[:, 0] % 4)
    clf = quick_with(DefaultClassifier, Words().double()).fit(data)
    assert clf.predict(data).shape == (60,)

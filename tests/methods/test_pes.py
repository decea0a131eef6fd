import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from skpresto._data.batch import Batch
from skpresto._methods.pes import LearnConfident
from skpresto.baselines import PESClassifier
from tests.discovery import MEMORIZING, quick, short_fits_warn


@given(
    drawn=st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 2), st.booleans()),
        min_size=1,
        max_size=12,
    )
)
def test_weights_equal_their_naive_twin(drawn):
    labels, predicted, has_weight = zip(*drawn, strict=True)
    policy = LearnConfident(
        torch.tensor(labels),
        3,
        torch.tensor(has_weight),
        lambda: torch.tensor(predicted) == torch.tensor(labels),
    )
    counts = {}
    for label, prediction, is_counted in drawn:
        if label == prediction and is_counted:
            counts[label] = counts.get(label, 0) + 1
    expected = []
    for label, prediction, _ in drawn:
        mean = sum(counts.values()) / max(1, len(counts))
        is_learned = label == prediction and label in counts
        expected.append(mean / counts[label] if is_learned else 0.0)
    index, n = torch.arange(len(drawn)), len(drawn)
    batch = Batch(
        index, torch.tensor(labels), torch.zeros(1, n, 3), torch.zeros(1, n), 3
    )
    assert policy.select(batch).weights[0].tolist() == pytest.approx(expected)
    pairs = zip(labels, predicted, strict=True)
    assert policy.is_safe().tolist() == [a == b for a, b in pairs]


def test_samples_are_predicted_anew_after_each_epoch():
    predicted = iter([torch.tensor([True, False]), torch.tensor([False, True])])
    labels = torch.tensor([0, 1])
    policy = LearnConfident(labels, 2, labels >= 0, lambda: next(predicted))
    assert policy.is_confident.tolist() == [True, False]
    policy.end_epoch()
    assert policy.is_confident.tolist() == [False, True]
    assert policy.class_weight.tolist() == [0, 1]


@pytest.fixture(scope="module")
def pes(memorizable):
    X, y, *_ = memorizable
    return quick(PESClassifier, **MEMORIZING).fit(X, y)


def test_wrong_labels_are_memorized_less(memorizable, plain, pes):
    X, y, y_true, X_test, y_test = memorizable
    assert pes.score(X_test, y_test) > plain.score(X_test, y_test) + 0.1
    is_wrong = y != y_true
    assert pes.safe_mask_[is_wrong].mean() < 0.15
    assert pes.safe_mask_[~is_wrong].mean() > 0.9
    np.testing.assert_array_equal(pes.safe_mask_, pes.predict(X) == y)


def test_stages_add_up_to_max_epochs(pes):
    stages = [record.stage for record in pes.history_]
    n_each = [stages.count(name) for name in dict.fromkeys(stages)]
    assert len(stages) == pes.n_epochs_ == 20
    assert n_each[:1] + n_each[-1:] == [round(0.125 * 20), 20 - sum(n_each[:3])]
    rates = {record.stage: record.learning_rate for record in pes.history_}
    assert rates["last block"] == rates["last layer"] == pes.refine_lr


@short_fits_warn
def test_layers_may_be_named(noisy_blobs):
    X, y, _ = noisy_blobs
    params = {"module__hidden": (16, 16), "max_epochs": 12}
    by_number = quick(PESClassifier, **params).fit(X, y)
    by_name = quick(PESClassifier, block=r"^[458]\.", head="^8", **params).fit(X, y)
    np.testing.assert_array_equal(by_number.predict_proba(X), by_name.predict_proba(X))


@pytest.mark.filterwarnings("ignore::skpresto.exceptions.SafeSetWarning")
@pytest.mark.parametrize("max_epochs", [1, 2, 3])
def test_short_fits_end_before_the_last_stage(max_epochs, noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(PESClassifier, max_epochs=max_epochs).fit(X, y)
    stages = [record.stage for record in clf.history_]
    assert stages == ["train", "last block", "last layer"][:max_epochs]


@pytest.mark.parametrize("params", [{"block_epochs": 11}, {"early_epochs": 10}])
def test_too_few_epochs_are_refused(params, noisy_blobs):
    X, y, _ = noisy_blobs
    with pytest.raises(ValueError, match="so that none is left to learn confident"):
        quick(PESClassifier, **params).fit(X, y)

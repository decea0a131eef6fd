"""Mean class probabilities over visits, and the label quality computed from them."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from skpresto._data.batch import Batch
from skpresto._label_quality import mean_probabilities
from skpresto._label_quality.mean_probabilities import MeanProbabilities
from tests.naive_posterior import (
    C,
    N,
    is_undecided,
    labels_of,
    logit,
    posteriors,
    softmax,
)

n_networks_of = st.integers(1, 3)


@st.composite
def visits_of_networks(draw):
    """Draw batches: positions, logits of shape (k, b, C), and number of the epoch."""
    n_networks = draw(n_networks_of)
    rows = st.lists(st.integers(0, N - 1), min_size=1, max_size=N, unique=True)
    visits = []
    for epoch in range(draw(st.integers(1, 6))):
        index = draw(rows)
        size = n_networks * len(index) * C
        logits = draw(st.lists(logit, min_size=size, max_size=size))
        logits = torch.tensor(logits).view(n_networks, len(index), C)
        visits.append((torch.tensor(index), logits, epoch))
    return visits


class NaiveMeans:
    """Lists of the probabilities of each visit."""

    def __init__(self, visits, max_epochs=None):
        self.seen = [[] for _ in range(N)]
        for index, logits, epoch in visits:
            if max_epochs is None or epoch < max_epochs:
                self._add(index.tolist(), logits.tolist())

    def _add(self, index, logits):
        for j, i in enumerate(index):
            each = [softmax(network[j]) for network in logits]
            mean = [sum(column) / len(each) for column in zip(*each, strict=True)]
            self.seen[i].append(mean)

    def means(self):
        return [
            [sum(column) / len(seen) for column in zip(*seen, strict=True)]
            if seen
            else [0.0] * C
            for seen in self.seen
        ]


def add(means, index, logits, epoch=0):
    labels = means.labels[index]
    means.record(Batch(index, labels, logits, logits[..., 0], epoch))


def means_after(visits, labels, max_epochs=None):
    means = MeanProbabilities(torch.tensor(labels), C, max_epochs)
    for visit in visits:
        add(means, *visit)
    return means


@given(
    visits_of_networks(),
    labels_of,
    st.sampled_from([None, 1, 3]),
    st.sampled_from([1, 5, 1 << 13]),
)
def test_quality_equals_that_of_the_naive_twin(visits, labels, max_epochs, at_once):
    naive = NaiveMeans(visits, max_epochs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mean_probabilities, "_ROWS_AT_ONCE", at_once)
        means = means_after(visits, labels, max_epochs)
    unseen = [i for i in range(N) if not naive.seen[i]]
    assert means.unseen().tolist() == unseen
    expected = naive.means()
    if is_undecided(expected, confident_only=True):
        return
    quality = means.label_quality()
    by_hand = posteriors(expected, labels, confident_only=True, damping=0.2)
    for i in set(range(N)) - set(unseen):
        assert quality[i].item() == pytest.approx(by_hand[i][labels[i]], abs=1e-5)
    assert ((quality >= 0) & (quality <= 1)).all()


@given(visits_of_networks(), labels_of)
def test_beyond_the_limit_quality_is_the_mean_probability_of_the_given_label(
    visits, labels
):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mean_probabilities, "MAX_VALUES", N * C - 1)
        means = means_after(visits, labels)
    assert not means.has_all_classes
    assert means._sums.shape == (N, 1)
    expected = [
        row[k] for row, k in zip(NaiveMeans(visits).means(), labels, strict=True)
    ]
    assert means.label_quality().numpy() == pytest.approx(np.array(expected), abs=1e-5)
    unseen = [i for i, seen in enumerate(NaiveMeans(visits).seen) if not seen]
    assert means.unseen().tolist() == unseen


def test_up_to_the_limit_the_means_of_all_classes_are_stored(monkeypatch):
    monkeypatch.setattr(mean_probabilities, "MAX_VALUES", N * C)
    means = MeanProbabilities(torch.zeros(N, dtype=torch.int64), C)
    assert means.has_all_classes
    assert means._sums.nbytes == 4 * N * C


@given(visits_of_networks(), visits_of_networks(), labels_of)
def test_clearing_forgets_visits_and_the_limit_of_epochs(first, second, labels):
    means = means_after(first, labels, max_epochs=1)
    means.clear()
    assert means.unseen().tolist() == list(range(N))
    for visit in second:
        add(means, *visit)
    expected = means_after(second, labels)
    assert means.unseen().tolist() == expected.unseen().tolist()
    assert torch.equal(means.label_quality(), expected.label_quality())


@pytest.mark.parametrize("has_all_classes", [True, False])
def test_probabilities_of_unseen_samples_can_be_added(monkeypatch, has_all_classes):
    if not has_all_classes:
        monkeypatch.setattr(mean_probabilities, "MAX_VALUES", 1)
    labels = torch.arange(N) % C
    means = MeanProbabilities(labels, C)
    add(means, torch.tensor([0, 3]), torch.zeros(2, 2, C))
    unseen = means.unseen()
    assert unseen.tolist() == [1, 2, 4, 5]
    probability = torch.nn.functional.one_hot(labels[unseen], C).float()
    means.add_probability(unseen, probability)
    assert means.unseen().tolist() == []
    quality = means.label_quality()
    assert quality[unseen].min() > 0.9 > quality[[0, 3]].max()

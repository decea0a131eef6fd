"""Transition matrices read from anchors."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from skpresto._label_quality.anchors import anchor_transition_matrix


def naive_matrix(rows, labels, fraction):
    """Sort the probabilities of each class, and leave the highest ones out."""
    n_classes = len(rows[0])
    matrix = []
    for i in range(n_classes):
        n_outliers = round(fraction * labels.count(i))
        left = rows
        if n_outliers > 0:
            limit = sorted((row[i] for row in rows), reverse=True)[n_outliers - 1]
            left = [row for row in rows if row[i] < limit]
        anchor = max(left or rows, key=lambda row: row[i])
        possible = [max(p, 1e-7) for p in anchor]
        matrix.append([p / sum(possible) for p in possible])
    return matrix


@st.composite
def probabilities(draw):
    n_classes = draw(st.integers(2, 4))
    weights = st.lists(st.integers(0, 20), min_size=n_classes, max_size=n_classes)
    rows = draw(st.lists(weights.filter(any), min_size=1, max_size=30))
    counts = torch.tensor(rows, dtype=torch.float64)
    label = st.integers(0, n_classes - 1)
    labels = draw(st.lists(label, min_size=len(rows), max_size=len(rows)))
    return counts / counts.sum(dim=1, keepdim=True), torch.tensor(labels)


@given(drawn=probabilities(), fraction=st.sampled_from([0.0, 0.1, 0.3, 0.9]))
def test_matrix_equals_its_naive_twin(drawn, fraction):
    p, labels = drawn
    matrix = anchor_transition_matrix(p, labels, fraction)
    expected = naive_matrix(p.tolist(), labels.tolist(), fraction)
    torch.testing.assert_close(matrix, torch.tensor(expected, dtype=torch.float64))


def test_matrix_by_hand():
    """Of 101 samples, 10 have the label 0: the three highest are left out."""
    first = torch.linspace(0, 1, 101)
    p, labels = torch.stack([first, 1 - first], dim=1), torch.ones(101).long()
    labels[:10] = 0
    matrix = anchor_transition_matrix(p, labels, 0.3)
    # and 27 of the 91 with the label 1
    assert matrix.flatten().tolist() == pytest.approx([0.97, 0.03, 0.27, 0.73])


def test_equal_probabilities_leave_no_sample_out():
    labels = torch.tensor([0, 0, 0, 0, 1])
    matrix = anchor_transition_matrix(torch.full((5, 2), 0.5), labels, 0.5)
    assert matrix.tolist() == [[0.5, 0.5], [0.5, 0.5]]

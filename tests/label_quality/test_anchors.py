"""Transition matrices read from anchors."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from skpresto._label_quality.anchors import anchor_transition_matrix


def naive_matrix(rows, fraction):
    """Sort the probabilities of each class, and leave the highest ones out."""
    n_classes = len(rows[0])
    matrix = []
    for i in range(n_classes):
        ordered = sorted(row[i] for row in rows)
        limit = ordered[math.ceil((1 - fraction) * (len(rows) - 1) - 1e-9)]
        left = [row for row in rows if row[i] < limit] if fraction > 0 else rows
        anchor = max(left or rows, key=lambda row: row[i])
        matrix.append([p / sum(anchor) for p in anchor])
    return matrix


@st.composite
def probabilities(draw):
    n_classes = draw(st.integers(2, 4))
    weights = st.lists(st.integers(0, 20), min_size=n_classes, max_size=n_classes)
    rows = draw(st.lists(weights.filter(any), min_size=1, max_size=30))
    counts = torch.tensor(rows, dtype=torch.float64)
    return counts / counts.sum(dim=1, keepdim=True)


@given(p=probabilities(), fraction=st.sampled_from([0.0, 0.03, 0.1, 0.5]))
def test_matrix_equals_its_naive_twin(p, fraction):
    matrix = anchor_transition_matrix(p, fraction)
    torch.testing.assert_close(
        matrix, torch.tensor(naive_matrix(p.tolist(), fraction), dtype=torch.float64)
    )


def test_ninety_seventh_percentile_by_hand():
    """Of 101 samples, those at positions 97 to 100 are left out."""
    first = torch.linspace(0, 1, 101)
    matrix = anchor_transition_matrix(torch.stack([first, 1 - first], dim=1), 0.03)
    assert matrix.flatten().tolist() == pytest.approx([0.96, 0.04, 0.04, 0.96])


def test_equal_probabilities_leave_no_sample_out():
    matrix = anchor_transition_matrix(torch.full((5, 2), 0.5), 0.2)
    assert matrix.tolist() == [[0.5, 0.5], [0.5, 0.5]]

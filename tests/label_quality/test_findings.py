import numpy as np
import pytest
import torch

from skpresto._label_quality.findings import LabelFindings


@pytest.fixture
def findings():
    """Findings on four labels of three classes, made of tensors."""
    return LabelFindings(
        is_safe=torch.tensor([True, False, True, True]),
        quality=torch.tensor([0.9, 0.1, 0.75, 0.5]),
        suggested=torch.tensor([0, 2, 1, 1]),
        agreement=torch.tensor([1.0, 0.0, 0.5, 0.5]),
        corrected=torch.tensor([0, 2, 1, 1]),
        is_corrected=torch.tensor([False, True, False, False]),
        transition_matrix=torch.eye(3),
    )


def test_tensors_become_arrays(findings):
    kinds = {
        "is_safe": np.bool_,
        "quality": np.float64,
        "suggested": np.int64,
        "agreement": np.float64,
        "corrected": np.int64,
        "is_corrected": np.bool_,
        "transition_matrix": np.float64,
    }
    for name, kind in kinds.items():
        value = getattr(findings, name)
        assert isinstance(value, np.ndarray)
        assert value.dtype == kind
    assert findings.quality.tolist() == pytest.approx([0.9, 0.1, 0.75, 0.5])


def test_arrays_are_taken_as_they_are():
    suggested = np.array([1, 0])
    findings = LabelFindings(np.array([True, False]), [0.5, 0.25], suggested, [1, 0])
    assert findings.suggested is suggested
    assert findings.quality.dtype == findings.agreement.dtype == np.float64
    assert findings.corrected is findings.is_corrected is None
    assert findings.transition_matrix is None


def test_the_noise_rate_is_the_fraction_outside_the_safe_set_unless_given(findings):
    assert findings.noise_rate == 0.25
    assert isinstance(findings.noise_rate, float)
    given = LabelFindings(
        findings.is_safe,
        findings.quality,
        findings.suggested,
        findings.agreement,
        noise_rate=0,
    )
    assert given.noise_rate == 0


def test_decoding_replaces_class_numbers_by_labels(findings):
    decoded = findings.decoded(["ant", "bee", "cat"])
    assert decoded.suggested.tolist() == ["ant", "cat", "bee", "bee"]
    assert decoded.corrected.tolist() == ["ant", "cat", "bee", "bee"]
    for name in ("is_safe", "quality", "agreement", "is_corrected"):
        assert np.array_equal(getattr(decoded, name), getattr(findings, name))
    assert np.array_equal(decoded.transition_matrix, findings.transition_matrix)
    assert decoded.noise_rate == findings.noise_rate
    assert findings.suggested.tolist() == [0, 2, 1, 1]  # unchanged


def test_decoding_keeps_what_a_method_does_not_report(findings):
    plain = LabelFindings(
        findings.is_safe, findings.quality, findings.suggested, findings.agreement
    )
    decoded = plain.decoded(np.array([10, 20, 30]))
    assert decoded.suggested.tolist() == [10, 30, 20, 20]
    assert decoded.corrected is decoded.is_corrected is None
    assert decoded.transition_matrix is None

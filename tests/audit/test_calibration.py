"""Numbers of wrong labels: bounds, monotony, checks by hand, and a twin in loops."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from skpresto._label_quality.planted import PlantedErrors
from skpresto.audit import ErrorEstimate
from skpresto.audit._calibration import ErrorCalibration
from skpresto.audit._constants import CROSS_FITTED, IN_SAMPLE, OUT_OF_FOLD
from skpresto.audit._evidence import held_out_evidence, planted_evidence

qualities = npst.arrays(np.float64, st.integers(1, 60), elements=st.floats(0, 1))
held_out = st.builds(
    held_out_evidence,
    st.just(IN_SAMPLE),
    n_classes=st.integers(2, 100),
    mean_error=st.floats(0, 1),
    rejected_fraction=st.floats(0, 1),
    disagreement=st.none() | st.floats(0, 1),
)
planted = st.builds(
    planted_evidence,
    st.sampled_from([OUT_OF_FOLD, CROSS_FITTED]),
    st.builds(
        PlantedErrors,
        mean_error=st.floats(0, 1),
        slope=st.floats(-3, 3),
        auc=st.floats(0, 1),
        sharpness=st.floats(0.25, 8),
    ),
)
evidence = held_out | planted
KNOWN = planted_evidence(OUT_OF_FOLD, PlantedErrors(0.2, 0.3, 0.95))


@given(qualities, evidence)
def test_counts_grow_with_the_number_of_labels_and_stay_below_it(quality, evidence):
    calibration = ErrorCalibration(quality, evidence)
    order = np.argsort(quality, kind="stable")
    expected, low, high = calibration.cumulative(order)
    numbers = np.arange(len(quality) + 1)
    for values in (expected, low, high):
        assert np.all(np.diff(values) >= 0)
        assert np.all((values >= 0) & (values <= numbers + 1e-9))
    assert np.all((low <= expected) & (expected <= high + 1e-9))


@given(qualities, evidence)
def test_a_lower_quality_never_means_a_smaller_probability_of_error(quality, evidence):
    probability = ErrorCalibration(quality, evidence).error_probability
    assert np.all(np.diff(probability[np.argsort(quality)]) <= 1e-12)
    assert np.all((probability >= 0) & (probability <= 1))


@given(qualities, evidence)
def test_intervals_of_a_class_are_at_least_as_wide(quality, evidence):
    calibration = ErrorCalibration(quality, evidence)
    overall, of_class = calibration.total(), calibration.total(is_class=True)
    assert of_class.expected == overall.expected
    assert of_class.low <= overall.low
    assert overall.high <= of_class.high


def naive_scores(quality):
    ranks = [
        sum(other < q for other in quality) + (sum(other == q for other in quality)) / 2
        for q in quality
    ]
    return [NormalDist().inv_cdf(1 - rank / len(quality)) for rank in ranks]


def naive_curves(quality, known):
    """Return (weight, probabilities) of all curves, with levels found in loops."""
    scores, constants = naive_scores(quality), known.constants
    curves = []
    for a in np.linspace(-2.6, 2.6, 15):
        for b in np.linspace(-2.2, 2.2, 11):
            rate = 1 / (1 + math.exp(-known.rate - constants.rate_spread * a))
            slope = math.exp(known.slope + constants.slope_spread * b)
            low, high = -200.0, 200.0
            for _ in range(60):
                level = (low + high) / 2
                p = [1 / (1 + math.exp(-level - slope * score)) for score in scores]
                low, high = (level, high) if np.mean(p) < rate else (low, level)
            curves.append((math.exp(-(a**2 + b**2) / 2), p))
    total = sum(weight for weight, _ in curves)
    clean = known.clean
    curves = [((1 - clean) * weight / total, p) for weight, p in curves]
    return [*curves, (clean, [0.0] * len(quality))]


def naive_total(curves, chosen):
    """Return expected number and ends of the interval of a mixture of normals."""
    parts = []
    for weight, p in curves:
        own = [p[i] for i in chosen]
        deviation = math.sqrt(sum(q * (1 - q) for q in own)) + 1e-6
        parts.append((weight, sum(own), deviation))

    def quantile(tail):
        low, high = -1000.0, 1000.0
        for _ in range(80):
            middle = (low + high) / 2
            below = sum(w * NormalDist(m, s).cdf(middle) for w, m, s in parts)
            low, high = (middle, high) if below < tail else (low, middle)
        return low

    expected = sum(w * m for w, m, _ in parts)
    low, high = math.floor(quantile(0.05)), math.ceil(quantile(0.95))
    return expected, max(0, low), min(len(chosen), high)


@pytest.mark.parametrize("n", [1, 30, 80])
def test_numbers_are_those_of_all_curves(n):
    quality = np.random.RandomState(0).beta(0.4, 0.3, size=80).round(2)
    calibration = ErrorCalibration(quality, KNOWN)
    order = np.argsort(quality, kind="stable")
    expected = naive_total(naive_curves(quality.tolist(), KNOWN), order[:n].tolist())
    found = [values[n] for values in calibration.cumulative(order)]
    assert found == pytest.approx(expected, rel=1e-5)
    assert calibration.total(order[:n]) == pytest.approx(expected, rel=1e-5)


def test_checked_labels_weigh_the_curves_by_their_likelihood():
    quality = np.random.RandomState(1).beta(0.4, 0.3, size=60)
    rows, is_wrong = np.array([3, 10, 40]), np.array([True, False, True])
    curves = []
    for weight, p in naive_curves(quality.tolist(), KNOWN):
        likelihood = 1.0
        for row, wrong in zip(rows, is_wrong, strict=True):
            q = 0.01 + 0.98 * p[row]
            likelihood *= q if wrong else 1 - q
        curves.append((weight * likelihood**0.6, p))
    total = sum(weight for weight, _ in curves)
    curves = [(weight / total, p) for weight, p in curves]
    found = ErrorCalibration(quality, KNOWN, (rows, is_wrong)).total()
    assert found == pytest.approx(naive_total(curves, range(60)), rel=1e-5)


def test_many_labels_are_joined_without_changing_numbers_much():
    quality = np.random.RandomState(0).beta(0.4, 0.3, size=5000)
    order = np.argsort(quality)
    calibration = ErrorCalibration(quality, KNOWN)
    found = calibration.cumulative(order)
    assert found[0][-1] == pytest.approx(calibration.error_probability.sum())
    scores = calibration.scores[order[:100]]
    exact = (calibration.curves.weight @ calibration.curves.probabilities(scores)).sum()
    assert found[0][100] == pytest.approx(exact, rel=1e-3)


def test_checks_that_find_no_error_say_that_labels_are_clean():
    quality = np.random.RandomState(0).uniform(size=1000)
    order = np.argsort(quality)
    checked = order[:50], np.zeros(50, dtype=bool)
    before, after = (
        ErrorCalibration(quality, KNOWN, c).total(order[:100]) for c in (None, checked)
    )
    assert after.low == 0
    assert after.high < 20 < before.high


def test_where_planted_errors_cannot_be_told_no_lower_limit_is_stated():
    blind = planted_evidence(OUT_OF_FOLD, PlantedErrors(0.4, -1.0, 0.75))
    quality = np.random.RandomState(0).uniform(size=500)
    order = np.argsort(quality)
    assert not blind.tells_errors
    calibration = ErrorCalibration(quality, blind)
    assert not calibration.is_known
    assert not calibration.cumulative(order)[1].any()
    is_wrong = np.arange(40) % 4 > 0
    checked = ErrorCalibration(quality, blind, (order[:40], is_wrong))
    assert checked.is_known
    assert checked.total(order[:100]).low > 0


@given(qualities, st.floats(0.1, 10))
def test_the_scores_depend_on_the_order_of_the_quality_only(quality, power):
    rounded = quality.round(3)
    scores = [ErrorCalibration(q, KNOWN).scores for q in (rounded, rounded**power)]
    np.testing.assert_array_equal(*scores)


def test_without_held_out_rows_a_typical_gap_is_assumed():
    how = {"n_classes": 3, "mean_error": 0.3, "rejected_fraction": 0.2}
    unknown = held_out_evidence(IN_SAMPLE, **how)
    disagreement = 1 / (1 + 4 * math.exp(-0.4))
    known = held_out_evidence(IN_SAMPLE, **how, disagreement=disagreement)
    assert known.rate_inputs == pytest.approx(unknown.rate_inputs)
    assert known.slope_inputs == pytest.approx(unknown.slope_inputs)


def test_a_larger_gap_means_a_flatter_curve():
    how = {"n_classes": 5, "mean_error": 0.3, "disagreement": 0.4}
    known = [
        held_out_evidence(IN_SAMPLE, **how, rejected_fraction=r)
        for r in (0.38, 0.2, 0.05)
    ]
    slopes = [evidence.slope for evidence in known]
    assert slopes == sorted(slopes, reverse=True)


def test_an_estimate_can_be_a_fraction():
    assert ErrorEstimate(5, 4, 8) / 10 == ErrorEstimate(0.5, 0.4, 0.8)
    assert ErrorEstimate(0, 0, 0) / 0 == ErrorEstimate(0, 0, 0)

"""Numbers of wrong labels: bounds, monotony and the naive sums."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from skpresto.audit import ErrorEstimate
from skpresto.audit._calibration import ErrorCalibration, Evidence
from skpresto.audit._constants import IN_SAMPLE, OUT_OF_FOLD

qualities = npst.arrays(np.float64, st.integers(1, 60), elements=st.floats(0, 1))
evidence = st.builds(
    Evidence,
    st.sampled_from([IN_SAMPLE, OUT_OF_FOLD]),
    n_classes=st.integers(2, 100),
    rejected_fraction=st.floats(0, 1),
    disagreement=st.none() | st.floats(0, 1),
)


@given(qualities, evidence)
def test_counts_grow_with_the_number_of_labels_and_stay_below_it(quality, evidence):
    calibration = ErrorCalibration(quality, evidence)
    order = np.argsort(quality, kind="stable")
    expected, low, high = calibration.cumulative(order)
    numbers = np.arange(len(quality) + 1)
    for values in (expected, low, high):
        assert np.all(np.diff(values) >= 0)
        assert np.all((values >= 0) & (values <= numbers))
    assert np.all((low <= expected) & (expected <= high))


@given(qualities, evidence)
def test_a_lower_quality_never_means_a_smaller_probability_of_error(quality, evidence):
    probability = ErrorCalibration(quality, evidence).error_probability
    assert np.all(np.diff(probability[np.argsort(quality)]) <= 0)
    assert np.all((probability >= 0) & (probability <= 1))


@given(qualities, evidence)
def test_intervals_of_a_class_are_at_least_as_wide(quality, evidence):
    calibration = ErrorCalibration(quality, evidence)
    overall, of_class = calibration.total(), calibration.total(is_class=True)
    assert of_class.expected == overall.expected
    assert of_class.low <= overall.low
    assert overall.high <= of_class.high


def log_odds(fraction):
    fraction = min(max(fraction, 0.002), 0.998)
    return math.log(fraction / (1 - fraction))


def naive_curve(quality, known, rate_shift=0.0, slope_shift=0.0):
    """Return error probabilities, with the level found by bisection in loops."""
    constants = known.constants
    gap = max(0.0, log_odds(known.disagreement) - log_odds(known.rejected_fraction))
    rate = constants.rate[0] + rate_shift
    rate += constants.rate[1] * log_odds(1 - sum(quality) / len(quality))
    rate += constants.rate[2] * log_odds(known.disagreement)
    slope = constants.slope[0] + constants.slope[1] * gap + slope_shift
    slope = math.exp(slope + constants.slope[2] * math.log(known.n_classes))
    ranks = [
        sum(other < q for other in quality) + sum(other == q for other in quality) / 2
        for q in quality
    ]
    scores = [NormalDist().inv_cdf(1 - rank / len(quality)) for rank in ranks]
    low, high = -200.0, 200.0
    for _ in range(200):
        level = (low + high) / 2
        curve = [1 / (1 + math.exp(-level - slope * score)) for score in scores]
        is_low = sum(curve) / len(curve) < 1 / (1 + math.exp(-rate))
        low, high = (level, high) if is_low else (low, level)
    return curve, gap


def naive_total(quality, known):
    """Return the estimate and its interval."""
    curve, gap = naive_curve(quality, known)
    at_zero, per_gap = known.constants.rate_spread
    shifts = [
        {"rate_shift": 1.645 * (at_zero + per_gap * gap)},
        {"slope_shift": 1.645 * known.constants.slope_spread},
    ]
    below = above = 1.645**2 * sum(p * (1 - p) for p in curve)
    for shift in shifts:
        totals = [
            sum(naive_curve(quality, known, **{name: sign * value})[0])
            for name, value in shift.items()
            for sign in (-1, 1)
        ]
        below += max(0, sum(curve) - min(totals)) ** 2
        above += max(0, max(totals) - sum(curve)) ** 2
    low, high = sum(curve) - math.sqrt(below), sum(curve) + math.sqrt(above)
    n_labels = len(quality)
    return sum(curve), max(0, math.floor(low)), min(n_labels, math.ceil(high))


@pytest.mark.parametrize("constants", [IN_SAMPLE, OUT_OF_FOLD])
def test_the_total_is_that_of_the_logistic_curve(constants):
    quality = np.random.RandomState(0).beta(0.4, 0.3, size=150).round(2)
    known = Evidence(constants, n_classes=4, rejected_fraction=0.3, disagreement=0.4)
    found = ErrorCalibration(quality, known).total()
    assert found == pytest.approx(naive_total(quality.tolist(), known), rel=1e-6)


@given(qualities, st.floats(0.1, 10))
def test_the_scores_depend_on_the_order_of_the_quality_only(quality, power):
    known = Evidence(IN_SAMPLE, n_classes=3, rejected_fraction=0.2)
    rounded = quality.round(3)
    scores = [ErrorCalibration(q, known)._scores for q in (rounded, rounded**power)]
    np.testing.assert_array_equal(*scores)


def test_a_larger_gap_means_a_flatter_curve_and_a_wider_interval():
    quality = np.linspace(0, 1, 200)
    order = np.arange(200)
    known = [Evidence(IN_SAMPLE, 5, r, disagreement=0.4) for r in (0.38, 0.2, 0.05)]
    found = [ErrorCalibration(quality, evidence) for evidence in known]
    first = [calibration.error_probability[0] for calibration in found]
    assert first == sorted(first, reverse=True)
    widths = [np.ptp(calibration.total()[1:]) for calibration in found]
    assert widths == sorted(widths)
    assert all(c.cumulative(order)[2][-1] <= 200 for c in found)


def test_without_held_out_rows_a_typical_gap_is_assumed():
    unknown = Evidence(IN_SAMPLE, 3, rejected_fraction=0.2)
    assert unknown.gap == pytest.approx(0.4)
    known = Evidence(IN_SAMPLE, 3, 0.2, disagreement=1 / (1 + 4 * math.exp(-0.4)))
    quality = np.linspace(0, 1, 50)
    totals = [ErrorCalibration(quality, e).total() for e in (unknown, known)]
    assert totals[0] == pytest.approx(totals[1])


def test_an_estimate_can_be_a_fraction():
    assert ErrorEstimate(5, 4, 8) / 10 == ErrorEstimate(0.5, 0.4, 0.8)
    assert ErrorEstimate(0, 0, 0) / 0 == ErrorEstimate(0, 0, 0)

"""Numbers of wrong labels: bounds, monotony and the naive sums."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from skpresto.audit import ErrorEstimate
from skpresto.audit._calibration import (
    IN_SAMPLE,
    OUT_OF_FOLD,
    ErrorCalibration,
    Evidence,
)

qualities = npst.arrays(np.float64, st.integers(1, 60), elements=st.floats(0, 1))
evidence = st.builds(
    Evidence,
    st.sampled_from([IN_SAMPLE, OUT_OF_FOLD]),
    st.none() | st.floats(0, 1),
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
    assert np.all((probability > 0) & (probability < 1))


@given(qualities, evidence)
def test_intervals_of_a_class_are_at_least_as_wide(quality, evidence):
    calibration = ErrorCalibration(quality, evidence)
    overall, of_class = calibration.total(), calibration.total(is_class=True)
    assert of_class.expected == overall.expected
    assert of_class.low <= overall.low
    assert overall.high <= of_class.high


def naive_total(quality, settings):
    """Return the estimate and its interval, without a held-out disagreement."""
    expected = variance = lowest = highest = 0.0
    for q in quality:
        odds = math.log((1 - q) / q)
        odds = min(max(odds, -settings.max_log_odds), settings.max_log_odds)
        odds = settings.slope * odds + settings.shift
        p, low, high = (
            1 / (1 + math.exp(-odds - shift))
            for shift in (0.0, -settings.spread_low, settings.spread_high)
        )
        expected += p
        variance += p * (1 - p)
        lowest += low
        highest += high
    chance = 1.645 * math.sqrt(variance)
    low = expected - math.hypot(expected - lowest, chance)
    high = expected + math.hypot(highest - expected, chance)
    n_labels = len(quality)
    return expected, max(0, math.floor(low)), min(n_labels, math.ceil(high))


@pytest.mark.parametrize("settings", [IN_SAMPLE, OUT_OF_FOLD])
def test_the_total_is_the_sum_of_the_probabilities(settings):
    quality = np.random.RandomState(0).beta(0.4, 0.3, size=200)
    found = ErrorCalibration(quality, Evidence(settings)).total()
    assert found == pytest.approx(naive_total(quality, settings))


def test_labels_that_were_memorized_are_suspected_more():
    quality = np.linspace(0.5, 1, 100)
    totals = [
        ErrorCalibration(quality, Evidence(IN_SAMPLE, disagreement)).total().expected
        for disagreement in (None, 0.2, 0.4, 0.6)
    ]
    assert totals[0] == totals[1] < totals[2] < totals[3]


def test_an_estimate_can_be_a_fraction():
    assert ErrorEstimate(5, 4, 8) / 10 == ErrorEstimate(0.5, 0.4, 0.8)
    assert ErrorEstimate(0, 0, 0) / 0 == ErrorEstimate(0, 0, 0)

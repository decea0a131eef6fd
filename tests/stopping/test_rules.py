"""The stop point of each rule for records with a known result."""

import pytest
from sklearn.base import clone

from skpresto.stopping import (
    AgreementStop,
    EpochRecord,
    HoldoutStop,
    LabelWaveStop,
    LossMixtureStop,
    MemorizedFractionStop,
    NoiseRateStop,
    OracleStop,
    ValidationStop,
)


def records_of(**columns):
    """Return one record per epoch from columns of equal length."""
    defaults = dict.fromkeys(
        ("train_loss", "train_error", "memorized_fraction", "changed_fraction"), 0.0
    )
    rows = zip(*columns.values(), strict=True)
    return [
        EpochRecord(
            epoch=number + 1,
            stage="phase 1",
            **{**defaults, **dict(zip(columns, row, strict=True))},
        )
        for number, row in enumerate(rows)
    ]


@pytest.mark.parametrize(
    ("settings", "errors", "candidate", "is_settled"),
    [
        ({"patience": 2}, [0.5], 0, False),
        ({"patience": 2}, [0.5, 0.3, 0.4], 1, False),
        ({"patience": 2}, [0.5, 0.3, 0.4, 0.35], 1, True),
        ({"patience": 2}, [0.5, 0.3, 0.3, 0.3], 1, True),  # the first of equal errors
        ({"patience": 2}, [0.5, 0.3, 0.4, 0.2], 3, False),
        # One standard error of 0.3 on 100 rows is 0.046.
        ({"patience": 2, "tolerance": 1}, [0.5, 0.34, 0.3, 0.4], 1, False),
        ({"patience": 2, "tolerance": 1}, [0.5, 0.35, 0.3, 0.4, 0.4], 2, True),
    ],
)
@pytest.mark.parametrize(
    ("rule", "error", "number"),
    [
        (ValidationStop(), "valid_error", "n_valid"),
        (HoldoutStop(tolerance=0), "holdout_error", "n_holdout"),
    ],
)
def test_the_epoch_with_the_lowest_error_within_tolerance_is_chosen(
    rule, error, number, settings, errors, candidate, is_settled
):
    rule = clone(rule).set_params(**settings)
    records = records_of(**{error: errors, number: [100] * len(errors)})
    assert rule.candidate(records) == candidate
    assert rule.is_settled(records) is is_settled


def test_without_tolerance_only_the_candidate_is_a_contender():
    records = records_of(valid_error=[0.5, 0.3, 0.4], n_valid=[100] * 3)
    assert list(ValidationStop().contenders(records)) == [1]
    assert list(ValidationStop(tolerance=1).contenders(records)) == [1, 2]


@pytest.mark.parametrize(
    ("rule", "errors", "candidate", "is_settled"),
    [
        (NoiseRateStop(0.4), [0.6, 0.5], 1, False),
        (NoiseRateStop(0.4), [0.6, 0.4, 0.3], 1, True),
        (NoiseRateStop(0.4, margin=0.1), [0.6, 0.5, 0.4], 1, True),
        (NoiseRateStop(0.0), [0.6, 0.1], 1, False),
    ],
)
def test_noise_rate_stops_when_the_training_error_reaches_the_rate(
    rule, errors, candidate, is_settled
):
    records = records_of(train_error=errors)
    assert rule.candidate(records) == candidate
    assert rule.is_settled(records) is is_settled


@pytest.mark.parametrize(
    ("memorized", "candidate", "is_settled"),
    [([0.2, 0.5], 1, False), ([0.2, 0.6, 0.7], 1, True), ([0.7], 0, True)],
)
def test_memorized_fraction_stops_when_it_reaches_the_fraction_of_correct_labels(
    memorized, candidate, is_settled
):
    records = records_of(memorized_fraction=memorized)
    rule = MemorizedFractionStop(0.4)
    assert rule.candidate(records) == candidate
    assert rule.is_settled(records) is is_settled


@pytest.mark.parametrize(
    ("memorized", "rates", "min_epochs", "candidate", "is_settled"),
    [
        ([0.5, 0.55, 0.65, 0.7], [0.4, 0.4, 0.4, 0.3], 1, 2, True),
        ([0.5, 0.55, 0.65, 0.7], [0.4, 0.45, 0.4, 0.3], 1, 1, True),
        ([0.5, 0.55, 0.65, 0.7], [0.4, 0.45, 0.4, 0.3], 3, 2, True),
        ([0.7, 0.7], [0.4, 0.4], 3, 1, False),
        # A later estimate does not undo a stop point, nor does it make one.
        ([0.6, 0.6, 0.6], [0.4, 0.1, 0.5], 1, 0, True),
        ([0.5, 0.6, 0.6], [0.4, 0.3, 0.3], 1, 2, False),
        ([0.9, 0.9], [None, None], 1, 1, False),  # records of other rules
    ],
)
def test_loss_mixture_stops_when_the_rest_of_the_estimated_rate_is_memorized(
    memorized, rates, min_epochs, candidate, is_settled
):
    records = records_of(memorized_fraction=memorized, estimated_noise_rate=rates)
    rule = LossMixtureStop(min_epochs)
    assert rule.candidate(records) == candidate
    assert rule.is_settled(records) is is_settled


def test_oracle_stops_where_precision_and_recall_cross():
    records = records_of(
        memorization_precision=[0.95, 0.9, 0.85, 0.7],
        memorization_recall=[0.5, 0.8, 0.86, 0.95],
    )
    assert OracleStop().candidate(records) == 2
    assert OracleStop().is_settled(records)
    assert not OracleStop().is_settled(records[:2])


def test_oracle_does_not_stop_while_nothing_is_memorized():
    nan = float("nan")
    records = records_of(memorization_precision=[nan], memorization_recall=[0.0])
    assert not OracleStop().is_settled(records)


def agreement_records(holdout, memorized, n_holdout=10**6):
    """Return records with, by default, a negligible standard error."""
    return records_of(
        holdout_error=holdout,
        memorized_fraction=memorized,
        n_holdout=[n_holdout] * len(holdout),
    )


@pytest.mark.parametrize(
    ("holdout", "memorized", "candidate", "is_settled"),
    [
        # The lowest error is 0.45: stop where 55 % are memorized.
        ([0.6, 0.5, 0.45, 0.5], [0.3, 0.5, 0.56, 0.7], 2, False),
        ([0.6, 0.5, 0.45, 0.5, 0.5], [0.3, 0.5, 0.56, 0.7, 0.8], 2, True),
        # The threshold is never reached: the rule is never settled.
        ([0.2, 0.2, 0.2, 0.2], [0.3, 0.4, 0.5, 0.6], 3, False),
        # A lower error later raises the threshold, and the candidate moves forward.
        ([0.6, 0.5, 0.5, 0.35], [0.3, 0.52, 0.6, 0.7], 3, False),
    ],
)
def test_agreement_stops_where_memorized_labels_reach_the_held_out_accuracy(
    holdout, memorized, candidate, is_settled
):
    records = agreement_records(holdout, memorized)
    rule = AgreementStop(patience=2, min_epochs=1)
    assert rule.candidate(records) == candidate
    assert rule.is_settled(records) is is_settled


@pytest.mark.parametrize(
    ("margin", "memorized", "candidate"),
    [
        # An error of 50 % on 100 held-out rows has a standard error of 5 points.
        (0, [0.4, 0.5, 0.54, 0.59, 0.7], 1),
        (1, [0.4, 0.5, 0.54, 0.59, 0.7], 3),
        (2, [0.4, 0.5, 0.54, 0.59, 0.7], 4),
        # The raised threshold is not reached: the plain threshold counts.
        (2, [0.4, 0.5, 0.54, 0.59, 0.59], 1),
    ],
)
def test_agreement_raises_its_threshold_by_the_margin_if_that_is_reached(
    margin, memorized, candidate
):
    records = agreement_records([0.5] * 5, memorized, n_holdout=100)
    rule = AgreementStop(margin=margin, min_epochs=1)
    assert rule.candidate(records) == candidate


def test_a_longer_window_lowers_the_threshold_of_agreement():
    holdout, memorized = [0.6, 0.5, 0.4, 0.5], [0.3, 0.5, 0.56, 0.7]
    records = agreement_records(holdout, memorized)
    for window, candidate in ((1, 3), (2, 2)):  # thresholds of 60 and 55 %
        rule = AgreementStop(margin=0, window=window, min_epochs=1)
        assert rule.candidate(records) == candidate


@pytest.mark.parametrize(("minimum", "candidate"), [(0, 0), (0.5, 2), (0.7, 3)])
def test_agreement_does_not_stop_below_the_minimum_memorized(minimum, candidate):
    """The held-out error is 80 %, so the threshold is 20 %."""
    records = agreement_records([0.8] * 4, [0.3, 0.4, 0.5, 0.6], n_holdout=10_000)
    rule = AgreementStop(min_memorized_fraction=minimum, min_epochs=1, patience=1)
    assert rule.candidate(records) == candidate
    assert rule.is_settled(records) is (minimum < 0.7)


def test_agreement_does_not_move_back_when_a_new_threshold_is_not_reached():
    holdout, memorized = [0.5, 0.5, 0.5, 0.45], [0.5, 0.55, 0.6, 0.61]
    records = agreement_records(holdout, memorized, n_holdout=100)
    rule = AgreementStop(margin=2, min_epochs=1)
    assert rule.candidate(records[:3]) == 2
    assert rule.candidate(records) == 2  # the plain threshold is reached at 1


def test_agreement_does_not_stop_before_min_epochs():
    records = agreement_records([0.5] * 4, [0.6] * 4)
    assert AgreementStop(min_epochs=3).candidate(records) == 2
    assert AgreementStop(min_epochs=3).candidate(records[:2]) == 1
    assert not AgreementStop(min_epochs=9, patience=1).is_settled(records)


def test_contenders_of_agreement_are_epochs_with_more_memorized_than_before():
    records = agreement_records([0.5] * 5, [0.4, 0.5, 0.45, 0.6, 0.55])
    rule = AgreementStop(margin=0, min_epochs=1)
    assert list(rule.contenders(records)) == [1, 3]


@pytest.mark.parametrize(
    ("window", "changes", "candidate", "is_settled"),
    [
        (1, [1.0, 0.5, 0.4, 0.3], 3, False),
        (1, [1.0, 0.5, 0.3, 0.4], 2, True),
        (1, [1.0, 0.5, 0.3, 0.3, 0.4], 3, True),  # the end of a flat minimum
        (3, [1.0, 0.5, 0.3, 0.4, 0.2], 4, False),  # a short fluctuation is averaged out
        (3, [1.0, 0.5, 0.3, 0.2, 0.4, 0.5], 4, True),
        (3, [1.0], 0, False),
        (3, [1.0, 0.2, 0.9], 2, False),  # fewer epochs than the window
    ],
)
def test_label_wave_stops_at_the_first_minimum_of_changed_predictions(
    window, changes, candidate, is_settled
):
    records = records_of(changed_fraction=changes)
    rule = LabelWaveStop(window)
    assert rule.candidate(records) == candidate
    assert rule.is_settled(records) is is_settled

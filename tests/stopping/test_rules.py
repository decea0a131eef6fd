"""Each rule against tables of records with a known answer."""

import pytest
from sklearn.base import clone

from skpresto.stopping import (
    AgreementStop,
    EpochRecord,
    HoldoutStop,
    LabelWaveStop,
    MemorizedFractionStop,
    NoiseRateStop,
    OracleStop,
    ValidationStop,
)


def records_of(**columns):
    """Return one record an epoch from columns of equal length."""
    plain = dict.fromkeys(
        ("train_loss", "train_error", "memorized_fraction", "changed_fraction"), 0.0
    )
    rows = zip(*columns.values(), strict=True)
    return [
        EpochRecord(
            epoch=number + 1,
            phase=1,
            **{**plain, **dict(zip(columns, row, strict=True))},
        )
        for number, row in enumerate(rows)
    ]


@pytest.mark.parametrize(
    ("settings", "errors", "candidate", "is_settled"),
    [
        ({"patience": 2}, [0.5], 0, False),
        ({"patience": 2}, [0.5, 0.3, 0.4], 1, False),
        ({"patience": 2}, [0.5, 0.3, 0.4, 0.35], 1, True),
        ({"patience": 2}, [0.5, 0.3, 0.3, 0.3], 1, True),  # the first of equals
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
def test_lowest_error(rule, error, number, settings, errors, candidate, is_settled):
    rule = clone(rule).set_params(**settings)
    records = records_of(**{error: errors, number: [100] * len(errors)})
    assert rule.candidate(records) == candidate
    assert rule.is_settled(records) is is_settled


def test_without_tolerance_only_the_candidate_needs_a_checkpoint():
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
def test_noise_rate(rule, errors, candidate, is_settled):
    records = records_of(train_error=errors)
    assert rule.candidate(records) == candidate
    assert rule.is_settled(records) is is_settled


@pytest.mark.parametrize(
    ("shares", "candidate", "is_settled"),
    [([0.2, 0.5], 1, False), ([0.2, 0.6, 0.7], 1, True), ([0.7], 0, True)],
)
def test_memorized_fraction(shares, candidate, is_settled):
    records = records_of(memorized_fraction=shares)
    rule = MemorizedFractionStop(0.4)
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
    """Return records of so many held-out rows that their error is certain."""
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
        # The bar is never reached: go on, however long it takes.
        ([0.2, 0.2, 0.2, 0.2], [0.3, 0.4, 0.5, 0.6], 3, False),
        # A lower error later raises the bar, and the candidate moves to the past.
        ([0.6, 0.5, 0.5, 0.35], [0.3, 0.52, 0.6, 0.7], 3, False),
    ],
)
def test_agreement(holdout, memorized, candidate, is_settled):
    records = agreement_records(holdout, memorized)
    rule = AgreementStop(patience=2, min_epochs=1)
    assert rule.candidate(records) == candidate
    assert rule.is_settled(records) is is_settled


@pytest.mark.parametrize(
    ("margin", "memorized", "candidate"),
    [
        # 100 rows held out, half of them wrong: a standard error of 5 points.
        (0, [0.4, 0.5, 0.54, 0.59, 0.7], 1),
        (1, [0.4, 0.5, 0.54, 0.59, 0.7], 3),
        (2, [0.4, 0.5, 0.54, 0.59, 0.7], 4),
        # The raised bar is out of reach: the plain one counts.
        (2, [0.4, 0.5, 0.54, 0.59, 0.59], 1),
    ],
)
def test_agreement_wants_more_than_chance_if_it_can_have_it(
    margin, memorized, candidate
):
    records = agreement_records([0.5] * 5, memorized, n_holdout=100)
    rule = AgreementStop(margin=margin, min_epochs=1)
    assert rule.candidate(records) == candidate


def test_a_longer_window_lowers_the_bar():
    holdout, memorized = [0.6, 0.5, 0.4, 0.5], [0.3, 0.5, 0.56, 0.7]
    records = agreement_records(holdout, memorized)
    for window, candidate in ((1, 3), (2, 2)):  # bars at 60 and 55 %
        rule = AgreementStop(margin=0, window=window, min_epochs=1)
        assert rule.candidate(records) == candidate


@pytest.mark.parametrize(("least", "candidate"), [(0, 0), (0.5, 2), (0.7, 3)])
def test_agreement_does_not_stop_where_too_little_is_memorized(least, candidate):
    """Hardly anything is known of unseen rows, and so the bar is at 20 %."""
    records = agreement_records([0.8] * 4, [0.3, 0.4, 0.5, 0.6], n_holdout=10_000)
    rule = AgreementStop(least=least, min_epochs=1, patience=1)
    assert rule.candidate(records) == candidate
    assert rule.is_settled(records) is (least < 0.7)


def test_agreement_does_not_go_back_when_a_bar_moves_out_of_reach():
    holdout, memorized = [0.5, 0.5, 0.5, 0.45], [0.5, 0.55, 0.6, 0.61]
    records = agreement_records(holdout, memorized, n_holdout=100)
    rule = AgreementStop(margin=2, min_epochs=1)
    assert rule.candidate(records[:3]) == 2
    assert rule.candidate(records) == 2  # the plain bar would be reached at 1


def test_agreement_does_not_stop_before_there_are_enough_votes():
    records = agreement_records([0.5] * 4, [0.6] * 4)
    assert AgreementStop(min_epochs=3).candidate(records) == 2
    assert AgreementStop(min_epochs=3).candidate(records[:2]) == 1
    assert not AgreementStop(min_epochs=9, patience=1).is_settled(records)


def test_agreement_keeps_checkpoints_only_of_epochs_that_memorized_more():
    records = agreement_records([0.5] * 5, [0.4, 0.5, 0.45, 0.6, 0.55])
    rule = AgreementStop(margin=0, min_epochs=1)
    assert list(rule.contenders(records)) == [1, 3]


@pytest.mark.parametrize(
    ("window", "changes", "candidate", "is_settled"),
    [
        (1, [1.0, 0.5, 0.4, 0.3], 3, False),
        (1, [1.0, 0.5, 0.3, 0.4], 2, True),
        (1, [1.0, 0.5, 0.3, 0.3, 0.4], 3, True),  # a flat minimum: its end
        (3, [1.0, 0.5, 0.3, 0.4, 0.2], 4, False),  # a small wave is smoothed away
        (3, [1.0, 0.5, 0.3, 0.2, 0.4, 0.5], 4, True),
        (3, [1.0], 0, False),
        (3, [1.0, 0.2, 0.9], 2, False),  # fewer epochs than the window
    ],
)
def test_label_wave(window, changes, candidate, is_settled):
    records = records_of(changed_fraction=changes)
    rule = LabelWaveStop(window)
    assert rule.candidate(records) == candidate
    assert rule.is_settled(records) is is_settled

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from skpresto import (
    CrossPrestoppingClassifier,
    DefaultClassifier,
    PrestoppingClassifier,
    PrestoppingPlusClassifier,
)
from skpresto.plots import MemorizationDisplay, StopPointDisplay
from skpresto.plots._records import path_of
from skpresto.stopping import AgreementStop, NoiseRateStop, OracleStop, StopRule
from tests.discovery import quick
from tests.plots.samples import RECORDS, STOP_EPOCH, records_in


def test_the_curves_of_the_rule_and_memorization_are_shown(fitted, legend_of):
    display = StopPointDisplay.from_estimator(fitted)
    assert set(legend_of(display)) - {"discarded epochs"} == {
        "memorization precision",
        "memorization recall",
        "training error",
        f"NoiseRateStop: epoch {fitted.stop_epoch_}",
    }
    assert display.ax_.get_xlabel() == "epoch"


def test_all_recorded_curves_are_shown_by_default(legend_of):
    display = StopPointDisplay(RECORDS, STOP_EPOCH).plot()
    shown = legend_of(display)
    expected = {"held-out error", "changed predictions", "stop point: epoch 2"}
    assert expected <= set(shown)
    assert "validation error" not in shown


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (AgreementStop(), {"memorized fraction", "held-out accuracy"}),
        (OracleStop(), set()),
    ],
)
def test_each_rule_has_its_own_curves(rule, expected, fitted, legend_of):
    fitted.stop_rule_ = rule
    fitted.history_, fitted.stop_epoch_ = list(RECORDS), STOP_EPOCH
    shown = set(legend_of(StopPointDisplay.from_estimator(fitted)))
    always = {"memorization precision", "memorization recall", "discarded epochs"}
    assert shown - always == expected | {f"{type(rule).__name__}: epoch 2"}


def test_all_curves_are_shown_for_a_custom_rule(fitted, legend_of):
    class CustomStop(StopRule):
        def candidate(self, records):
            return 0

        def is_settled(self, records):
            return True

    fitted.stop_rule_ = CustomStop()
    shown = legend_of(StopPointDisplay.from_estimator(fitted))
    expected = {"training error", "changed predictions", "memorized fraction"}
    assert expected <= set(shown)


def test_curves_can_be_chosen(fitted, legend_of):
    display = StopPointDisplay.from_estimator(fitted, curves=["changed_fraction"])
    shown = set(legend_of(display)) - {"discarded epochs"}
    assert shown == {
        "changed predictions",
        f"NoiseRateStop: epoch {fitted.stop_epoch_}",
    }


def test_discarded_epochs_are_dotted_and_start_at_the_stop_point():
    display = StopPointDisplay(RECORDS, STOP_EPOCH, curves=["memorized_fraction"])
    kept, discarded, *_ = display.plot().ax_.get_lines()
    assert kept.get_xdata().tolist() == [1, 2, 3, 4]
    assert kept.get_ydata().tolist() == [0.2, 0.5, 0.6, 0.75]
    assert discarded.get_linestyle() == ":"
    assert discarded.get_xdata().tolist() == [2, 3, 4]
    assert discarded.get_ydata().tolist() == [0.5, 0.7, 0.9]


def test_the_legend_has_no_discarded_epochs_if_there_are_none(legend_of):
    kept = [r for r in RECORDS if r.stage == "phase 2" or r.epoch <= STOP_EPOCH]
    display = StopPointDisplay(kept, STOP_EPOCH).plot()
    assert "discarded epochs" not in legend_of(display)


def test_frame_contains_all_epochs_of_both_phases(fitted):
    frame = StopPointDisplay.from_estimator(fitted).frame()
    assert frame["stage"].tolist() == [r.stage for r in fitted.history_]
    assert frame["train_error"].tolist() == [r.train_error for r in fitted.history_]
    assert frame["valid_error"].isna().all()


def test_all_curves_look_different():
    complete = [replace(record, valid_error=0.3) for record in RECORDS]
    lines = StopPointDisplay(complete, STOP_EPOCH).plot().ax_.get_lines()
    labeled = [line for line in lines if not line.get_label().startswith("_")]
    styles = {(line.get_color(), line.get_linestyle()) for line in labeled}
    assert len(styles) == len(labeled) == 10


def test_held_out_accuracy_is_one_minus_the_error():
    frame = StopPointDisplay(RECORDS, STOP_EPOCH).frame()
    np.testing.assert_allclose(frame["holdout_accuracy"], 1 - frame["holdout_error"])


def test_without_true_labels_the_other_curves_are_shown(noisy_blobs, legend_of):
    X, y, _ = noisy_blobs
    clf = quick(PrestoppingClassifier, stop=AgreementStop(patience=2)).fit(X, y)
    shown = legend_of(StopPointDisplay.from_estimator(clf))
    assert "memorized fraction" in shown
    assert "memorization recall" not in shown


def test_unknown_curves_are_rejected():
    match = r"StopPointDisplay has no curves named \['loss'\]. Choose from"
    with pytest.raises(ValueError, match=match):
        StopPointDisplay(RECORDS, STOP_EPOCH, curves=["loss"])


def test_a_classifier_without_a_stop_point_is_rejected(noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(DefaultClassifier).fit(X, y)
    with pytest.raises(ValueError, match="DefaultClassifier has no stop point"):
        StopPointDisplay.from_estimator(clf)


def test_an_unfitted_classifier_is_rejected():
    with pytest.raises(NotFittedError):
        StopPointDisplay.from_estimator(PrestoppingClassifier())


def test_the_final_network_of_prestopping_plus_is_not_shown(noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(PrestoppingPlusClassifier, stop=NoiseRateStop(0.5), q=3).fit(X, y)
    assert clf.history_[-1].stage == "final"
    frame = StopPointDisplay.from_estimator(clf).frame()
    assert frame["stage"].unique().tolist() == ["phase 1", "phase 2"]


def test_of_cross_prestopping_the_search_and_the_fold_networks_are_shown(noisy_blobs):
    """Only the search has the held-out error that the rule uses."""
    X, y, y_true = noisy_blobs
    rule = AgreementStop(margin=0, window=3)
    clf = quick(CrossPrestoppingClassifier, cv=2, max_epochs=30, stop=rule)
    clf = clf.fit(X, y, y_true=y_true)
    frame = StopPointDisplay.from_estimator(clf).frame()
    search = frame[frame["stage"] == "search"]
    assert search["epoch"].tolist() == list(range(1, len(search) + 1))
    assert search["holdout_error"].notna().all()
    folds = frame[frame["stage"] != "search"]
    assert set(folds["stage"]) <= {"cross-fit phase 1", "cross-fit phase 2"}
    assert folds["epoch"].tolist() == list(range(clf.stop_epoch_ + 1, 19))


def test_of_cross_prestopping_without_a_rule_the_fold_networks_are_shown(noisy_blobs):
    X, y, y_true = noisy_blobs
    clf = quick(CrossPrestoppingClassifier, cv=2, max_epochs=30)
    clf = clf.fit(X, y, y_true=y_true)
    frame = StopPointDisplay.from_estimator(clf).frame()
    assert set(frame["stage"]) == {"cross-fit phase 1", "cross-fit phase 2"}
    assert frame["epoch"].tolist() == list(range(1, 19))


def test_an_extension_of_the_same_networks_is_part_of_phase_one():
    records = [
        *records_in("cross-fit phase 1", (1, 2, 3), recall=0.9),
        *records_in("cross-fit phase 2", (4, 5), recall=0.9),
        *records_in("final", (1, 2, 3, 4, 5)),
    ]
    assert StopPointDisplay(records, 2).frame()["epoch"].tolist() == [1, 2, 3, 4, 5]
    assert MemorizationDisplay(records, 2).frame()["epoch"].tolist() == [1, 2, 3, 4, 5]


def test_an_extension_of_phase_one_is_shown_between_the_phases():
    """The rule stops after 2 of 4 epochs; phase I is extended to 3 epochs."""
    records = [
        *records_in("search", (1, 2, 3, 4), recall=0.1),
        *records_in("cross-fit phase 1", (1, 2, 3), recall=0.9),
        *records_in("cross-fit phase 2", (4, 5), recall=0.9),
        *records_in("final", (1, 2, 3, 4, 5)),
    ]
    frame = StopPointDisplay(records, 2).frame()
    assert frame["epoch"].tolist() == [1, 2, 3, 4, 3, 4, 5]
    memorization = MemorizationDisplay(records, 2).frame()
    assert memorization["epoch"].tolist() == [1, 2, 3, 4, 5]
    recalls = [record.memorization_recall for record in path_of(records, 2)]
    assert recalls == [0.1, 0.1, 0.9, 0.9, 0.9]


@pytest.mark.parametrize("phase_two_epochs", [(), (4, 5, 6)])
def test_after_a_fallback_only_its_own_phases_are_shown(phase_two_epochs):
    """The fold networks stop after 3 epochs, the fallback after 4."""
    folds = [
        *records_in("search", (1, 2, 3, 4), recall=0.1),
        *records_in("cross-fit phase 1", (1, 2, 3), recall=0.1),
        *records_in("cross-fit phase 2", phase_two_epochs, recall=0.1),
    ]
    fallback = [
        *records_in("fallback phase 1", (1, 2, 3, 4, 5), recall=0.9),
        *records_in("fallback phase 2", (5, 6), recall=0.9),
    ]
    frame = StopPointDisplay([*folds, *fallback], 4).frame()
    assert frame.equals(StopPointDisplay(fallback, 4).frame())
    assert frame["epoch"].tolist() == [1, 2, 3, 4, 5, 5, 6]
    memorization = MemorizationDisplay([*folds, *fallback], 4).frame()
    assert memorization.equals(MemorizationDisplay(fallback, 4).frame())
    assert memorization["epoch"].tolist() == [1, 2, 3, 4, 5, 6]


def test_a_fallback_without_phase_two_does_not_show_that_of_the_fold_networks():
    folds = [
        *records_in("search", (1, 2, 3), recall=0.1),
        *records_in("cross-fit phase 1", (1, 2), recall=0.1),
        *records_in("cross-fit phase 2", (3, 4), recall=0.1),
    ]
    fallback = records_in("fallback phase 1", (1, 2, 3, 4), recall=0.9)
    memorization = MemorizationDisplay([*folds, *fallback], 4).frame()
    assert memorization["stage"].tolist() == ["fallback phase 1"] * 4


def test_a_classifier_that_fell_back_is_shown_with_its_fallback(blobs):
    X, _ = blobs
    # Random labels of many classes: fewer than half of them can be accepted.
    y = np.random.RandomState(0).randint(8, size=len(X))
    clf = quick(CrossPrestoppingClassifier, cv=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf.fit(X, y)
    assert clf.used_fallback_
    frame = StopPointDisplay.from_estimator(clf).frame()
    assert set(frame["stage"]) <= {"fallback phase 1", "fallback phase 2"}
    assert frame["epoch"].tolist()[0] == 1

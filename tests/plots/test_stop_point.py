import numpy as np
import pytest

from skpresto import (
    DefaultClassifier,
    PrestoppingClassifier,
    PrestoppingPlusClassifier,
)
from skpresto.plots import MemorizationDisplay, StopPointDisplay
from skpresto.plots._records import path_of
from skpresto.stopping import AgreementStop, OracleStop, StopRule
from tests.discovery import quick
from tests.plots.samples import RECORDS, STOP_EPOCH, record


def test_the_rules_signal_the_stop_and_memorization_are_shown(fitted, legend_of):
    display = StopPointDisplay.from_estimator(fitted)
    assert set(legend_of(display)) - {"epochs undone"} == {
        "memorization precision",
        "memorization recall",
        "training error",
        f"NoiseRateStop: epoch {fitted.stop_epoch_}",
    }
    assert display.ax_.get_xlabel() == "epoch"


def test_all_curves_are_shown_if_no_rule_says_which(legend_of):
    display = StopPointDisplay(RECORDS, STOP_EPOCH).plot()
    shown = legend_of(display)
    assert {"held-out error", "changed predictions", "stop: epoch 2"} <= set(shown)
    assert "validation error" not in shown


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (AgreementStop(), {"memorized share", "held-out accuracy"}),
        (OracleStop(), set()),
    ],
)
def test_each_rule_has_its_signals(rule, expected, fitted, legend_of):
    fitted.stop_rule_ = rule
    fitted.history_, fitted.stop_epoch_ = list(RECORDS), STOP_EPOCH
    shown = set(legend_of(StopPointDisplay.from_estimator(fitted)))
    always = {"memorization precision", "memorization recall", "epochs undone"}
    assert shown - always == expected | {f"{type(rule).__name__}: epoch 2"}


def test_a_rule_of_ones_own_gets_all_curves(fitted, legend_of):
    class OwnStop(StopRule):
        def candidate(self, records):
            return 0

        def is_settled(self, records):
            return True

    fitted.stop_rule_ = OwnStop()
    shown = legend_of(StopPointDisplay.from_estimator(fitted))
    assert {"training error", "changed predictions", "memorized share"} <= set(shown)


def test_curves_can_be_chosen(fitted, legend_of):
    display = StopPointDisplay.from_estimator(fitted, curves=["changed_fraction"])
    shown = set(legend_of(display)) - {"epochs undone"}
    assert shown == {
        "changed predictions",
        f"NoiseRateStop: epoch {fitted.stop_epoch_}",
    }


def test_undone_epochs_branch_off_at_the_stop_point():
    display = StopPointDisplay(RECORDS, STOP_EPOCH, curves=["memorized_fraction"])
    way, undone, *_ = display.plot().ax_.get_lines()
    assert way.get_xdata().tolist() == [1, 2, 3, 4]
    assert way.get_ydata().tolist() == [0.2, 0.5, 0.6, 0.75]
    assert undone.get_linestyle() == ":"
    assert undone.get_xdata().tolist() == [2, 3, 4]
    assert undone.get_ydata().tolist() == [0.5, 0.7, 0.9]


def test_nothing_is_called_undone_if_nothing_was(legend_of):
    kept = [record for record in RECORDS if record.phase == 2 or record.epoch <= 2]
    assert "epochs undone" not in legend_of(StopPointDisplay(kept, 2).plot())


def test_frame_holds_the_numbers_behind_the_plot(fitted):
    frame = StopPointDisplay.from_estimator(fitted).frame()
    assert len(frame) == len(fitted.history_)
    assert frame["train_error"].tolist() == [r.train_error for r in fitted.history_]
    assert frame["valid_error"].isna().all()


def test_of_networks_that_repeat_phase_one_the_first_is_shown(noisy_blobs):
    """Only the network that found the stop point has the signals of the rule."""
    X, y, y_true = noisy_blobs
    clf = quick(PrestoppingPlusClassifier, max_epochs=30).fit(X, y, y_true=y_true)
    frame = StopPointDisplay.from_estimator(clf).frame()
    phase_one = frame[frame["phase"] == 1]
    n_seen = next(i for i, r in enumerate(clf.history_[1:], 1) if r.epoch == 1)
    assert phase_one["epoch"].tolist() == list(range(1, n_seen + 1))
    assert phase_one["holdout_error"].notna().all()
    beyond = list(range(clf.stop_epoch_ + 1, 31))
    assert frame[frame["phase"] == 2]["epoch"].tolist() == beyond


def test_held_out_accuracy_is_one_minus_the_error():
    frame = StopPointDisplay(RECORDS, STOP_EPOCH).frame()
    np.testing.assert_allclose(frame["holdout_accuracy"], 1 - frame["holdout_error"])


def test_without_true_labels_the_rest_is_drawn(noisy_blobs, legend_of):
    X, y, _ = noisy_blobs
    clf = quick(PrestoppingClassifier, stop=AgreementStop(patience=2)).fit(X, y)
    shown = legend_of(StopPointDisplay.from_estimator(clf))
    assert "memorized share" in shown
    assert "memorization recall" not in shown


def test_unknown_curves_are_refused():
    with pytest.raises(ValueError, match=r"cannot draw curves=\['loss'\]; choose from"):
        StopPointDisplay(RECORDS, STOP_EPOCH, curves=["loss"])


def test_a_classifier_without_a_stop_point_is_refused(noisy_blobs):
    X, y, _ = noisy_blobs
    with pytest.raises(ValueError, match="not fitted yet"):
        StopPointDisplay.from_estimator(quick(DefaultClassifier).fit(X, y))


@pytest.mark.parametrize("judged", [(), (4, 5, 6)], ids=["never", "in vain"])
def test_where_the_vote_decides_its_own_networks_are_shown(judged):
    """Judges stop after 3 epochs, the vote after 4."""
    judges = [record(epoch, phase=1, recall=0.1) for epoch in (1, 2, 3, 4, 1, 2, 3)]
    judges += [record(epoch, phase=2, recall=0.1) for epoch in judged]
    vote = [record(epoch, phase=1, recall=0.9) for epoch in (1, 2, 3, 4, 5)]
    vote += [record(epoch, phase=2, recall=0.9) for epoch in (5, 6)]
    everything = [*judges, *vote]
    frame = StopPointDisplay(everything, 4).frame()
    assert frame.equals(StopPointDisplay(vote, 4).frame())
    assert frame["epoch"].tolist() == [1, 2, 3, 4, 5, 5, 6]
    memorization = MemorizationDisplay(everything, 4).frame()
    assert memorization.equals(MemorizationDisplay(vote, 4).frame())
    assert memorization["epoch"].tolist() == [1, 2, 3, 4, 5, 6]


def test_a_vote_without_phase_two_does_not_show_that_of_the_judges():
    judges = [record(epoch, phase=1, recall=0.1) for epoch in (1, 2, 3, 1, 2)]
    judges += [record(epoch, phase=2, recall=0.1) for epoch in (3, 4)]
    vote = [record(epoch, phase=1, recall=0.9) for epoch in (1, 2, 3, 4)]
    memorization = MemorizationDisplay([*judges, *vote], 4).frame()
    assert memorization["epoch"].tolist() == [1, 2, 3, 4]


def test_judges_that_had_to_wait_leave_no_gap():
    """The rule stops after 2 of 4 epochs, and judges are heard after 3."""
    found = [record(epoch, phase=1, recall=0.1) for epoch in (1, 2, 3, 4)]
    judges = [record(epoch, phase=1, recall=0.9) for epoch in (1, 2, 3)]
    judges += [record(epoch, phase=2, recall=0.9) for epoch in (4, 5)]
    frame = StopPointDisplay([*found, *judges], 2).frame()
    assert frame["epoch"].tolist() == [1, 2, 3, 4, 3, 4, 5]
    memorization = MemorizationDisplay([*found, *judges], 2).frame()
    assert memorization["epoch"].tolist() == [1, 2, 3, 4, 5]
    path = path_of([*found, *judges], 2)
    recalls = [record.memorization_recall for record in path]
    assert recalls == [0.1, 0.1, 0.9, 0.9, 0.9]

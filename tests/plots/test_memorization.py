import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from skpresto import (
    CrossPrestoppingClassifier,
    DefaultClassifier,
    PrestoppingPlusClassifier,
    SelfieClassifier,
)
from skpresto.plots import MemorizationDisplay, SafeSetDisplay
from skpresto.stopping import NoiseRateStop
from tests.discovery import quick
from tests.plots.samples import RECORDS, STOP_EPOCH, record


def test_frame_splits_the_memorized_fraction_by_precision():
    frame = MemorizationDisplay(RECORDS, STOP_EPOCH).frame()
    assert frame["epoch"].tolist() == [1, 2, 3, 4]
    assert frame["stage"].tolist() == ["phase 1"] * 2 + ["phase 2"] * 2
    np.testing.assert_allclose(frame["true_memorized"], [0.2, 0.45, 0.57, 0.72])
    np.testing.assert_allclose(frame["false_memorized"], [0, 0.05, 0.03, 0.03])


def test_without_a_stop_point_the_last_stage_is_shown():
    assert MemorizationDisplay(RECORDS).frame()["stage"].tolist() == ["final"]


def test_both_fractions_are_zero_if_nothing_is_memorized():
    records = [record(1, memorized=0.0, precision=np.nan, recall=0.0), record(2)]
    frame = MemorizationDisplay(records).frame()
    assert frame.loc[0, ["true_memorized", "false_memorized"]].tolist() == [0, 0]


def test_the_legend_names_the_areas_the_correct_labels_and_the_stop_point(legend_of):
    display = MemorizationDisplay(RECORDS, STOP_EPOCH).plot()
    assert legend_of(display) == [
        "correct labels memorized",
        "wrong labels memorized",
        "all correct labels (80%)",
        "stop point: epoch 2",
    ]


def test_without_correct_labels_there_is_no_line_for_them(legend_of):
    records = [record(epoch, precision=0.0, recall=np.nan) for epoch in (1, 2)]
    display = MemorizationDisplay(records).plot()
    assert legend_of(display) == ["correct labels memorized", "wrong labels memorized"]


def test_both_fractions_sum_to_the_memorized_fraction_of_a_training(fitted):
    frame = MemorizationDisplay.from_estimator(fitted).frame()
    last = fitted.history_[-1]
    total = frame["true_memorized"] + frame["false_memorized"]
    assert total.iloc[-1] == pytest.approx(last.memorized_fraction)
    assert len(frame) == fitted.n_epochs_


@pytest.mark.parametrize(
    ("classifier", "params"),
    [
        (DefaultClassifier, {}),
        (SelfieClassifier, {"restarts": 1}),
        (PrestoppingPlusClassifier, {"stop": NoiseRateStop(0.5)}),
        (CrossPrestoppingClassifier, {"cv": 2, "fold_epochs": 12}),
    ],
)
def test_any_classifier_can_be_plotted(classifier, params, noisy_blobs):
    X, y, y_true = noisy_blobs
    # With a larger q, Prestopping+ and SELFIE warn that no label can be corrected.
    clf = quick(classifier, q=3, **params).fit(X, y, y_true=y_true)
    display = MemorizationDisplay.from_estimator(clf)
    assert display.frame()["epoch"].tolist() == list(range(1, 13))


@pytest.mark.parametrize("kind", [MemorizationDisplay, SafeSetDisplay])
def test_without_true_labels_the_message_says_to_pass_y_true(kind, fitted):
    fitted.history_ = [
        record(r.epoch, r.stage, precision=None, recall=None) for r in fitted.history_
    ]
    match = rf"{kind.__name__} needs to know which labels are correct.* y_true=\.\.\."
    with pytest.raises(ValueError, match=match):
        kind.from_estimator(fitted)


def test_an_unfitted_classifier_is_rejected():
    with pytest.raises(NotFittedError):
        MemorizationDisplay.from_estimator(DefaultClassifier())


def test_an_empty_list_of_records_is_rejected():
    with pytest.raises(ValueError, match="MemorizationDisplay needs at least one"):
        MemorizationDisplay([])

import pytest
from sklearn.exceptions import NotFittedError

from skpresto import DefaultClassifier, PrestoppingClassifier
from skpresto.plots import SafeSetDisplay
from tests.discovery import quick
from tests.plots.samples import RECORDS, record


def test_frame_holds_phase_two_alone():
    frame = SafeSetDisplay(RECORDS).frame()
    assert frame["epoch"].tolist() == [3, 4]
    assert frame["safe_fraction"].tolist() == [0.6, 0.75]
    assert frame["memorization_precision"].tolist() == [0.95, 0.96]
    assert frame["memorization_recall"].tolist() == [0.7125, 0.9]


def test_of_several_tries_the_last_is_shown():
    first = [record(epoch, phase=2, recall=0.1) for epoch in (3, 4)]
    frame = SafeSetDisplay([*first, *RECORDS]).frame()
    assert frame.equals(SafeSetDisplay(RECORDS).frame())


def test_the_legend_tells_the_last_values(legend_of):
    display = SafeSetDisplay(RECORDS).plot()
    assert legend_of(display) == [
        "precision, 96.0% at the end",
        "recall, 90.0% at the end",
    ]


def test_the_last_values_are_those_of_the_safe_mask(fitted, noisy_blobs):
    _, y, y_true = noisy_blobs
    frame = SafeSetDisplay.from_estimator(fitted).frame()
    is_correct = (y == y_true)[fitted.safe_mask_]
    assert frame["memorization_precision"].iloc[-1] == pytest.approx(is_correct.mean())
    assert frame["safe_fraction"].iloc[-1] == pytest.approx(fitted.safe_mask_.mean())


def test_low_values_open_the_scale():
    low = [record(1, phase=2, recall=0.2), record(2, phase=2, recall=0.3)]
    assert SafeSetDisplay(low).plot().ax_.get_ylim()[0] < 0.2
    assert SafeSetDisplay(RECORDS).plot().ax_.get_ylim()[0] == 0.5


def test_records_without_phase_two_are_refused():
    with pytest.raises(ValueError, match="SafeSetDisplay needs records of phase II"):
        SafeSetDisplay(RECORDS[:2])


def test_a_classifier_without_a_stop_point_is_refused(noisy_blobs):
    X, y, y_true = noisy_blobs
    clf = quick(DefaultClassifier).fit(X, y, y_true=y_true)
    with pytest.raises(ValueError, match="DefaultClassifier has no stop point"):
        SafeSetDisplay.from_estimator(clf)


def test_an_unfitted_classifier_is_refused():
    with pytest.raises(NotFittedError):
        SafeSetDisplay.from_estimator(PrestoppingClassifier())

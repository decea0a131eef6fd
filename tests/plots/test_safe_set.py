import pytest
from sklearn.exceptions import NotFittedError

from skpresto import DefaultClassifier, PrestoppingClassifier
from skpresto.plots import SafeSetDisplay
from tests.discovery import quick
from tests.plots.samples import RECORDS, records_in


def test_frame_contains_phase_two_only():
    frame = SafeSetDisplay(RECORDS).frame()
    assert frame["stage"].unique().tolist() == ["phase 2"]
    assert frame["epoch"].tolist() == [3, 4]
    assert frame["safe_fraction"].tolist() == [0.6, 0.75]
    assert frame["memorization_precision"].tolist() == [0.95, 0.96]
    assert frame["memorization_recall"].tolist() == [0.7125, 0.9]


def test_after_a_fallback_its_phase_two_is_shown_instead_of_the_fold_networks():
    cross_fit = records_in("cross-fit phase 2", (3, 4), recall=0.1)
    fallback = records_in("fallback phase 2", (4, 5), recall=0.9)
    frame = SafeSetDisplay([*cross_fit, *fallback]).frame()
    assert frame["epoch"].tolist() == [4, 5]
    assert SafeSetDisplay(cross_fit).frame()["epoch"].tolist() == [3, 4]


def test_the_legend_contains_the_values_of_the_last_epoch(legend_of):
    display = SafeSetDisplay(RECORDS).plot()
    assert legend_of(display) == [
        "precision (96.0% in the last epoch)",
        "recall (90.0% in the last epoch)",
    ]


def test_the_last_values_are_those_of_the_final_safe_set(fitted, noisy_blobs):
    _, y, y_true = noisy_blobs
    frame = SafeSetDisplay.from_estimator(fitted).frame()
    is_correct = (y == y_true)[fitted.safe_mask_]
    assert frame["memorization_precision"].iloc[-1] == pytest.approx(is_correct.mean())
    assert frame["safe_fraction"].iloc[-1] == pytest.approx(fitted.safe_mask_.mean())


def test_the_scale_is_extended_for_low_values():
    low = records_in("phase 2", (1, 2), recall=0.2)
    assert SafeSetDisplay(low).plot().ax_.get_ylim()[0] < 0.2
    assert SafeSetDisplay(RECORDS).plot().ax_.get_ylim()[0] == 0.5


def test_records_without_phase_two_are_rejected():
    with pytest.raises(ValueError, match="SafeSetDisplay needs records of phase II"):
        SafeSetDisplay(RECORDS[:2])


def test_a_classifier_without_a_stop_point_is_rejected(noisy_blobs):
    X, y, y_true = noisy_blobs
    clf = quick(DefaultClassifier).fit(X, y, y_true=y_true)
    with pytest.raises(ValueError, match="DefaultClassifier has no stop point"):
        SafeSetDisplay.from_estimator(clf)


def test_an_unfitted_classifier_is_rejected():
    with pytest.raises(NotFittedError):
        SafeSetDisplay.from_estimator(PrestoppingClassifier())

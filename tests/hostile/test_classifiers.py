"""Hostile samples, labels and parameters, with a method and a baseline.

Every line of the tables in ``inputs`` and ``parameters`` is an input and what comes of
it: a fit that equals another one, or an error with a sentence. After an error, an
estimator that was not fitted is still not fitted, one that was predicts as before, and
the arguments are unchanged.
"""

import copy
import pickle
import threading
from functools import cache

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from tests.discovery import CLASSIFIERS, RUNS_ALL, on_paths, quick
from tests.hostile.inputs import (
    FIT_CASES,
    GOOD_X,
    GOOD_Y,
    PREDICT_CASES,
    X_CASES,
    Y_CASES,
)
from tests.hostile.outcomes import Case, Refused, Works, outcome, params
from tests.hostile.parameters import (
    FURTHER,
    NUMBERS,
    PART_CASES,
    STOP_CASES,
    number_cases,
)

pytestmark = pytest.mark.filterwarnings("ignore")
with_two = on_paths("two phases", "gradients")


def one_epoch(classifier, **params):
    """Return a classifier that is trained for one epoch, without warm-up."""
    settings = {"max_epochs": 1, **params}
    if "warm_up" in classifier._parameter_constraints:
        settings = {"warm_up": 0, **settings}
    if "module" in params and params["module"] is not None:
        settings["module__hidden"] = None
    clf = quick(classifier, **settings)
    if settings.get("module__hidden", ()) is None:
        del clf.module__hidden
    return clf


@cache
def fitted(Classifier):
    """Return a classifier that was fitted on good data."""
    return one_epoch(Classifier).fit(GOOD_X, GOOD_Y)


def fingerprint(value):
    """Return the content of an argument, to see whether it was changed."""
    if isinstance(value, dict):
        return {key: fingerprint(part) for key, part in value.items()}
    for convert in ("toarray", "to_numpy"):
        value = getattr(value, convert, lambda value=value: value)()
    try:
        return pickle.dumps(value)
    except Exception:  # a generator or a function of the test itself
        return repr(value)


def run(case, clf, **arguments):
    """Fit under the invariants that hold for all inputs."""
    arguments = {"X": GOOD_X, "y": GOOD_Y, **arguments}
    before = {name: fingerprint(value) for name, value in arguments.items()}
    outcome(case.expected, lambda: clf.fit(**arguments))
    after = {name: fingerprint(value) for name, value in arguments.items()}
    assert before == after
    if isinstance(case.expected, Refused):
        with pytest.raises(NotFittedError):
            check_is_fitted(clf)
        assert_keeps_predicting(clf, arguments)
        return
    proba = clf.predict_proba(GOOD_X)
    assert proba.shape == (len(GOOD_X), len(clf.classes_))
    np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-5)
    assert len(clf.safe_mask_) == len(GOOD_X)
    if case.expected.check is not None:
        case.expected.check(clf, clone(clf))


def assert_keeps_predicting(clf, arguments):
    """A fit that fails leaves the results of an earlier one."""
    earlier = fitted(type(clf))
    again = copy.copy(earlier)
    vars(again).update(vars(clf))
    with pytest.raises((ValueError, TypeError)):
        again.fit(**arguments)
    again.n_jobs = None  # the only parameter that predictions use
    expected = earlier.predict_proba(GOOD_X)
    np.testing.assert_array_equal(again.predict_proba(GOOD_X), expected)


@with_two
@params(X_CASES)
def test_samples(Classifier, case):
    run(case, one_epoch(Classifier), **case.arguments)


@with_two
@params(Y_CASES)
def test_labels(Classifier, case):
    run(case, one_epoch(Classifier), **case.arguments)


@with_two
def test_as_many_classes_as_rows(Classifier):
    holds_out = "stop" in Classifier._parameter_constraints
    refused = Refused("needs rows to hold out.*no class has more .*(LabelWave|Default)")
    expected = refused if holds_out else Works()
    y = np.arange(len(GOOD_X))
    run(Case("", expected), one_epoch(Classifier), y=y)


@with_two
@params(FIT_CASES)
def test_further_arguments_of_fit(Classifier, case):
    run(case, one_epoch(Classifier), **case.arguments)


@with_two
@params(number_cases(NUMBERS) + PART_CASES)
def test_parameters(Classifier, case):
    clf = one_epoch(Classifier, **case.arguments)
    run(case, clf)


def of_single_methods():
    for case in number_cases(FURTHER) + STOP_CASES:
        (name,) = case.arguments
        takes = [c for c in CLASSIFIERS if name in c._parameter_constraints]
        for Classifier in takes if RUNS_ALL else takes[:1]:
            yield pytest.param(
                Classifier, case, id=f"{case.name}-{Classifier.__name__}"
            )


@pytest.mark.parametrize(("Classifier", "case"), list(of_single_methods()))
def test_parameters_of_single_methods(Classifier, case):
    clf = one_epoch(Classifier, **case.arguments)
    run(case, clf)


@with_two
@params(PREDICT_CASES)
@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_samples_to_predict(Classifier, case, method):
    clf = fitted(Classifier)
    before = fingerprint(case.arguments)
    result = outcome(case.expected, lambda: getattr(clf, method)(**case.arguments))
    assert fingerprint(case.arguments) == before
    if isinstance(case.expected, Works):
        np.testing.assert_array_equal(result, getattr(clf, method)(GOOD_X))


@with_two
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("max_epoch", "Invalid parameter 'max_epoch'.*did you mean 'max_epochs'"),
        ("stop__patience", "Invalid parameter|cannot set stop__patience"),
        ("net_params", "net_params"),
        ("lr__x", "Invalid parameter|lr"),
        ("", "Invalid parameter ''"),
    ],
)
def test_set_params_names_what_it_does_not_know(Classifier, name, message):
    clf = Classifier()
    with pytest.raises((ValueError, TypeError), match=message):
        clf.set_params(**{name: 3}).fit(GOOD_X, GOOD_Y)


@with_two
@pytest.mark.parametrize(
    "params", [{}, {"lr": "fast"}, {"module": 3}, {"callbacks": [None]}, {"x__y": 1}]
)
def test_unfitted_and_wrongly_configured_objects_can_be_copied(Classifier, params):
    clf = Classifier(**params)
    copies = [clone(clf), pickle.loads(pickle.dumps(clf)), copy.deepcopy(clf)]
    for other in copies:
        assert repr(other.get_params()) == repr(clf.get_params())
        with pytest.raises(NotFittedError):
            check_is_fitted(other)
    assert repr(clf).startswith(Classifier.__name__)


@with_two
def test_fits_and_errors_in_threads_do_not_disturb_each_other(Classifier):
    reference = fitted(Classifier).predict_proba(GOOD_X)
    results, errors = [], []

    def good():
        clf = one_epoch(Classifier).fit(GOOD_X, GOOD_Y)
        results.append(clf.predict_proba(GOOD_X))

    def bad():
        try:
            one_epoch(Classifier).fit(sparse.csr_array(GOOD_X), GOOD_Y[1:])
        except ValueError as error:
            errors.append(str(error))

    threads = [threading.Thread(target=target) for target in (good, bad, good, bad)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(errors) == 2
    for result in results:
        np.testing.assert_array_equal(result, reference)
    assert len(results) == 2

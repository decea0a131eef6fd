"""Hostile samples, labels and parameters, for every method.

Every line of the tables in ``inputs`` and ``parameters`` is an input and what comes of
it: a fit that equals another one, or an error with a sentence. After an error, an
estimator that was not fitted is still not fitted, one that was predicts as before, and
the arguments are unchanged.
"""

import copy
import pickle
import threading

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from tests.discovery import (
    CLASSIFIERS,
    METHODS,
    LearningToReweightClassifier,
    quick,
)
from tests.hostile.inputs import (
    FIT_CASES,
    GOOD_X,
    GOOD_Y,
    PREDICT_CASES,
    X_CASES,
    Y_CASES,
    frame,
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
#: Baselines read samples, labels and common parameters with the code of the methods, so
#: the one that needs further samples stands for all of them.
SUBJECTS = [*METHODS, LearningToReweightClassifier]
every = pytest.mark.parametrize("classifier", SUBJECTS, ids=lambda c: c.__name__)


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


@pytest.fixture(scope="module")
def fitted():
    """Every classifier, fitted on good data."""
    return {c: one_epoch(c).fit(GOOD_X, GOOD_Y) for c in CLASSIFIERS}


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


def run(case, clf, fitted, **arguments):
    """Fit under the invariants that hold for all inputs."""
    arguments = {"X": GOOD_X, "y": GOOD_Y, **arguments}
    before = {name: fingerprint(value) for name, value in arguments.items()}
    outcome(case.expected, lambda: clf.fit(**arguments))
    after = {name: fingerprint(value) for name, value in arguments.items()}
    assert before == after
    if isinstance(case.expected, Refused):
        with pytest.raises(NotFittedError):
            check_is_fitted(clf)
        assert_keeps_predicting(clf, fitted, arguments)
        return
    proba = clf.predict_proba(GOOD_X)
    assert proba.shape == (len(GOOD_X), len(clf.classes_))
    np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-5)
    assert len(clf.safe_mask_) == len(GOOD_X)
    if case.expected.check is not None:
        case.expected.check(clf, clone(clf))


def assert_keeps_predicting(clf, fitted, arguments):
    """A fit that fails leaves the results of an earlier one."""
    again = copy.copy(fitted)
    vars(again).update(vars(clf))
    with pytest.raises((ValueError, TypeError)):
        again.fit(**arguments)
    again.n_jobs = None  # the only parameter that predictions use
    expected = fitted.predict_proba(GOOD_X)
    np.testing.assert_array_equal(again.predict_proba(GOOD_X), expected)


@every
@params(X_CASES)
def test_samples(classifier, case, fitted):
    run(case, one_epoch(classifier), fitted[classifier], **case.arguments)


@every
@params(Y_CASES)
def test_labels(classifier, case, fitted):
    run(case, one_epoch(classifier), fitted[classifier], **case.arguments)


@every
def test_as_many_classes_as_rows(classifier, fitted):
    holds_out = "stop" in classifier._parameter_constraints
    expected = Refused("needs rows to hold out") if holds_out else Works()
    y = np.arange(len(GOOD_X))
    run(Case("", expected), one_epoch(classifier), fitted[classifier], y=y)


@every
@params(FIT_CASES)
def test_further_arguments_of_fit(classifier, case, fitted):
    run(case, one_epoch(classifier), fitted[classifier], **case.arguments)


@every
@params(number_cases(NUMBERS) + PART_CASES)
def test_parameters(classifier, case, fitted):
    clf = one_epoch(classifier, **case.arguments["params"])
    run(case, clf, fitted[classifier])


def of_single_methods():
    for case in number_cases(FURTHER) + STOP_CASES:
        (name,) = case.arguments["params"]
        for classifier in CLASSIFIERS:
            if name in classifier._parameter_constraints:
                label = f"{case.name}-{classifier.__name__}"
                yield pytest.param(classifier, case, id=label)


@pytest.mark.parametrize(("classifier", "case"), list(of_single_methods()))
def test_parameters_of_single_methods(classifier, case, fitted):
    clf = one_epoch(classifier, **case.arguments["params"])
    run(case, clf, fitted[classifier])


@every
@params(PREDICT_CASES)
@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_samples_to_predict(classifier, case, method, fitted):
    clf = fitted[classifier]
    before = fingerprint(case.arguments)
    result = outcome(case.expected, lambda: getattr(clf, method)(**case.arguments))
    assert fingerprint(case.arguments) == before
    if isinstance(case.expected, Works):
        np.testing.assert_array_equal(result, getattr(clf, method)(GOOD_X))


@every
def test_columns_of_other_names_are_refused(classifier):
    clf = one_epoch(classifier).fit(frame, GOOD_Y)
    for renamed in (frame.rename(columns={"a": "z"}), frame[["b", "a", "c"]]):
        with pytest.raises(ValueError, match="feature names should match"):
            clf.predict(renamed)


@every
@pytest.mark.parametrize("method", ["predict", "predict_proba", "score"])
def test_nothing_is_predicted_before_fit(classifier, method):
    arguments = (GOOD_X, GOOD_Y) if method == "score" else (GOOD_X,)
    with pytest.raises(NotFittedError, match=f"This {classifier.__name__} instance"):
        getattr(classifier(), method)(*arguments)


@every
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
def test_set_params_names_what_it_does_not_know(classifier, name, message):
    clf = classifier()
    with pytest.raises((ValueError, TypeError), match=message):
        clf.set_params(**{name: 3}).fit(GOOD_X, GOOD_Y)


@every
@pytest.mark.parametrize(
    "params", [{}, {"lr": "fast"}, {"module": 3}, {"callbacks": [None]}, {"x__y": 1}]
)
def test_unfitted_and_wrongly_configured_objects_can_be_copied(classifier, params):
    clf = classifier(**params)
    copies = [clone(clf), pickle.loads(pickle.dumps(clf)), copy.deepcopy(clf)]
    for other in copies:
        assert repr(other.get_params()) == repr(clf.get_params())
        with pytest.raises(NotFittedError):
            check_is_fitted(other)
    assert repr(clf).startswith(classifier.__name__)


@every
def test_fits_and_errors_in_threads_do_not_disturb_each_other(classifier, fitted):
    reference = fitted[classifier].predict_proba(GOOD_X)
    results, errors = [], []

    def good():
        clf = one_epoch(classifier).fit(GOOD_X, GOOD_Y)
        results.append(clf.predict_proba(GOOD_X))

    def bad():
        try:
            one_epoch(classifier).fit(sparse.csr_array(GOOD_X), GOOD_Y[1:])
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

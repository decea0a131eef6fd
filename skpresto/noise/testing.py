"""The contract of an injector, as checks that any injector can be run through.

Each ``check_injector_*`` takes an injector, samples and labels, and raises an
``AssertionError`` where a promise is broken. :func:`check_injector` runs them all;
:func:`injector_checks` lists them, to make one test of each::

    import pytest
    from skpresto.noise.testing import example_data, injector_checks

    @pytest.mark.parametrize("check", injector_checks(), ids=lambda c: c.__name__)
    def test_my_noise_keeps_the_contract(check):
        check(MyNoise(random_state=0), *example_data())

An injector needs ``random_state`` among its parameters, set to an int. Nothing is
imported but numpy, scipy and scikit-learn.
"""

import pickle
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chisquare
from sklearn.base import clone

__all__ = ["check_injector", "example_data", "injector_checks"]

Check = Callable[[Any, Any, Any], None]

_FALSE_ALARM = 1e-6
"""Probability that the statistical check blames an injector that is right."""


def example_data() -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return samples of shape (300, 4) and labels of three classes of unequal size.

    Returns
    -------
    X : ndarray of shape (300, 4)
        The samples.
    y : ndarray of shape (300,)
        Labels 0, 1 and 2.
    """
    rng = np.random.RandomState(0)
    y = np.arange(300) % 6 // 2 % 3
    y[:60] = 0
    return rng.standard_normal((300, 4)) + y[:, np.newaxis], y


def injector_checks() -> list[Check]:
    """List all checks, each to be called with an injector, samples and labels.

    Returns
    -------
    checks : list of functions
        In the order in which they are written.

    Examples
    --------
    >>> from skpresto.noise.testing import injector_checks
    >>> injector_checks()[0].__name__
    'check_injector_can_be_cloned'
    """
    return [v for name, v in globals().items() if name.startswith("check_injector_")]


def check_injector(injector: Any, X: Any = None, y: Any = None) -> None:
    """Run an injector through all checks.

    Parameters
    ----------
    injector : object
        The injector, with an int as ``random_state``.
    X : array-like of shape (n_samples, n_features), default=None
        Samples to try it on. By default those of :func:`example_data`.
    y : ndarray of shape (n_samples,), default=None
        Their labels, whole numbers. By default 0, 1 and 2.

    Raises
    ------
    AssertionError
        By the first check that fails.

    Examples
    --------
    >>> from skpresto.noise import PairNoise
    >>> from skpresto.noise.testing import check_injector
    >>> check_injector(PairNoise(rate=0.3, random_state=0))
    """
    if X is None or y is None:
        X, y = example_data()
    for check in injector_checks():
        check(injector, X, y)


def check_injector_can_be_cloned(injector: Any, X: Any, y: Any) -> None:
    """Check that a clone has the same parameters, and nothing fitted."""
    before = set(vars(clone(injector)))
    assert before == set(injector.get_params(deep=False)), (
        "__init__ must store its parameters and nothing else"
    )
    assert "random_state" in before, "an injector needs a random_state parameter"
    fitted = clone(injector).fit(y, X)
    assert set(vars(clone(fitted))) == before, "a clone must not be fitted"


def check_injector_learns_classes_in_order(injector: Any, X: Any, y: Any) -> None:
    """Check that ``fit`` returns the injector, with the sorted labels as classes."""
    injector = clone(injector)
    assert injector.fit(y, X) is injector, "fit must return self"
    np.testing.assert_array_equal(injector.classes_, np.unique(y))


def check_injector_has_stochastic_matrix(injector: Any, X: Any, y: Any) -> None:
    """Check that rows of ``transition_matrix_`` are probabilities that sum to 1."""
    matrix = clone(injector).fit(y, X).transition_matrix_
    n_classes = len(np.unique(y))
    assert matrix.shape == (n_classes, n_classes)
    assert (matrix >= 0).all(), "probabilities must not be negative"
    np.testing.assert_allclose(matrix.sum(axis=1), 1, rtol=0, atol=1e-12)


def check_injector_keeps_labels_in_classes(injector: Any, X: Any, y: Any) -> None:
    """Check that there is a label for every sample, and one of ``classes_``."""
    injector = clone(injector)
    noisy = injector.fit_transform(y, X)
    assert noisy.shape == np.shape(y)
    assert noisy.dtype == injector.classes_.dtype
    assert np.isin(noisy, injector.classes_).all()


def check_injector_records_flips(injector: Any, X: Any, y: Any) -> None:
    """Check that ``flipped_mask_`` and ``realized_rate_`` tell what was done."""
    injector = clone(injector)
    noisy = injector.fit_transform(y, X)
    np.testing.assert_array_equal(injector.flipped_mask_, noisy != y)
    assert injector.flipped_mask_.dtype == bool
    assert np.isclose(injector.realized_rate_, np.mean(noisy != y), rtol=0, atol=1e-12)


def check_injector_changes_nothing_at_rate_zero(injector: Any, X: Any, y: Any) -> None:
    """Check that ``rate=0``, if there is a rate, leaves labels as they are."""
    if "rate" not in injector.get_params():
        return
    quiet = clone(injector).set_params(rate=0.0)
    np.testing.assert_array_equal(quiet.fit_transform(y, X), y)
    np.testing.assert_array_equal(quiet.transition_matrix_, np.eye(len(np.unique(y))))


def check_injector_repeats_itself(injector: Any, X: Any, y: Any) -> None:
    """Check that one ``random_state`` gives the same labels, however asked."""
    expected = clone(injector).fit_transform(y, X)
    again = clone(injector).fit(y, X)
    np.testing.assert_array_equal(again.transform(y, X), expected)
    np.testing.assert_array_equal(again.transform(y, X), expected)
    np.testing.assert_array_equal(again.fit_transform(y, X), expected)


def check_injector_forgets_earlier_fits(injector: Any, X: Any, y: Any) -> None:
    """Check that ``fit`` after other data equals a fresh ``fit``."""
    fresh = clone(injector).fit(y, X)
    used = clone(injector)
    used.fit_transform(y[::-1], X)
    used.fit(y, X)
    assert vars(used).keys() == vars(fresh).keys(), "records must go with a new fit"
    np.testing.assert_array_equal(used.transform(y, X), fresh.transform(y, X))


def check_injector_spares_global_random_state(injector: Any, X: Any, y: Any) -> None:
    """Check that numpy's global random state is not touched."""
    before = pickle.dumps(np.random.get_state())
    clone(injector).fit_transform(y, X)
    after = pickle.dumps(np.random.get_state())
    assert before == after, "the global random state was used"


def check_injector_spares_its_input(injector: Any, X: Any, y: Any) -> None:
    """Check that ``X`` and ``y`` are not changed, and the result is a copy."""
    X_before, y_before = np.copy(X), np.copy(y)
    noisy = clone(injector).fit_transform(y, X)
    np.testing.assert_array_equal(X, X_before)
    np.testing.assert_array_equal(y, y_before)
    assert not np.shares_memory(noisy, y), "a copy of y was promised"


def check_injector_renames_with_classes(injector: Any, X: Any, y: Any) -> None:
    """Check that renaming the classes, their order kept, renames the noisy labels.

    Not for injectors set up with class names, such as ``PairNoise(mapping=...)``.
    """
    noisy = np.searchsorted(np.unique(y), clone(injector).fit_transform(y, X))
    number = np.searchsorted(np.unique(y), y)
    n_classes = len(np.unique(y))
    names = [f"class {chr(ord('a') + i // 26)}{i % 26:02}" for i in range(n_classes)]
    for renamed in (
        np.array(names),
        np.array(names, dtype=object),
        np.arange(n_classes) * 7 - 3,
        np.arange(n_classes) * 10**12,
        np.arange(n_classes, dtype=np.float64),
    ):
        result = clone(injector).fit_transform(renamed[number], X)
        np.testing.assert_array_equal(result, renamed[noisy])


def check_injector_draws_by_its_matrix(injector: Any, X: Any, y: Any) -> None:
    """Check by a chi-square test that labels become what the matrix says.

    An injector that is right fails with a probability of one in a million.
    """
    injector = clone(injector).fit(y, X)
    repeats = -(-30_000 // len(y))
    many_y, many_X = np.tile(y, repeats), np.tile(X, (repeats, 1))
    noisy = injector.transform(many_y, many_X)
    for row, label in zip(injector.transition_matrix_, injector.classes_, strict=True):
        drawn = noisy[many_y == label]
        counts = np.array([np.sum(drawn == other) for other in injector.classes_])
        assert not counts[row == 0].any(), f"{label!r} became what it never should"
        if np.count_nonzero(row) > 1:
            expected = row[row > 0] * len(drawn)
            p_value = chisquare(counts[row > 0], expected).pvalue
            assert p_value > _FALSE_ALARM / len(injector.classes_), (
                f"labels {label!r} became {counts}, expected about {row * len(drawn)}"
            )


def check_injector_survives_pickling(injector: Any, X: Any, y: Any) -> None:
    """Check that a fitted injector can be pickled and goes on as before."""
    fitted = clone(injector).fit(y, X)
    restored = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(restored.transform(y, X), fitted.transform(y, X))


def check_injector_resamples(injector: Any, X: Any, y: Any) -> None:
    """Check that ``fit_resample`` passes ``X`` on and agrees with ``fit_transform``."""
    X_out, noisy = clone(injector).fit_resample(X, y)
    assert X_out is X, "X must be passed on as it is"
    np.testing.assert_array_equal(noisy, clone(injector).fit_transform(y, X))


def check_injector_keeps_series(injector: Any, X: Any, y: Any) -> None:
    """Check that a pandas Series comes back as one: index, name and dtype kept."""
    if find_spec("pandas") is None:
        return
    import pandas as pd

    series = pd.Series(y, index=np.arange(len(y)) + 1000, name="label")
    noisy = clone(injector).fit_transform(series, X)
    assert isinstance(noisy, pd.Series), "a Series must come back as a Series"
    assert noisy.index.equals(series.index)
    assert noisy.name == "label"
    assert noisy.dtype == series.dtype


def check_injector_refuses_bad_labels(injector: Any, X: Any, y: Any) -> None:
    """Check that labels unseen in ``fit``, missing or in 2-D raise ValueError."""
    fitted = clone(injector).fit(y, X)
    unseen = np.where(np.arange(len(y)) == 1, np.max(y) + 1, y)
    _assert_refused(fitted.transform, unseen, X)
    missing = np.where(np.arange(len(y)) == 1, np.nan, y)
    _assert_refused(clone(injector).fit, missing, X)
    _assert_refused(clone(injector).fit, np.column_stack([y, y]), X)
    _assert_refused(clone(injector).fit, None, X)


def check_injector_must_be_fitted(injector: Any, X: Any, y: Any) -> None:
    """Check that before ``fit`` there is neither a matrix nor a ``transform``."""
    _assert_refused(clone(injector).transform, y, X)
    assert not hasattr(clone(injector), "transition_matrix_")


def _assert_refused(method: Callable[..., Any], y: Any, X: Any) -> None:
    try:
        method(y, X)
    except ValueError:
        return
    raise AssertionError(f"{method.__qualname__} must raise ValueError for such labels")

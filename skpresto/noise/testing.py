"""Checks of the contract of injectors, for those of this package and your own.

Each ``check_injector_*`` takes an injector, samples and labels, and raises an
``AssertionError`` if the contract is violated. :func:`check_injector` runs all checks;
:func:`injector_checks` lists them, to make each a test::

    import pytest
    from skpresto.noise.testing import example_data, injector_checks

    @pytest.mark.parametrize("check", injector_checks(), ids=lambda c: c.__name__)
    def test_my_noise_satisfies_the_contract(check):
        check(MyNoise(random_state=0), *example_data())

The injector must have a parameter ``random_state``, set to an int. Only numpy, scipy
and scikit-learn are imported.
"""

import pickle
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2_contingency, chisquare
from sklearn.base import clone

__all__ = ["check_injector", "example_data", "injector_checks"]

Check = Callable[[Any, Any, Any], None]

_FALSE_ALARM = 1e-6
"""Probability that the statistical check fails for a correct injector."""


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
    """Return all checks, each a function of an injector, samples and labels.

    Returns
    -------
    checks : list of functions
        Every check, as a function of an injector.

    Examples
    --------
    >>> from skpresto.noise.testing import injector_checks
    >>> injector_checks()[0].__name__
    'check_injector_can_be_cloned'
    """
    return [v for name, v in globals().items() if name.startswith("check_injector_")]


def check_injector(injector: Any, X: Any = None, y: Any = None) -> None:
    """Run all checks on an injector, and raise AssertionError if one fails.

    Parameters
    ----------
    injector : object
        The injector, with an int as ``random_state``.
    X : array-like of shape (n_samples, n_features), default=None
        Samples. By default those of :func:`example_data`.
    y : ndarray of shape (n_samples,), default=None
        Their labels, integers. By default those of :func:`example_data`.

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
    """Check that a clone has the same parameters and is not fitted."""
    before = set(vars(clone(injector)))
    assert before == set(injector.get_params(deep=False)), (
        "__init__ must store its parameters and nothing else"
    )
    assert "random_state" in before, "an injector needs a random_state parameter"
    fitted = clone(injector).fit(y, X)
    assert set(vars(clone(fitted))) == before, "a clone must not be fitted"


def check_injector_sorts_classes(injector: Any, X: Any, y: Any) -> None:
    """Check that ``fit`` returns the injector, and that ``classes_`` are sorted."""
    injector = clone(injector)
    assert injector.fit(y, X) is injector, "fit must return self"
    np.testing.assert_array_equal(injector.classes_, np.unique(y))


def check_injector_has_stochastic_matrix(injector: Any, X: Any, y: Any) -> None:
    """Check that ``transition_matrix_`` is row-stochastic."""
    matrix = clone(injector).fit(y, X).transition_matrix_
    n_classes = len(np.unique(y))
    assert matrix.shape == (n_classes, n_classes)
    assert (matrix >= 0).all(), "probabilities must not be negative"
    np.testing.assert_allclose(matrix.sum(axis=1), 1, rtol=0, atol=1e-12)


def check_injector_keeps_labels_in_classes(injector: Any, X: Any, y: Any) -> None:
    """Check that there is one label per sample, and that it is in ``classes_``."""
    injector = clone(injector)
    noisy = injector.fit_transform(y, X)
    assert noisy.shape == np.shape(y)
    assert noisy.dtype == injector.classes_.dtype
    assert np.isin(noisy, injector.classes_).all()


def check_injector_records_flips(injector: Any, X: Any, y: Any) -> None:
    """Check that ``flipped_mask_`` and ``realized_rate_`` are correct."""
    injector = clone(injector)
    noisy = injector.fit_transform(y, X)
    np.testing.assert_array_equal(injector.flipped_mask_, noisy != y)
    assert injector.flipped_mask_.dtype == bool
    assert np.isclose(injector.realized_rate_, np.mean(noisy != y), rtol=0, atol=1e-12)


def check_injector_changes_nothing_at_rate_zero(injector: Any, X: Any, y: Any) -> None:
    """Check that ``rate=0``, if there is a rate, does not change labels."""
    if "rate" not in injector.get_params():
        return
    without_noise = clone(injector).set_params(rate=0.0)
    np.testing.assert_array_equal(without_noise.fit_transform(y, X), y)
    np.testing.assert_array_equal(
        without_noise.transition_matrix_, np.eye(len(np.unique(y)))
    )


def check_injector_is_reproducible(injector: Any, X: Any, y: Any) -> None:
    """Check that the same labels get the same noise in every call."""
    expected = clone(injector).fit_transform(y, X)
    again = clone(injector).fit(y, X)
    np.testing.assert_array_equal(again.transform(y, X), expected)
    np.testing.assert_array_equal(again.transform(y, X), expected)
    np.testing.assert_array_equal(again.fit_transform(y, X), expected)


def check_injector_draws_anew_for_noisy_labels(injector: Any, X: Any, y: Any) -> None:
    """Check that noise on top of noise is independent, with the same ``random_state``.

    A correct injector fails with a probability of one in a million.
    """
    injector = clone(injector).fit(y, X)
    y, X = _repeated(y, X)
    once = injector.transform(y, X)
    twice = injector.transform(once, X)
    injector.set_params(random_state=np.random.RandomState(2**31 - 1))
    for label in injector.classes_:
        seen = [drawn[y == label] for drawn in (twice, injector.transform(once, X))]
        counts = np.array([[np.sum(s == c) for c in injector.classes_] for s in seen])
        counts = counts[:, counts.any(axis=0)]
        p_value = chi2_contingency(counts).pvalue
        assert p_value > _FALSE_ALARM / len(injector.classes_), (
            f"noise injected twice turned {label!r} into {counts[0]}, independent "
            f"draws into {counts[1]}"
        )


def check_injector_can_be_refitted(injector: Any, X: Any, y: Any) -> None:
    """Check that refitting gives what fitting a clone gives."""
    fresh = clone(injector).fit(y, X)
    refitted = clone(injector)
    refitted.fit_transform(y[::-1], X)
    refitted.fit(y, X)
    assert vars(refitted).keys() == vars(fresh).keys(), (
        "fit must remove the record of flips"
    )
    np.testing.assert_array_equal(refitted.transform(y, X), fresh.transform(y, X))


def check_injector_leaves_global_random_state(injector: Any, X: Any, y: Any) -> None:
    """Check that numpy's global random state is not used."""
    before = pickle.dumps(np.random.get_state())
    clone(injector).fit_transform(y, X)
    after = pickle.dumps(np.random.get_state())
    assert before == after, "the global random state was used"


def check_injector_leaves_its_input(injector: Any, X: Any, y: Any) -> None:
    """Check that ``X`` and ``y`` are not changed, and that a copy is returned."""
    X_before, y_before = np.copy(X), np.copy(y)
    noisy = clone(injector).fit_transform(y, X)
    np.testing.assert_array_equal(X, X_before)
    np.testing.assert_array_equal(y, y_before)
    assert not np.shares_memory(noisy, y), "transform must return a copy of y"


def check_injector_is_independent_of_names(injector: Any, X: Any, y: Any) -> None:
    """Check that renaming classes, in the same order, only renames the noisy labels.

    Not for injectors with class names as parameters, such as
    ``PairNoise(mapping=...)``.
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


def check_injector_draws_from_its_matrix(injector: Any, X: Any, y: Any) -> None:
    """Check by a chi-square test that noisy labels are distributed as the matrix says.

    A correct injector fails with a probability of one in a million.
    """
    injector = clone(injector).fit(y, X)
    many_y, many_X = _repeated(y, X)
    noisy = injector.transform(many_y, many_X)
    for row, label in zip(injector.transition_matrix_, injector.classes_, strict=True):
        drawn = noisy[many_y == label]
        counts = np.array([np.sum(drawn == other) for other in injector.classes_])
        assert not counts[row == 0].any(), (
            f"{label!r} was flipped to a class of probability 0"
        )
        if np.count_nonzero(row) > 1:
            expected = row[row > 0] * len(drawn)
            p_value = chisquare(counts[row > 0], expected).pvalue
            assert p_value > _FALSE_ALARM / len(injector.classes_), (
                f"{label!r} became {counts}, expected about {row * len(drawn)}"
            )


def check_injector_can_be_pickled(injector: Any, X: Any, y: Any) -> None:
    """Check that a fitted injector gives the same labels after unpickling."""
    fitted = clone(injector).fit(y, X)
    restored = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(restored.transform(y, X), fitted.transform(y, X))


def check_injector_returns_series(injector: Any, X: Any, y: Any) -> None:
    """Check that a pandas Series is returned for one, with index, name and dtype."""
    if find_spec("pandas") is None:
        return
    import pandas as pd

    series = pd.Series(y, index=np.arange(len(y)) + 1000, name="label")
    noisy = clone(injector).fit_transform(series, X)
    assert isinstance(noisy, pd.Series), "transform must return a Series for a Series"
    assert noisy.index.equals(series.index)
    assert noisy.name == "label"
    assert noisy.dtype == series.dtype


def check_injector_refuses_bad_labels(injector: Any, X: Any, y: Any) -> None:
    """Check that labels not seen in ``fit``, missing or 2-D raise ValueError."""
    fitted = clone(injector).fit(y, X)
    unseen = np.where(np.arange(len(y)) == 1, np.max(y) + 1, y)
    _assert_refused(fitted.transform, unseen, X)
    missing = np.where(np.arange(len(y)) == 1, np.nan, y)
    _assert_refused(clone(injector).fit, missing, X)
    _assert_refused(clone(injector).fit, np.column_stack([y, y]), X)
    _assert_refused(clone(injector).fit, None, X)


def check_injector_must_be_fitted(injector: Any, X: Any, y: Any) -> None:
    """Check that an injector has no matrix and cannot transform before ``fit``."""
    _assert_refused(clone(injector).transform, y, X)
    assert not hasattr(clone(injector), "transition_matrix_")


def _repeated(y: Any, X: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return labels and samples often enough for a statistical test."""
    repeats = -(-30_000 // len(y))
    return np.tile(y, repeats), np.tile(X, (repeats, 1))


def _assert_refused(method: Callable[..., Any], y: Any, X: Any) -> None:
    try:
        method(y, X)
    except ValueError:
        return
    raise AssertionError(f"{method.__qualname__} must raise ValueError for such labels")

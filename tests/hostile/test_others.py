"""Hostile inputs for stop rules, injectors, metrics, plots and networks.

What is public is found by discovery. An input is refused with an error that names the
object or an argument, or it works and the result has the promised form.
"""

import inspect

import matplotlib as mpl
import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import skpresto.modules
import skpresto.noise
import skpresto.plots
import skpresto.stopping
from skpresto import DefaultClassifier, PrestoppingClassifier
from skpresto.metrics import memorization_precision, memorization_recall
from skpresto.noise import (
    BaseLabelNoise,
    NoiseSampler,
    NoisyTargetClassifier,
    SymmetricNoise,
    estimate_transition_matrix,
    noise_rate_from,
)
from skpresto.stopping import StopRule
from tests.hostile.inputs import GOOD_X, GOOD_Y, X_CASES, Y_CASES, Wrapped
from tests.hostile.outcomes import RAW, Refused, params
from tests.hostile.parameters import NO_NUMBERS

pytestmark = pytest.mark.filterwarnings("ignore")
mpl.use("Agg")


def classes_in(module, base):
    """Return the public classes of a module that can be instantiated."""
    found = [getattr(module, name) for name in module.__all__]
    found = [c for c in found if inspect.isclass(c) and issubclass(c, base)]
    return [c for c in found if not inspect.isabstract(c)]


def instance_of(cls):
    """Return an instance with valid arguments where there are no defaults."""
    needed = {"noise_rate": 0.2, "matrix": [[0.8, 0.2], [0.1, 0.9]]}
    asked = inspect.signature(cls).parameters.values()
    return cls(**{p.name: needed[p.name] for p in asked if p.default is p.empty})


def helpful(call, *names):
    """Return the result, or None after an error that is a sentence of the package."""
    try:
        return call()
    except (ValueError, TypeError) as caught:
        error = caught
    message = str(error)
    assert any(name in message for name in names), repr(error)
    assert not RAW.search(message), repr(error)
    return None


RULES = classes_in(skpresto.stopping, StopRule)
INJECTORS = classes_in(skpresto.noise, BaseLabelNoise)
SETTINGS = [
    (cls, name)
    for cls in RULES + INJECTORS
    for name in inspect.signature(cls).parameters
    if name not in ("matrix", "mapping")
]
GOOD = {"random_state": ["None"], "exact": []}


def test_something_is_discovered():
    assert len(RULES) >= 7
    assert len(INJECTORS) >= 4
    assert len(SETTINGS) >= 20


@pytest.mark.parametrize("value", NO_NUMBERS.values(), ids=NO_NUMBERS)
@pytest.mark.parametrize(
    ("cls", "name"), SETTINGS, ids=[f"{c.__name__}-{n}" for c, n in SETTINGS]
)
def test_settings_of_rules_and_injectors(cls, name, value):
    if value is None and name == "random_state":
        assert clone(instance_of(cls)).random_state is None
        return
    configured = instance_of(cls).set_params(**{name: value})
    is_rule = issubclass(cls, StopRule)
    estimator = PrestoppingClassifier(stop=configured) if is_rule else configured
    arguments = (GOOD_X, GOOD_Y) if is_rule else (GOOD_Y, GOOD_X)
    with pytest.raises(ValueError, match=f"'{name}' parameter of {cls.__name__} must"):
        estimator.fit(*arguments)
    with pytest.raises(NotFittedError):
        check_is_fitted(estimator)


MATRICES = {
    "None": (None, "'matrix' parameter of TransitionMatrixNoise"),
    "text": ("identity", "matrix"),
    "a number": (0.5, "matrix"),
    "empty": (np.empty((0, 0)), r"a square matrix.*shape \(0, 0\)"),
    "one row": ([[1.0, 0.0]], r"a square matrix.*shape \(1, 2\)"),
    "3-d": (np.zeros((2, 2, 2)), "square matrix"),
    "ragged": ([[1.0], [0.0, 1.0]], "matrix"),
    "NaN": ([[np.nan, 1], [0, 1]], "finite .* row 0 and column 0 is nan"),
    "infinity": ([[np.inf, 1], [0, 1]], "finite"),
    "negative": ([[1.5, -0.5], [0, 1]], "non-neg.* row 0 and column 1 is -0.5"),
    "columns that sum to 1": ([[0.9, 0], [0, 1]], "0.9, .* 0.1 less than 1.*matrix.T"),
    "counts": (
        [[5, 1], [2, 8]],
        "sums to 10, .* 9 more than 1.*divide each row by its sum",
    ),
    "of three classes": (np.eye(3), "for 3 classes, but y contains 2.*sorted order"),
    "strings": ([["a", "b"], ["c", "d"]], "matrix"),
    "complex": ([[1j, 1], [0, 1]], "matrix"),
    "objects": ([[{}, 1], [0, 1]], "matrix"),
}


@pytest.mark.parametrize(("matrix", "message"), MATRICES.values(), ids=MATRICES)
def test_transition_matrices(matrix, message):
    noise = skpresto.noise.TransitionMatrixNoise(matrix)
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        noise.fit(GOOD_Y)
    assert not RAW.search(str(caught.value)), repr(caught.value)


@pytest.mark.parametrize(
    "mapping", [3, "01", [0, 1], {0: 5}, {5: 0}, {0: 0}, {"0": 1}, {0: [1]}, {0: None}]
)
def test_mappings(mapping):
    with pytest.raises((ValueError, TypeError), match="mapping") as caught:
        skpresto.noise.PairNoise(mapping=mapping).fit(GOOD_Y)
    assert not RAW.search(str(caught.value)), repr(caught.value)


@params(Y_CASES)
@pytest.mark.parametrize("injector", INJECTORS, ids=lambda c: c.__name__)
def test_labels_of_injectors(injector, case):
    noise = instance_of(injector).set_params(random_state=0)
    y = case.arguments["y"]
    noisy = helpful(
        lambda: noise.fit_transform(y, GOOD_X), injector.__name__, "samples"
    )
    if noisy is None:
        return
    assert len(noisy) == len(y)
    assert set(noisy.tolist()) <= set(np.asarray(y).ravel().tolist())


@params(X_CASES)
def test_samples_of_instance_dependent_noise(case):
    noise = skpresto.noise.InstanceDependentNoise(random_state=0)
    X = case.arguments["X"]
    names = (
        "InstanceDependentNoise",
        "X",
        "array",
        "container",
        "samples",
        "data",
        "dtype",
        "value",
    )
    noisy = helpful(lambda: noise.fit_transform(GOOD_Y, X), *names)
    if noisy is not None:
        assert set(noisy.tolist()) <= {0, 1}


@params(X_CASES + [c for c in Y_CASES if c.name not in {x.name for x in X_CASES}])
def test_wrappers_pass_hostile_inputs_on(case):
    arguments = {"X": GOOD_X, "y": GOOD_Y, **case.arguments}
    plain = DefaultClassifier(max_epochs=1, random_state=0)
    wrapper = NoisyTargetClassifier(plain, SymmetricNoise(0.0))
    if isinstance(case.expected, Refused):
        with pytest.raises((ValueError, TypeError)) as caught:
            wrapper.fit(**arguments)
        assert not RAW.search(str(caught.value)), repr(caught.value)
        with pytest.raises(NotFittedError):
            check_is_fitted(wrapper)
        return
    proba = wrapper.fit(**arguments).predict_proba(GOOD_X)
    expected = clone(plain).fit(**arguments).predict_proba(GOOD_X)
    np.testing.assert_array_equal(proba, expected)


@pytest.mark.parametrize("wrong", [3, "noise", len, SymmetricNoise, [], Wrapped()])
@pytest.mark.parametrize("name", ["classifier", "noise"])
def test_wrappers_of_other_objects(name, wrong):
    wrapper = NoisyTargetClassifier(DefaultClassifier(), SymmetricNoise())
    wrapper.set_params(**{name: wrong})
    helpful(lambda: pytest.fail(str(wrapper.fit(GOOD_X, GOOD_Y))), name, "instance")
    if name == "noise":
        sampler = NoiseSampler(wrong)
        arguments = GOOD_X, GOOD_Y
        helpful(
            lambda: pytest.fail(str(sampler.fit_resample(*arguments))), "noise", "in"
        )


@params(Y_CASES)
@pytest.mark.parametrize("metric", [memorization_precision, memorization_recall])
def test_labels_of_metrics(metric, case):
    y, mask = case.arguments["y"], np.ones(len(GOOD_Y), bool)
    names = metric.__name__, "samples", "array", "sequence"
    result = helpful(lambda: metric(mask, y, y), *names)
    assert result is None or result == 1.0


@pytest.mark.parametrize(
    "mask",
    [None, "yes", 1, [1] * 12, [0.5] * 12, ["a"] * 12, [[True]] * 11, [None] * 12],
)
def test_masks_of_metrics(mask):
    with pytest.raises((ValueError, TypeError)) as caught:
        memorization_precision(mask, GOOD_Y, GOOD_Y)
    assert not RAW.search(str(caught.value)), repr(caught.value)


@params(Y_CASES)
def test_labels_of_estimates(case):
    y = case.arguments["y"]
    name = "estimate_transition_matrix"
    matrix = helpful(lambda: estimate_transition_matrix(y, y), name, "samples")
    if matrix is not None:
        np.testing.assert_array_equal(matrix, np.eye(len(matrix)))


PROBABILITIES = {
    "None": None,
    "text": "half",
    "1-d": np.full(12, 0.5),
    "three columns": np.full((12, 3), 1 / 3),
    "a row less": np.full((11, 2), 0.5),
    "NaN": np.full((12, 2), np.nan),
    "negative": np.tile([-0.5, 1.5], (12, 1)),
    "sums of 2": np.ones((12, 2)),
    "strings": np.full((12, 2), "a"),
}


@pytest.mark.parametrize("proba", PROBABILITIES.values(), ids=PROBABILITIES)
def test_probabilities_of_estimates(proba):
    with pytest.raises(
        (ValueError, TypeError),
        match="estimate_transition|pred_proba|samples|array|string",
    ) as caught:
        estimate_transition_matrix(GOOD_Y, pred_proba=proba)
    assert not RAW.search(str(caught.value)), repr(caught.value)


@pytest.mark.parametrize(
    ("matrix", "prior"),
    [
        (None, None),
        ("x", None),
        ([[2.0]], None),
        (np.eye(2), [1.0]),
        (np.eye(2), [0.5, 0.9]),
        (np.eye(2), [np.nan, 1]),
        (np.eye(2), "even"),
        (np.eye(2), [-1, 2]),
    ],
)
def test_matrices_of_noise_rates(matrix, prior):
    with pytest.raises((ValueError, TypeError), match="noise_rate_from") as caught:
        noise_rate_from(matrix, prior)
    assert not RAW.search(str(caught.value)), repr(caught.value)


DISPLAYS = [getattr(skpresto.plots, name) for name in skpresto.plots.__all__]
ENTRIES = [
    (display, name)
    for display in DISPLAYS
    for name in vars(display)
    if name.startswith("from_") and name not in ("from_labels", "from_predictions")
]


@pytest.mark.parametrize("wrong", [None, 3, "clf", [], {}, Wrapped(), len])
@pytest.mark.parametrize(
    ("display", "name"), ENTRIES, ids=[f"{d.__name__}.{n}" for d, n in ENTRIES]
)
def test_displays_of_other_objects(display, name, wrong):
    arguments = [wrong]
    if display.__name__ == "LossDistributionDisplay":
        arguments += [GOOD_X, GOOD_Y, GOOD_Y]
    with pytest.raises((ValueError, TypeError)) as caught:
        getattr(display, name)(*arguments)
    message = str(caught.value)
    assert display.__name__ in message or "estimator instance" in message, message
    assert not RAW.search(message), message


@params(Y_CASES)
def test_labels_of_displays(case):
    y = case.arguments["y"]
    show = skpresto.plots.TransitionMatrixDisplay.from_labels
    owner = "estimate_transition_matrix"
    helpful(lambda: show(y, y), "TransitionMatrixDisplay", owner, "samples", "Complex")


MODULES = [
    module
    for module in classes_in(skpresto.modules, torch.nn.Module)
    if "n_classes" in inspect.signature(module).parameters
]


@pytest.mark.parametrize("value", [None, "2", 2.5, 0, -1, [], float("nan")], ids=repr)
@pytest.mark.parametrize("module", MODULES, ids=lambda c: c.__name__)
@pytest.mark.parametrize("position", [0, 1])
def test_sizes_of_networks(module, value, position):
    first = next(iter(inspect.signature(module).parameters))
    sizes = [(3, 32, 32) if first == "input_shape" else 3, 2]
    sizes[position] = value
    name = (first, "n_classes")[position]
    with pytest.raises((ValueError, TypeError), match=name) as caught:
        module(*sizes)
    assert not RAW.search(str(caught.value)), repr(caught.value)

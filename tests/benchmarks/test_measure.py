from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.utils import Bunch

from skpresto.noise import InstanceDependentNoise, PairNoise, SymmetricNoise

METHODS = [
    *("Default", "Active Bias", "Co-teaching", "Co-teaching+", "SELFIE"),
    *("Prestopping", "Prestopping+", "CrossPrestopping"),
]


@pytest.fixture
def loaders(accuracy, monkeypatch):
    """Return a copy of the loaders that a test may change; clear the cached rows."""
    changed = dict(accuracy.data.LOADERS)
    monkeypatch.setattr(accuracy.data, "LOADERS", changed)
    accuracy.data._rows_of.cache_clear()
    yield changed
    accuracy.data._rows_of.cache_clear()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", METHODS)
def test_watched_error_is_that_of_score_and_changes_nothing(accuracy, method):
    takes_rule = accuracy.contenders.METHODS[method].takes_rule
    rule = "default rule" if takes_rule else None
    cell = accuracy.cells.Cell(method, "digits", "pair", 0.4, seed=1, q=3, rule=rule)
    setting = accuracy.cells.Setting("digits", epochs=5, rows=400)
    split = accuracy.data.split_of(cell, setting)
    watched = accuracy.measure.Watched(split)
    fitted = []
    for callbacks in ([accuracy.measure.ErrorCurve(watched)], []):
        clf = accuracy.classifiers.classifier_of(
            cell, setting, split.noise_rate, callbacks
        )
        fitted.append(clf.fit(split.X, split.y))
    kept = accuracy.measure.epochs_of_final_networks(fitted[0])
    assert [fitted[0].history_[row].epoch for row in kept] == [1, 2, 3, 4, 5]
    curve = [fitted[0].net_.history[row, "watched_test"] for row in kept]
    assert curve[-1] == pytest.approx(1 - fitted[0].score(split.X_test, split.y_test))
    valid = fitted[0].net_.history[-1, "watched_valid"]
    assert valid == pytest.approx(1 - fitted[0].score(split.X_val, split.y_val))
    first, second = (clf.net_.module_.state_dict() for clf in fitted)
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert watched.stopwatch.cpu_seconds > 0
    assert watched.stopwatch.seconds > 0


def test_every_method_gets_the_same_data(accuracy):
    Cell, Setting = accuracy.cells.Cell, accuracy.cells.Setting
    setting = Setting("digits", epochs=1, rows=500, test_rows=100)
    cell = Cell("Default", "digits", "symmetric", 0.4, seed=3)
    one = accuracy.data.split_of(cell, setting)
    other = accuracy.data.split_of(
        replace(cell, method="Prestopping", rule="validation", q=10), setting
    )
    for name, array in vars(one).items():
        np.testing.assert_array_equal(array, vars(other)[name])
    assert (len(one.y), len(one.y_val), len(one.y_test)) == (475, 25, 100)
    assert one.noise_rate == np.mean(one.y != one.y_true)
    assert one.noise_rate == pytest.approx(0.4, abs=0.08)
    assert one.X.dtype == np.float32


def test_instance_dependent_noise_depends_on_the_features(accuracy):
    Cell, Setting = accuracy.cells.Cell, accuracy.cells.Setting
    cell = Cell("Default", "digits", "instance", 0.3, seed=3)
    split = accuracy.data.split_of(cell, Setting("digits", epochs=1))
    noise = InstanceDependentNoise(0.3, random_state=np.random.RandomState(3))
    np.testing.assert_array_equal(split.y, noise.fit_transform(split.y_true, split.X))
    assert split.noise_rate == pytest.approx(0.3, abs=0.05)
    flips = noise.flip_probabilities(split.X)
    is_wrong = split.y != split.y_true
    assert flips[is_wrong].mean() > flips[~is_wrong].mean()


@pytest.mark.parametrize(("noise", "rate"), [("pair", 0.4), ("symmetric", 0.2)])
def test_draws_of_class_noise_do_not_depend_on_the_features(accuracy, noise, rate):
    injector = {"pair": PairNoise, "symmetric": SymmetricNoise}[noise]
    cell = accuracy.cells.Cell("Default", "digits", noise, rate, seed=5)
    split = accuracy.data.split_of(cell, accuracy.cells.Setting("digits", epochs=1))
    draws = injector(rate, random_state=np.random.RandomState(5))
    np.testing.assert_array_equal(split.y, draws.fit_transform(split.y_true))


def test_images_are_standardized_by_channel(accuracy, loaders):
    rng = np.random.default_rng(0)
    X = rng.integers(256, size=(80, 3, 4, 4), dtype=np.uint8)
    y = np.arange(80) % 2
    labels = {"crowd": 1 - y, "worst": np.zeros_like(y)}
    loaders["made up"] = lambda: Bunch(
        X_train=X, y_train=y, noisy_labels=dict(labels), X_test=X, y_test=y
    )
    cell = accuracy.cells.Cell("Default", "made up", "crowd", None, seed=0)
    split = accuracy.data.split_of(cell, accuracy.cells.Setting("made up", 1, rows=60))
    assert split.noise_rate == 1.0
    assert len(split.y) == 57
    everything = np.concatenate([split.X, split.X_val])
    np.testing.assert_allclose(everything.mean(axis=(0, 2, 3)), 0, atol=1e-5)
    np.testing.assert_allclose(everything.std(axis=(0, 2, 3)), 1, atol=1e-5)


def test_verified_rows_are_used_without_true_labels(accuracy, loaders):
    X, y = np.random.default_rng(0).normal(size=(60, 4)), np.arange(60) % 2
    loaders["food101n"] = lambda: Bunch(
        X_train=X, y_noisy=y, X_valid=X[:7], y_valid=y[:7], X_test=X, y_test=y
    )
    cell = accuracy.cells.Cell("Default", "food", "web", None, seed=0)
    split = accuracy.data.split_of(cell, accuracy.cells.Setting("food101n", 1))
    assert split.y_true is None
    assert len(split.y_val) == 7
    assert split.noise_rate == 0.184


def test_only_what_a_rule_needs_is_given_to_fit(accuracy):
    cell = accuracy.cells.Cell("Prestopping", "digits", "pair", 0.4, seed=0, q=10)
    setting = accuracy.cells.Setting("digits", epochs=1)
    split = accuracy.data.split_of(cell, setting)
    given = {
        rule: set(accuracy.contenders.supervision(replace(cell, rule=rule), split))
        for rule in accuracy.contenders.RULES
    }
    assert given == {
        "default rule": set(),
        "validation": {"X_val", "y_val"},
        "noise rate": set(),
        "memorized fraction": set(),
        "oracle": {"y_true"},
    }


def test_clean_rows_are_given_to_methods_that_need_them(accuracy):
    cell = accuracy.cells.Cell("Learning to reweight", "digits", "pair", 0.4, seed=0)
    split = accuracy.data.split_of(cell, accuracy.cells.Setting("digits", epochs=1))
    given = accuracy.contenders.supervision(cell, split)
    assert set(given) == {"X_val", "y_val"}
    assert given["y_val"] is split.y_val


@pytest.mark.parametrize("data", ["cifar10 DenseNet", "animal10n VGG19"])
def test_the_paper_preset_trains_its_networks(accuracy, loaders, data):
    preset = accuracy.presets.paper()
    setting = preset.settings[data]
    X = np.random.default_rng(0).normal(size=(40, 3, 32, 32)).astype(np.float32)
    is_known = data.startswith("cifar")  # animal10n has noisy labels only
    labels = "y_train" if is_known else "y_noisy"
    y = np.arange(40) % 2
    loaders[setting.source] = lambda: Bunch(
        **{"X_train": X, labels: y, "X_test": X[:6], "y_test": y[:6]}
    )
    cell = next(c for c in preset.cells if (c.method, c.data) == ("Prestopping", data))
    small = replace(setting, epochs=1, rows=24, device="cpu")
    result = accuracy.measure.measure(cell, small)
    assert 0 <= result["error_last"] <= 1
    assert result["module"] == data.split()[1]
    assert (result["safe_recall"] is not None) == is_known
    assert (result["auroc"] is not None) == is_known

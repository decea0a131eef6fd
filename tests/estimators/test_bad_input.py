"""Every mistake gets a message that says who, what is needed, what was got, and how."""

import numpy as np
import pytest
import torch
from skorch.callbacks import EarlyStopping, EpochTimer
from torch import nn

from skpresto import (
    CoTeachingClassifier,
    CrossPrestoppingClassifier,
    PrestoppingClassifier,
)
from skpresto.stopping import NoiseRateStop, OracleStop, ValidationStop
from tests.discovery import CLASSIFIERS, quick

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning",
    "ignore::skpresto.exceptions.SafeSetWarning",
    "ignore::skpresto.exceptions.FallbackWarning",
)
every = pytest.mark.parametrize("Classifier", CLASSIFIERS)
X = np.random.RandomState(0).normal(size=(40, 3)).astype(np.float32)
y = np.arange(40) % 2


def with_value(value):
    changed = X.copy()
    changed[3, 1] = value
    return changed


@every
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy's, on huge numbers
@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (X[:0], y[:0], r"0 sample\(s\).*minimum of 2 is required"),
        (X[:1], y[:1], r"1 sample\(s\).*minimum of 2 is required"),
        (X, np.zeros(40), r"at least 2 classes, but y contains only one class: .*0\.0"),
        (with_value(np.nan), y, "Input X contains NaN"),
        (with_value(np.inf), y, "Input X contains infinity"),
        (X.astype(np.float64) * 1e300, y, "infinity or a value too large for dtype"),
        (X, y[:-1], r"inconsistent numbers of samples: \[40, 39\]"),
        (X, X[:, 0], "Unknown label type: continuous"),
        (X, np.where(y, np.nan, 0.0), "y contains NaN"),
        (X, np.array(["a", None] * 20, dtype=object), "y contains missing values"),
        (X, np.array(["a", np.nan] * 20, dtype=object), "y contains missing values"),
        (X, None, "requires y to be passed, but the target y is None"),
        (X[:, 0], y, "Expected 2D array, got 1D array"),
        (X.astype(complex), y, "Complex data not supported"),
        (np.full((40, 3), "a"), y, "could not convert string|array of bytes/strings"),
        (
            X[:, :, None],
            y,
            r"built-in network for tables.*got samples of shape \(3, 1\)",
        ),
    ],
)
def test_training_data(Classifier, X, y, message):
    clf = quick(Classifier)
    with pytest.raises(ValueError, match=message):
        clf.fit(X, y)
    assert not [name for name in vars(clf) if name.endswith("_")]


@every
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"X_val": X}, "needs X_val and y_val together, but fit.. got only X_val"),
        ({"y_val": y}, "needs X_val and y_val together, but fit.. got only y_val"),
        (
            {"X_val": X, "y_val": y + 1},
            r"has the classes 0, 1, but y_val contains labels .* not among them: 2",
        ),
        (
            {"X_val": X[:, :2], "y_val": y},
            r"X_val with samples of shape \(2,\).*shape \(3,\)",
        ),
        ({"X_val": with_value(np.nan), "y_val": y}, "X_val contains NaN|contains NaN"),
        ({"X_val": X, "y_val": y[:-1]}, r"inconsistent numbers of samples: \[40, 39\]"),
        ({"y_true": y[:-1]}, r"inconsistent numbers of samples: \[40, 39\]"),
        ({"y_true": y.astype(str)}, r"no label in y_true that y has too.*\['0', '1'"),
        ({"y_true": np.where(y, np.nan, 0.0)}, "y_true contains missing values"),
        (
            {"X_val": X, "y_val": np.array([None] * 40)},
            "y_val contains missing values",
        ),
    ],
)
def test_further_arguments_of_fit(Classifier, given, message):
    clf = quick(Classifier)
    with pytest.raises(ValueError, match=message):
        clf.fit(X, y, **given)
    assert not [name for name in vars(clf) if name.endswith("_")]


@every
def test_number_of_features_at_predict(Classifier):
    clf = quick(Classifier, max_epochs=40).fit(X, y)
    with pytest.raises(ValueError, match="X has 2 features, but .* is expecting 3"):
        clf.predict(X[:, :2])


@pytest.mark.parametrize(
    ("rule", "missing"),
    [(ValidationStop(), "X_val and y_val"), (OracleStop(), "y_true")],
)
def test_rule_that_needs_what_fit_was_not_given(rule, missing):
    message = rf"stop={type(rule).__name__}\(\) needs {missing} .*Pass fit\(X, y, "
    with pytest.raises(ValueError, match=message):
        quick(PrestoppingClassifier, stop=rule).fit(X, y)


@pytest.mark.parametrize("rate", [1.0, -0.1, 2])
def test_noise_rate_of_a_rule(rate):
    with pytest.raises(ValueError, match=r"'noise_rate' parameter of NoiseRateStop"):
        quick(PrestoppingClassifier, stop=NoiseRateStop(rate)).fit(X, y)


def test_stop_that_is_no_rule():
    with pytest.raises(ValueError, match="'stop' parameter of PrestoppingClassifier"):
        quick(PrestoppingClassifier, stop="early").fit(X, y)


@every
@pytest.mark.parametrize(
    "params",
    [
        {"q": 0},
        {"q": 2.5},
        {"q": "10"},
        {"max_epochs": 0},
        {"batch_size": 0},
        {"lr": 0},
        {"lr": -1.0},
        {"random_state": "seed"},
        {"verbose": -1},
        {"n_jobs": 1.5},
        {"n_jobs": 0},
    ],
    ids=str,
)
def test_parameters_out_of_range(Classifier, params):
    (name,) = params
    message = f"The '{name}' parameter of {Classifier.__name__} must be .* Got "
    with pytest.raises(ValueError, match=message):
        quick(Classifier, **params).fit(X, y)


class TooManyColumns(nn.Linear):
    def __init__(self, n_features):
        super().__init__(n_features, 7)


class ReturnsDict(nn.Linear):
    def forward(self, X):
        return {"scores": super().forward(X)}


class ReturnsNaN(nn.Linear):
    def forward(self, X):
        return super().forward(X) * float("nan")


@every
def test_module_with_the_wrong_number_of_columns(Classifier):
    message = r"each of the 2 classes.*shape \(2, 2\), got \(2, 7\).*n_classes"
    with pytest.raises(ValueError, match=message):
        Classifier(TooManyColumns).fit(X, y)


@every
def test_module_that_returns_a_dict_without_logits(Classifier):
    with pytest.raises(ValueError, match=r"one logit for each.*got dict"):
        Classifier(ReturnsDict).fit(X, y)


@every
def test_module_that_returns_nan(Classifier):
    clf = Classifier(ReturnsNaN, lr=0.3)
    with pytest.raises(ValueError, match=r"Training diverged.*nan.*lr=0\.3"):
        clf.fit(X, y)
    assert not hasattr(clf, "net_")


@every
def test_learning_rate_that_explodes(Classifier):
    clf = quick(Classifier, lr=1e30, max_epochs=5)
    with pytest.raises(ValueError, match=r"Training diverged.*lr=1e\+30"):
        clf.fit(X, y)


@every
def test_module_that_is_no_module(Classifier):
    with pytest.raises(TypeError, match="module to be an nn.Module class.*got 'mlp'"):
        Classifier("mlp").fit(X, y)


@every
def test_parameters_for_a_module_that_is_an_instance(Classifier):
    with pytest.raises(ValueError, match="instance as module, so module__width"):
        Classifier(nn.Linear(3, 2), module__width=3).fit(X, y)


@every
def test_lbfgs(Classifier):
    with pytest.raises(ValueError, match="cannot train with LBFGS.*Use SGD"):
        quick(Classifier, optimizer=torch.optim.LBFGS).fit(X, y)


class MeanLoss(nn.Module):
    def forward(self, logits, labels):
        return logits.mean()


@every
def test_criterion_that_returns_one_number(Classifier):
    with pytest.raises(ValueError, match=r"one loss per sample.*MeanLoss returned"):
        quick(Classifier, criterion=MeanLoss).fit(X, y)


@every
@pytest.mark.parametrize(
    "criterion", [nn.CrossEntropyLoss(label_smoothing=0.1), nn.MultiMarginLoss]
)
def test_other_criteria_are_made_to_give_one_loss_per_sample(Classifier, criterion):
    clf = quick(Classifier, criterion=criterion, max_epochs=2, lr=1e-4)
    assert clf.fit(X, y).predict(X).shape == (40,)


@every
@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("modul__hidden", "module__hidden"),
        ("module_hidden", "module__hidden"),
        ("optimizer_momentum", "optimizer__momentum"),
        ("max_epoch", "max_epochs"),
    ],
)
def test_misspelt_parameter_names_the_nearest_right_one(Classifier, wrong, right):
    with pytest.raises(TypeError, match=f"'{wrong}', did you mean '{right}'"):
        Classifier(**{wrong: 3}).fit(X, y)
    with pytest.raises(ValueError, match=f"'{wrong}'.*did you mean '{right}'"):
        Classifier().set_params(**{wrong: 3})


def test_a_name_of_version_0_1_is_answered_with_the_present_one():
    with pytest.raises(TypeError, match="'folds', did you mean 'cv'"):
        CrossPrestoppingClassifier(folds=5).fit(X, y)


@every
@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("optimizer__momentun", "optimizer__momentum"),
        ("module__hiden", "module__hidden"),
        ("criterion__label_smooth", "criterion__label_smoothing"),
    ],
)
def test_misspelt_parameter_of_a_part(Classifier, wrong, right):
    with pytest.raises(ValueError, match=f"got {wrong}, which .*mean '{right}'"):
        Classifier(**{wrong: 3}).fit(X, y)


@every
def test_parameters_for_a_criterion_that_is_an_instance(Classifier):
    clf = quick(
        Classifier, criterion=nn.CrossEntropyLoss(), criterion__label_smoothing=0.1
    )
    with pytest.raises(ValueError, match="instance as criterion, so criterion__label"):
        clf.fit(X, y)


def test_optimizer_that_is_no_class():
    with pytest.raises(TypeError, match="optimizer to be a class.*got 'SGD'"):
        quick(PrestoppingClassifier, optimizer="SGD").fit(X, y)


@pytest.mark.parametrize(
    ("callbacks", "error", "message"),
    [
        ("disable", TypeError, "callbacks to be a list.*got 'disable'"),
        (EpochTimer(), TypeError, "callbacks to be a list"),
        ([nn.ReLU()], TypeError, "skorch callbacks, but 'ReLU' is none"),
        (
            [EarlyStopping()],
            ValueError,
            "EarlyStopping, which.*Choose a stop rule",
        ),
        ([("stop", EarlyStopping)], ValueError, "EarlyStopping, which ends"),
    ],
)
def test_callbacks_that_cannot_be_used(callbacks, error, message):
    with pytest.raises(error, match=message):
        quick(PrestoppingClassifier, callbacks=callbacks).fit(X, y)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"callbacks__timr__sink": 1}, r"callbacks__timr__sink.*called \['timer'\]"),
        ({"iterator_train__shufle": True}, "mean 'iterator_train__shuffle'"),
        ({"iterator_valid__batchsize": 3}, "mean 'iterator_valid__batch_size'"),
    ],
)
def test_misspelt_parameters_of_callbacks_and_iterators(params, message):
    clf = quick(PrestoppingClassifier, callbacks=[("timer", EpochTimer())], **params)
    with pytest.raises(ValueError, match=message):
        clf.fit(X, y)


def test_settings_of_a_rule_that_is_not_there():
    with pytest.raises(ValueError, match="cannot set stop__patience, since stop is No"):
        PrestoppingClassifier().set_params(stop__patience=3)
    both = PrestoppingClassifier().set_params(stop=ValidationStop(), stop__patience=3)
    assert both.stop.patience == 3


def test_no_row_to_hold_out():
    with pytest.raises(ValueError, match="no class has more than one row.*LabelWave"):
        quick(PrestoppingClassifier).fit(np.eye(4, dtype=np.float32), np.arange(4))


def test_sampler_with_a_rule_that_holds_rows_out():
    sampler = torch.utils.data.SequentialSampler(range(40))
    clf = quick(PrestoppingClassifier, iterator_train__sampler=sampler)
    with pytest.raises(ValueError, match="cannot be used with a stop rule that holds"):
        clf.fit(X, y)
    clf.set_params(stop=NoiseRateStop(0.4)).fit(X, y)


def test_memory_map_with_numbers_beyond_float32(tmp_path):
    np.save(tmp_path / "X.npy", with_value(1.0).astype(np.float64) * 1e60)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    with pytest.raises(ValueError, match="too large for dtype.'float32'"):
        quick(PrestoppingClassifier).fit(mapped, y)


def test_networks_that_cannot_be_made_different():
    class OwnWeights(nn.Module):
        def __init__(self):
            super().__init__()
            self.weights = nn.Parameter(torch.zeros(3, 2))

        def forward(self, X):
            return X @ self.weights

    with pytest.raises(ValueError, match="weights stay equal.*pass its class"):
        CoTeachingClassifier(OwnWeights(), noise_rate=0.1).fit(X, y)


@every
def test_divergence_in_the_last_step_is_seen(Classifier):
    clf = quick(Classifier, max_epochs=1, batch_size=1000, lr=1e30)
    if "warm_up" in clf.get_params():
        clf.set_params(warm_up=0)
    with pytest.raises(ValueError, match=r"Training diverged.*lr=1e\+30"):
        clf.fit(X, y)

"""Every mistake gets a message that says who, what is needed, what was got, and how."""

import numpy as np
import pytest
import torch
from torch import nn

from skpresto import (
    CoTeachingClassifier,
    CrossPrestoppingClassifier,
    PrestoppingClassifier,
)
from skpresto.stopping import NoiseRateStop, ValidationStop
from tests.discovery import on_paths, quick, short_fits_warn, with_two

pytestmark = short_fits_warn
X = np.random.RandomState(0).normal(size=(40, 3)).astype(np.float32)
y = np.arange(40) % 2


@on_paths()
def test_learning_rate_that_explodes(Classifier):
    clf = quick(Classifier, lr=1e30, max_epochs=5)
    with pytest.raises(ValueError, match=r"Training diverged.*lr=1e\+30"):
        clf.fit(X, y)


@on_paths()
@pytest.mark.parametrize(
    "criterion", [nn.CrossEntropyLoss(label_smoothing=0.1), nn.MultiMarginLoss]
)
def test_other_criteria_are_made_to_give_one_loss_per_sample(Classifier, criterion):
    clf = quick(Classifier, criterion=criterion, max_epochs=2, lr=1e-4)
    assert clf.fit(X, y).predict(X).shape == (40,)


@with_two
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


def test_settings_of_a_rule_that_is_not_there():
    with pytest.raises(ValueError, match="cannot set stop__patience, since stop is No"):
        PrestoppingClassifier().set_params(stop__patience=3)
    both = PrestoppingClassifier().set_params(stop=ValidationStop(), stop__patience=3)
    assert both.stop.patience == 3


def test_sampler_with_a_rule_that_holds_rows_out():
    sampler = torch.utils.data.SequentialSampler(range(40))
    clf = quick(PrestoppingClassifier, iterator_train__sampler=sampler)
    with pytest.raises(ValueError, match="cannot be used with a stop rule that holds"):
        clf.fit(X, y)
    clf.set_params(stop=NoiseRateStop(0.4)).fit(X, y)


def test_networks_that_cannot_be_made_different():
    class OwnWeights(nn.Module):
        def __init__(self):
            super().__init__()
            self.weights = nn.Parameter(torch.zeros(3, 2))

        def forward(self, X):
            return X @ self.weights

    with pytest.raises(ValueError, match="weights stay equal.*pass its class"):
        CoTeachingClassifier(OwnWeights(), noise_rate=0.1).fit(X, y)


@on_paths()
def test_divergence_in_the_last_step_is_seen(Classifier):
    clf = quick(Classifier, max_epochs=1, batch_size=1000, lr=1e30)
    if "warm_up" in clf.get_params():
        clf.set_params(warm_up=0)
    with pytest.raises(ValueError, match=r"Training diverged.*lr=1e\+30"):
        clf.fit(X, y)

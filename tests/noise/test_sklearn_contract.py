"""scikit-learn's estimator checks, without expected failures."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import SkipTestWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import LabelEncoder
from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from skpresto.noise import (
    InstanceDependentNoise,
    NoisyTargetClassifier,
    PairNoise,
    SymmetricNoise,
    TransitionMatrixNoise,
)

INJECTORS = [
    SymmetricNoise(),
    PairNoise(),
    TransitionMatrixNoise(np.eye(3)),
    InstanceDependentNoise(),
]

# scikit-learn has no checks for transformers of targets, and warns about it for the
# injectors as for its LabelEncoder.
with warnings.catch_warnings():
    warnings.simplefilter("ignore", SkipTestWarning)
    checks = parametrize_with_checks(
        [
            NoisyTargetClassifier(
                LogisticRegression(), SymmetricNoise(0.1, random_state=0)
            ),
            NoisyTargetClassifier(
                KNeighborsClassifier(), InstanceDependentNoise(0.1, random_state=0)
            ),
            *INJECTORS,
        ]
    )


@checks
def test_estimator_checks_pass(estimator, check):
    check(estimator)


@pytest.mark.parametrize("injector", INJECTORS, ids=repr)
@pytest.mark.parametrize(
    "name",
    [
        "check_do_not_raise_errors_in_init_or_set_params",
        "check_estimator_repr",
        "check_estimator_tags_renamed",
        "check_get_params_invariance",
        "check_mixin_order",
        "check_no_attributes_set_in_init",
        "check_parameters_default_constructible",
        "check_param_validation",
        "check_set_params",
        "check_valid_tag_types",
    ],
)
def test_applicable_checks_of_transformers_pass(injector, name):
    getattr(estimator_checks, name)(type(injector).__name__, injector)


@pytest.mark.parametrize("injector", INJECTORS, ids=repr)
def test_injectors_have_the_tags_of_a_label_encoder(injector):
    tags, encoder_tags = get_tags(injector), get_tags(LabelEncoder())
    assert tags.target_tags == encoder_tags.target_tags
    assert tags.input_tags == encoder_tags.input_tags
    assert tags.transformer_tags == encoder_tags.transformer_tags

"""Properties that all stop rules have in common."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils._param_validation import InvalidParameterError

import skpresto.stopping
from skpresto.stopping import AgreementStop, EpochRecord, NoiseRateStop, StopRule

NEEDED = {
    "NoiseRateStop": {"noise_rate": 0.3},
    "MemorizedFractionStop": {"noise_rate": 0.3},
}
RULES = [
    getattr(skpresto.stopping, name)(**NEEDED.get(name, {}))
    for name in skpresto.stopping.__all__
    if name.endswith("Stop")
]
# A minimum changes how the threshold of AgreementStop is computed.
WITH_MINIMUM = AgreementStop(min_memorized_fraction=0.5, margin=1)
for_each_rule = pytest.mark.parametrize("rule", [*RULES, WITH_MINIMUM], ids=repr)

fractions = st.floats(0, 1)
records = st.builds(
    EpochRecord,
    epoch=st.just(1),
    stage=st.just("phase 1"),
    train_loss=fractions,
    train_error=fractions,
    memorized_fraction=fractions,
    changed_fraction=fractions,
    valid_error=fractions,
    n_valid=st.just(7),
    holdout_error=fractions,
    n_holdout=st.just(7),
    memorization_precision=fractions,
    memorization_recall=fractions,
    estimated_noise_rate=fractions,
)
runs = st.lists(records, min_size=1, max_size=25)


def test_all_rules_are_tested_here():
    assert len(RULES) == 8


@for_each_rule
@given(run=runs)
def test_the_candidate_is_a_past_epoch_and_never_moves_backwards(rule, run):
    candidates = [rule.candidate(run[:seen]) for seen in range(1, len(run) + 1)]
    assert candidates == sorted(candidates)
    assert all(0 <= candidate <= seen for seen, candidate in enumerate(candidates))


@for_each_rule
@given(run=runs)
def test_every_later_candidate_was_a_contender_before(rule, run):
    last = rule.candidate(run)
    for seen in range(last + 1, len(run) + 1):
        assert last in rule.contenders(run[:seen])


@for_each_rule
@given(run=runs)
def test_a_rule_has_no_state_and_does_not_change_the_records(rule, run):
    before, params = list(run), rule.get_params()
    first = rule.candidate(run), rule.is_settled(run)
    assert (rule.candidate(run), rule.is_settled(run)) == first
    assert run == before
    assert rule.get_params() == params
    assert vars(rule).keys() <= params.keys()


@for_each_rule
def test_a_rule_can_be_cloned_and_pickled(rule):
    assert repr(clone(rule)) == repr(rule)
    assert repr(pickle.loads(pickle.dumps(rule))) == repr(rule)


@for_each_rule
def test_parameters_out_of_range_are_rejected_by_name(rule):
    for name in rule.get_params():
        with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of "):
            clone(rule).set_params(**{name: -1})._validate_params()


@pytest.mark.parametrize("rate", [1.0, 1.5, -0.1, "0.4"])
def test_the_noise_rate_must_be_between_zero_and_one(rate):
    with pytest.raises(ValueError, match=r"noise_rate.*range \[0.0, 1.0\)"):
        NoiseRateStop(rate)._validate_params()


def test_the_abstract_rule_cannot_be_instantiated():
    with pytest.raises(TypeError, match="abstract"):
        StopRule()

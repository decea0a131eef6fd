"""What every stop rule promises, whatever it looks at."""

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
FLOOR = AgreementStop(least=0.5, margin=1)  # the one setting that sets another bar
by_name = pytest.mark.parametrize("rule", [*RULES, FLOOR], ids=repr)

shares = st.floats(0, 1)
records = st.builds(
    EpochRecord,
    epoch=st.just(1),
    phase=st.just(1),
    train_loss=shares,
    train_error=shares,
    memorized_fraction=shares,
    changed_fraction=shares,
    valid_error=shares,
    n_valid=st.just(7),
    holdout_error=shares,
    n_holdout=st.just(7),
    memorization_precision=shares,
    memorization_recall=shares,
)
runs = st.lists(records, min_size=1, max_size=25)


def test_all_seven_rules_are_here():
    assert len(RULES) == 7


@by_name
@given(run=runs)
def test_candidate_is_an_epoch_seen_and_never_moves_backwards(rule, run):
    candidates = [rule.candidate(run[:seen]) for seen in range(1, len(run) + 1)]
    assert candidates == sorted(candidates)
    assert all(0 <= candidate <= seen for seen, candidate in enumerate(candidates))


@by_name
@given(run=runs)
def test_every_later_candidate_was_a_contender_all_along(rule, run):
    last = rule.candidate(run)
    for seen in range(last + 1, len(run) + 1):
        assert last in rule.contenders(run[:seen])


@by_name
@given(run=runs)
def test_rule_is_pure(rule, run):
    before, params = list(run), rule.get_params()
    first = rule.candidate(run), rule.is_settled(run)
    assert (rule.candidate(run), rule.is_settled(run)) == first
    assert run == before
    assert rule.get_params() == params
    assert vars(rule).keys() <= params.keys()


@by_name
def test_rule_can_be_cloned_and_pickled(rule):
    assert repr(clone(rule)) == repr(rule)
    assert repr(pickle.loads(pickle.dumps(rule))) == repr(rule)


@by_name
def test_settings_out_of_range_are_refused_by_name(rule):
    for name in rule.get_params():
        with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of "):
            clone(rule).set_params(**{name: -1})._validate_params()


@pytest.mark.parametrize("rate", [1.0, 1.5, -0.1, "0.4"])
def test_noise_rate_must_lie_in_zero_to_one(rate):
    with pytest.raises(ValueError, match=r"noise_rate.*range \[0.0, 1.0\)"):
        NoiseRateStop(rate)._validate_params()


def test_abstract_rule_cannot_be_made():
    with pytest.raises(TypeError, match="abstract"):
        StopRule()

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    ShuffleSplit,
    StratifiedKFold,
)
from skorch.callbacks import Callback, EpochScoring

from skpresto import CrossPrestoppingClassifier
from skpresto._label_quality import blocks
from skpresto._label_quality.posterior import count_transitions
from skpresto._methods import _ensemble_fallback, _fold_networks, cross_prestopping
from skpresto._methods._final_networks import POWER_OF_PRODUCT, multiplied_by_ensemble
from skpresto._methods._fold_networks import train_fold_networks
from skpresto._networks.probe import takes_probabilities
from skpresto._networks.stack import networks_of
from skpresto._splits import assign_folds
from skpresto.exceptions import FallbackWarning
from skpresto.stopping import AgreementStop, NoiseRateStop, ValidationStop
from tests.discovery import StopAfter, quick, short_fits_warn

pytestmark = short_fits_warn

RULE = NoiseRateStop(0.35)


class OnlyClassNumbers(torch.nn.CrossEntropyLoss):
    """A criterion that takes no probabilities as targets."""

    def forward(self, logits, targets):
        assert not targets.is_floating_point()
        return super().forward(logits, targets)


@pytest.fixture
def fitted(noisy_blobs):
    """Return a function that fits the classifier on noisy blobs."""
    X, y, _ = noisy_blobs

    def fit(**params):
        settings = {"max_epochs": 25, "batch_size": 32, "module__hidden": (32,), "q": 4}
        clf = CrossPrestoppingClassifier(
            **{**settings, "cv": 3, "stop": RULE, **params}
        )
        return clf.set_params(random_state=0).fit(X, y)

    return fit


@pytest.fixture
def random_labels(noisy_blobs):
    """Labels of ten classes that are independent of the samples."""
    X, _, _ = noisy_blobs
    return X, np.random.RandomState(0).permutation(np.arange(len(X)) % 10)


def test_corrected_labels_are_mostly_right(fitted, noisy_blobs):
    _, y, y_true = noisy_blobs
    clf = fitted(cv=5, stop=None, max_epochs=60)
    assert np.array_equal(clf.corrected_mask_, clf.corrected_labels_ != y)
    assert clf.corrected_mask_.mean() > 0.1
    assert (clf.corrected_labels_ == y_true)[clf.corrected_mask_].mean() > 0.8
    assert (clf.corrected_labels_ == y_true).mean() > (y == y_true).mean() + 0.1
    assert clf.history_[-1].corrected_fraction > 0
    assert clf.history_[0].corrected_fraction == 0


def test_safe_labels_are_never_corrected(fitted):
    clf = fitted()
    assert not clf.corrected_mask_[clf.safe_mask_].any()
    assert clf.used_fallback_ is False


def stages_of(clf):
    return [(record.stage, record.epoch) for record in clf.history_]


def test_fold_networks_are_trained_for_a_fraction_of_the_epochs(fitted):
    clf = fitted(stop=None)
    assert clf.stop_rule_ is None
    assert clf.stop_epoch_ == 3
    assert stages_of(clf) == [
        *(("cross-fit phase 1", epoch) for epoch in range(1, 4)),
        *(("cross-fit phase 2", epoch) for epoch in range(4, 16)),
        *(("final", epoch) for epoch in range(1, 26)),
    ]


def test_fold_networks_repeat_phase_one_up_to_the_stop_point(fitted):
    clf = fitted(stop=StopAfter(4), fold_epochs=9)
    assert stages_of(clf) == [
        *(("search", epoch) for epoch in range(1, 5)),
        *(("cross-fit phase 1", epoch) for epoch in range(1, 5)),
        *(("cross-fit phase 2", epoch) for epoch in range(5, 10)),
        *(("final", epoch) for epoch in range(1, 26)),
    ]


@pytest.mark.parametrize(("fold_epochs", "n"), [(0.5, 4), (1.0, 8), (1, 1), (12, 12)])
def test_the_built_in_schedule_has_the_length_of_the_training(
    noisy_blobs, fold_epochs, n
):
    clf = quick(CrossPrestoppingClassifier, max_epochs=8, fold_epochs=fold_epochs)
    clf.fit(*noisy_blobs[:2])
    rates = {"cross-fit": [], "final": []}
    for record in clf.history_:
        rates.setdefault(record.stage.partition(" ")[0], []).append(
            record.learning_rate
        )
    for stage, n_epochs in {"cross-fit": n, "final": 8}.items():
        if rates[stage]:
            drops = [math.ceil(n_epochs / 2), math.ceil(n_epochs * 3 / 4)]
            expected = [
                0.1 * 0.2 ** sum(e >= d for d in drops) for e in range(n_epochs)
            ]
            assert rates[stage] == pytest.approx(expected[: len(rates[stage])])
    assert len(rates["cross-fit"]) in (n, math.ceil(n / 2))


def test_safe_is_what_has_a_posterior_probability_of_at_least_one_half(
    fitted, noisy_blobs
):
    _, y, y_true = noisy_blobs
    clf = fitted()
    assert np.array_equal(clf.safe_mask_, clf.label_quality_ >= 0.5)
    assert (clf.suggested_labels_ == y)[clf.label_quality_ > 0.5].all()
    assert (y == y_true)[clf.safe_mask_].mean() > 0.9
    assert clf.noise_rate_ == pytest.approx(1 - clf.safe_mask_.mean())
    assert (y == y_true)[clf.label_agreement_ > 0.5].mean() > 0.9


def test_the_transition_matrix_shows_where_labels_went(fitted):
    """A third of each class carries the label of the next one."""
    matrix = fitted().transition_matrix_
    assert matrix.sum(axis=1) == pytest.approx(np.ones(4))
    for c in range(4):
        assert 0.5 < matrix[c, c] < 0.85
        assert 0.15 < matrix[c, (c + 1) % 4] < 0.5


def test_fold_networks_that_reject_most_labels_lead_to_an_ensemble_vote(random_labels):
    X, y = random_labels
    clf = quick(CrossPrestoppingClassifier, stop=StopAfter(4), cv=2)
    with pytest.warns(FallbackWarning, match="fewer than half.*ensemble of 3 networks"):
        clf.fit(X, y)
    assert clf.used_fallback_ is True
    stages = [record.stage for record in clf.history_]
    # Phase 1 of the fold networks is extended to half of their 8 epochs.
    assert stages == (
        ["search"] * 4
        + ["cross-fit phase 1"] * 4
        + ["fallback phase 1"] * 4
        + ["fallback phase 2"] * 8
    )
    voted = clf.history_[-1]
    assert clf.safe_mask_.mean() == pytest.approx(voted.memorized_fraction)
    assert not clf.corrected_mask_.any()
    assert np.array_equal(clf.corrected_labels_, y)
    assert (clf.suggested_labels_ == y)[clf.safe_mask_].all()
    assert len(clf.net_.module_.networks) == 3
    assert clf.stop_epoch_ == 4
    assert not hasattr(clf, "transition_matrix_")


def test_after_a_fallback_labels_are_ranked_by_fold_networks_and_ensemble(
    random_labels, monkeypatch
):
    X, y = random_labels
    weights = np.arange(len(y)) % 5 > 0
    found = []
    join = _ensemble_fallback._ranked_by_both

    def spy(findings, posterior):
        found.extend([findings.quality, posterior.label_quality().numpy()])
        return join(findings, posterior)

    monkeypatch.setattr(_ensemble_fallback, "_ranked_by_both", spy)
    clf = quick(CrossPrestoppingClassifier, stop=StopAfter(4), cv=2)
    clf.fit(X, y, sample_weight=weights)
    findings = clf.label_findings_
    assert findings.basis == "out of fold"
    ensemble, folds = found
    both = [(a + b) / 2 for a, b in zip(ensemble, folds, strict=True)]
    assert clf.label_quality_[weights] == pytest.approx(np.array(both)[weights])
    # Rows of weight 0 have no fold.
    assert np.array_equal(clf.label_quality_[~weights], ensemble[~weights])
    assert findings.planted.auc < 0.8
    assert (findings.likeliest.besides(y) != y).all()


def test_after_a_fallback_one_copy_of_an_instance_is_trained(random_labels):
    torch.manual_seed(0)
    module = torch.nn.Linear(2, 10)
    clf = CrossPrestoppingClassifier(module, cv=2, stop=StopAfter(4), max_epochs=12)
    clf.set_params(random_state=0).fit(*random_labels)
    assert isinstance(clf.net_.module_, torch.nn.Linear)
    assert not clf.corrected_mask_.any()


def test_the_ensemble_of_a_fallback_has_a_stop_rule(random_labels):
    early = AgreementStop(margin=0, window=3)
    late = AgreementStop(min_memorized_fraction=0.5)
    clf = quick(CrossPrestoppingClassifier)
    clf.fit(*random_labels)
    assert clf.used_fallback_
    assert clf.stop_rule_.get_params() == late.get_params()
    clf.set_params(stop=early).fit(*random_labels)  # as given by the user
    assert clf.stop_rule_.get_params() == early.get_params()
    X, y = random_labels
    clf.set_params(stop=None).fit(X, y, X_val=X, y_val=y)
    assert isinstance(clf.stop_rule_, ValidationStop)


def test_a_refit_without_a_fallback_forgets_the_fallback(noisy_blobs, random_labels):
    clf = quick(CrossPrestoppingClassifier, stop=StopAfter(4)).fit(*random_labels)
    assert clf.used_fallback_
    clf.fit(*noisy_blobs[:2])
    assert not clf.used_fallback_
    assert clf.transition_matrix_.shape == (4, 4)
    clf.fit(*random_labels)
    assert not hasattr(clf, "transition_matrix_")


def log_probabilities(network, X):
    with torch.no_grad():
        logits = network.eval()(torch.from_numpy(X).float())
    return torch.log_softmax(logits, dim=1).numpy()


@pytest.mark.parametrize("weight", [0.2, 0.7])
def test_all_networks_predict_as_an_ensemble(fitted, noisy_blobs, weight):
    X, _, _ = noisy_blobs
    clf = fitted(fold_weight=weight)
    module = clf.net_.module_
    folds, final = (
        [log_probabilities(network, X) for network in networks]
        for networks in (module.folds, module.final.networks)
    )
    assert (len(folds), len(final)) == (3, 2)
    assert len({p.tobytes() for p in folds + final}) == 5
    means = [np.mean(networks, axis=0) for networks in (folds, final)]
    together = np.exp(weight * means[0] + (1 - weight) * means[1])
    expected = together / together.sum(axis=1, keepdims=True)
    assert np.allclose(clf.predict_proba(X), expected, atol=1e-5)


@pytest.mark.parametrize(("n_networks", "length"), [(1, 0.5), (3, 4)])
def test_number_and_length_of_the_final_networks(fitted, n_networks, length):
    clf = fitted(stop=None, n_final_networks=n_networks, final_epochs=length)
    assert len(networks_of(clf.net_.module_)) == n_networks
    rates = [r.learning_rate for r in clf.history_ if r.stage == "final"]
    n_epochs = length if length > 1 else 13
    assert len(rates) == n_epochs
    drops = [math.ceil(n_epochs / 2), math.ceil(n_epochs * 3 / 4)]
    expected = [0.1 * 0.2 ** sum(e >= d for d in drops) for e in range(n_epochs)]
    assert rates == pytest.approx(expected)


def test_fold_networks_without_weight_are_not_kept(fitted, noisy_blobs):
    X, _, _ = noisy_blobs
    clf, all_predict = (fitted(fold_weight=w, n_final_networks=1) for w in (0, 1e-9))
    assert not hasattr(clf.net_.module_, "folds")
    assert np.array_equal(clf.label_quality_, all_predict.label_quality_)
    assert clf.predict_proba(X) == pytest.approx(all_predict.predict_proba(X), abs=1e-5)


def test_a_fallback_has_no_more_networks_than_the_final_ones_pay_for(random_labels):
    clf = quick(CrossPrestoppingClassifier, stop=StopAfter(4), n_final_networks=1)
    with pytest.warns(FallbackWarning, match="so a network is trained as in Prest"):
        clf.fit(*random_labels)
    assert len(networks_of(clf.net_.module_)) == 1


def test_a_rule_that_never_settles_warns_and_labels_are_weighted_after_all(
    noisy_blobs,
):
    X, y, _ = noisy_blobs
    clf = quick(CrossPrestoppingClassifier, stop=NoiseRateStop(0.0))
    with pytest.warns(ConvergenceWarning, match="weighted from epoch 4 on, half of"):
        clf.fit(X, y)
    assert clf.stop_epoch_ == 4
    assert sum(r.stage == "cross-fit phase 2" for r in clf.history_) == 4


def test_samples_that_are_never_visited_are_assessed_as_new_ones(noisy_blobs):
    X, y, y_true = noisy_blobs
    sampler = torch.utils.data.SubsetRandomSampler(range(len(X) // 2))
    params = {"iterator_train__sampler": sampler, "max_epochs": 25, "q": 4}
    clf = quick(CrossPrestoppingClassifier, stop=StopAfter(5), **params).fit(X, y)
    unseen = slice(len(X) // 2, None)
    assert (clf.suggested_labels_ == y_true)[unseen].mean() > 0.8
    assert (y == y_true)[unseen][clf.safe_mask_[unseen]].mean() > 0.85


def test_a_splitter_decides_which_network_leaves_out_what(noisy_blobs):
    X, y, _ = noisy_blobs
    stop = StopAfter(4)
    by_splitter = quick(
        CrossPrestoppingClassifier, cv=StratifiedKFold(3), stop=stop
    ).fit(X, y)
    other = quick(CrossPrestoppingClassifier, cv=KFold(3), stop=stop).fit(X, y)
    assert len(by_splitter.net_.module_.folds) == 3
    assert not np.array_equal(by_splitter.predict_proba(X), other.predict_proba(X))


class WithGroups(GroupKFold):
    """A splitter that knows its groups."""

    def __init__(self, groups, n_splits=2):
        super().__init__(n_splits)
        self.groups = groups

    def split(self, X, y=None, groups=None):
        return super().split(X, y, self.groups)


def test_a_splitter_bound_to_groups_keeps_groups_together(noisy_blobs):
    X, y, _ = noisy_blobs
    groups = np.arange(len(X)) // 4
    fold_of = assign_folds(y, WithGroups(groups), np.random.RandomState(0))
    assert all(len(set(fold_of[groups == group])) == 1 for group in set(groups))
    clf = quick(CrossPrestoppingClassifier, cv=WithGroups(groups), stop=StopAfter(4))
    assert len(clf.fit(X, y).net_.module_.folds) == 2


def with_body():
    """Return a network, and the weights of its first layer."""
    torch.manual_seed(0)  # some initial weights lead to a fallback
    body = torch.nn.Linear(2, 8)
    module = torch.nn.Sequential(body, torch.nn.Tanh(), torch.nn.Linear(8, 4))
    return module, body.weight.detach().clone()


def test_all_networks_start_from_the_weights_of_an_instance(noisy_blobs):
    X, y, _ = noisy_blobs
    module, weight = with_body()
    module[0].requires_grad_(False)
    clf = CrossPrestoppingClassifier(module, cv=3, stop=StopAfter(4), max_epochs=12)
    networks = clf.set_params(random_state=0).fit(X, y).net_.module_
    each = [*networks.folds, networks.final]
    assert len(each) == 4  # one final network: two copies would stay equal
    assert all(torch.equal(network[0].weight, weight) for network in each)


def test_parameter_groups_hold_in_every_network(noisy_blobs):
    X, y, _ = noisy_blobs
    module, weight = with_body()
    still = {"optimizer__param_groups": [("0.*", {"lr": 0.0})], "callbacks": []}
    clf = CrossPrestoppingClassifier(module, cv=2, stop=StopAfter(4), max_epochs=12)
    networks = clf.set_params(random_state=0, **still).fit(X, y).net_.module_
    each = [*networks.folds, networks.final]
    assert all(torch.equal(network[0].weight, weight) for network in each)


def test_scores_on_training_batches_are_those_of_the_ensemble(noisy_blobs):
    X, y, _ = noisy_blobs
    score = EpochScoring("accuracy", on_train=True, name="heard", lower_is_better=False)
    clf = quick(CrossPrestoppingClassifier, stop=StopAfter(3), callbacks=[score])
    heard = clf.fit(X, y).net_.history[:, "heard"]
    assert len(heard) == len(clf.history_)
    assert 0.3 < heard[-1] <= 1


def test_the_only_sample_of_a_class_is_learned():
    rng = np.random.RandomState(0)
    X = np.concatenate([rng.randn(60, 2) + 6, rng.randn(60, 2) - 6, [[6.0, -6.0]]])
    y = np.array([0] * 60 + [1] * 60 + [2])
    settings = {"max_epochs": 40, "batch_size": 16, "stop": StopAfter(30)}
    clf = quick(CrossPrestoppingClassifier, **settings).fit(X, y)
    assert clf.safe_mask_[-1]
    assert clf.predict(X[-1:]) == [2]


def fold_networks(trainer, stop_epoch, max_epochs, epsilon=0.05):
    labels = trainer.data.labels.numpy()
    fold_of = assign_folds(labels, 2, np.random.RandomState(0))
    return train_fold_networks(
        trainer, fold_of, stop_epoch, max_epochs, epsilon, trainer.history.length
    )


def test_the_length_of_the_history_and_the_epsilon_given_are_used(
    make_trainer, monkeypatch
):
    lengths = []
    kind = _fold_networks.OutOfFoldProbabilities

    def spy(labels, n_classes, q):
        lengths.append(q)
        return kind(labels, n_classes, q)

    monkeypatch.setattr(_fold_networks, "OutOfFoldProbabilities", spy)
    trainer = make_trainer(q=7)
    posterior, _ = fold_networks(trainer, 1, 2, epsilon=0.125)
    assert (lengths, posterior.epsilon) == ([7], 0.125)
    how = {"confident_only": True, "shrunken": True}
    expected = count_transitions(posterior.probability, trainer.labels, **how)
    assert torch.equal(posterior.transition_matrix, expected)
    assert (posterior.probability.sum(dim=1) > 0).all()
    assert len(trainer.net.networks) == 2


def test_out_of_fold_probabilities_are_multiplied_by_those_of_the_ensemble(
    make_trainer, monkeypatch
):
    trainer = make_trainer()
    posterior, _ = fold_networks(trainer, 2, 6)
    before, matrix = posterior.probability.clone(), posterior.transition_matrix.clone()
    unknown = 5
    before[unknown] = posterior.probability[unknown] = 0
    monkeypatch.setattr(blocks, "_SAMPLES_AT_ONCE", 17)
    combined = replace(
        posterior,
        probability=multiplied_by_ensemble(trainer, posterior.probability),
        power=POWER_OF_PRODUCT,
    )
    X = trainer.data.X.source
    folds = [np.exp(log_probabilities(n, X)) for n in trainer.net.networks]
    product = before.numpy() * np.mean(folds, axis=0)
    joint = product * matrix.numpy().T[trainer.labels]
    known = np.arange(len(X)) != unknown
    expected = joint[known] / joint[known].sum(axis=1, keepdims=True)
    found = combined.posterior(torch.arange(len(X))).numpy()
    assert found[known] == pytest.approx(expected, abs=1e-4)
    assert not found[unknown].any()
    # The final networks learn what out-of-fold probabilities alone say.
    assert torch.equal(posterior.probability, before)
    assert posterior.power == 1


def test_labels_are_assessed_by_the_ensemble_as_well(noisy_blobs, monkeypatch):
    X, y, _ = noisy_blobs
    plain = quick(CrossPrestoppingClassifier).fit(X, y)
    monkeypatch.setattr(
        cross_prestopping, "multiplied_by_ensemble", lambda _, probability: probability
    )
    without = quick(CrossPrestoppingClassifier).fit(X, y)
    assert not np.array_equal(plain.label_quality_, without.label_quality_)
    assert np.array_equal(plain.predict_proba(X), without.predict_proba(X))
    assert np.array_equal(plain.transition_matrix_, without.transition_matrix_)
    findings = plain.label_findings_, without.label_findings_
    assert findings[0].disagreement == findings[1].disagreement


@pytest.mark.parametrize(
    ("are_enough_safe", "n_first", "n_second", "accurate"),
    [
        ([True, True, True], 2, 8, True),
        ([False, False, True, True, True], 4, 6, True),
        ([False, False, False, True, True], 5, 5, True),
        ([False] * 4, 5, 0, False),
        ([True, False], 2, 3, False),
        ([True, True, False], 2, 8, False),
    ],
    ids=[
        *("at once", "after a while", "at the last moment"),
        *("never", "not any more after half of the epochs", "not in the end"),
    ],
)
def test_phase_one_is_extended_until_enough_labels_are_accepted(
    make_trainer, monkeypatch, are_enough_safe, n_first, n_second, accurate
):
    trainer = make_trainer()
    answers = iter(are_enough_safe)
    monkeypatch.setattr(_fold_networks, "enough_are_safe", lambda *_: next(answers))
    _, is_accurate = fold_networks(trainer, 2, 10)
    assert [record.stage for record in trainer.records] == (
        ["cross-fit phase 1"] * n_first + ["cross-fit phase 2"] * n_second
    )
    assert is_accurate == accurate


@pytest.mark.parametrize(
    ("n_given", "n_safe", "is_enough"),
    [
        ([20, 20, 20], [10, 10, 10], True),
        ([20, 20, 20], [10, 10, 9], False),
        ([20, 20, 20], [19, 19, 2], True),
        ([20, 20, 20], [20, 20, 1], False),
        ([20, 20, 7], [20, 20, 0], True),
        ([20, 20, 0], [20, 20, 0], True),
    ],
    ids=["half", "less", "a tenth of a class", "less of it", "rare", "no label"],
)
def test_half_of_the_labels_and_a_tenth_of_each_common_class_are_enough(
    n_given, n_safe, is_enough
):
    labels = torch.arange(3).repeat_interleave(torch.tensor(n_given))
    numbers = zip(n_given, n_safe, strict=True)
    is_safe = [place < k for n, k in numbers for place in range(n)]
    unknown = [False] * 100
    found = SimpleNamespace(
        labels=torch.cat([labels, torch.zeros(100, dtype=torch.int64)]),
        probability=torch.zeros(len(labels) + 100, 3),
        assess_all=lambda: SimpleNamespace(is_safe=torch.tensor(is_safe + unknown)),
    )
    is_known = torch.tensor([True] * len(labels) + unknown)
    assert _fold_networks.enough_are_safe(found, is_known) == is_enough


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_criterion_is_asked_for_probabilities_in_the_precision_of_the_networks(dtype):
    logits = torch.zeros(2, 3, dtype=dtype)
    weight = torch.ones(3, dtype=dtype)
    weighted = torch.nn.CrossEntropyLoss(weight, reduction="none")
    assert takes_probabilities(weighted, logits)
    assert not takes_probabilities(OnlyClassNumbers(reduction="none"), logits)
    assert not takes_probabilities(torch.nn.NLLLoss(reduction="none"), logits)
    assert not takes_probabilities(torch.nn.CrossEntropyLoss(), logits)


@pytest.mark.parametrize("criterion", [torch.nn.CrossEntropyLoss, OnlyClassNumbers])
def test_final_networks_learn_with_a_criterion_for_class_numbers_only(
    noisy_blobs, criterion
):
    X, y, y_true = noisy_blobs
    clf = quick(CrossPrestoppingClassifier, criterion=criterion).fit(X, y)
    assert not clf.used_fallback_
    assert clf.score(X, y_true) > 0.9


class EmptyFolds:
    def split(self, X, y):
        yield np.arange(4), np.array([], dtype=int)
        yield np.arange(4), np.array([0])


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (GroupKFold(2), "CrossPrestoppingClassifier cannot split.*PredefinedSplit"),
        (EmptyFolds(), "CrossPrestoppingClassifier.*without empty test folds"),
        (ShuffleSplit(3, random_state=0), "test folds are disjoint"),
    ],
    ids=["groups", "empty", "overlapping"],
)
def test_a_splitter_that_cannot_be_used_is_rejected_before_training(
    cv, message, noisy_blobs
):
    X, y, _ = noisy_blobs
    clf = quick(CrossPrestoppingClassifier, cv=cv, callbacks=[RaiseInTraining()])
    with pytest.raises(ValueError, match=message):
        clf.fit(X, y)


class RaiseInTraining(Callback):
    def on_epoch_begin(self, net, **kwargs):
        raise AssertionError

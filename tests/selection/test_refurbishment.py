"""SELFIE and Prestopping+, and the correction of labels that they share."""

import math
from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from skorch.callbacks import EpochScoring

from skpresto import (
    PrestoppingClassifier,
    PrestoppingPlusClassifier,
    SelfieClassifier,
)
from skpresto._selection.refurbishment import RefurbishAndSelect
from skpresto._selection.base import Batch
from skpresto._label_quality.prediction_history import PredictionHistory
from skpresto._engine.losses import sample_losses
from skpresto._selection.refurbishment import LearnSafeAndRefurbished, Refurbisher
from skpresto._engine.tally import mean_losses
from skpresto.stopping import AgreementStop, NoiseRateStop, ValidationStop
from tests.discovery import StopAfter, quick
from tests.naive import NaivePredictionHistory

N, K = 5, 3


def refurbisher_after(predictions, q, epsilon, n_classes):
    """Return what one sample with these predictions, oldest first, is corrected to."""
    history = PredictionHistory(1, n_classes, q)
    refurbisher = Refurbisher(history, 1, n_classes, epsilon)
    index = torch.tensor([0])
    losses = torch.zeros(1, 1)
    for predicted in predictions:
        history.record(index, torch.tensor([predicted]))
        batch = Batch(index, index, torch.zeros(1, 1, n_classes), losses, 0)
        corrected = refurbisher.labels_of_batch(batch).item()
    return corrected


def test_with_the_defaults_only_unanimous_histories_are_refurbished():
    # One dissenting vote of 15 among 10 classes: H = 0.245, 0.106 of log 10.
    assert refurbisher_after([4] * 15, q=15, epsilon=0.05, n_classes=10) == 4
    assert refurbisher_after([1] + [4] * 14, 15, 0.05, 10) == -1
    assert refurbisher_after([1] + [4] * 14, 15, 0.107, 10) == 4
    assert refurbisher_after([1] + [4] * 14, 15, 0.106, 10) == -1


def test_a_short_history_is_not_refurbished_however_unanimous():
    assert refurbisher_after([4] * 14, q=15, epsilon=0.05, n_classes=10) == -1


def test_a_corrected_label_stays_until_the_next_correction():
    assert refurbisher_after([2] * 3 + [1], q=3, epsilon=0.05, n_classes=3) == 2
    assert refurbisher_after([2] * 3 + [1] * 3, q=3, epsilon=0.05, n_classes=3) == 1


class NaiveRefurbisher:
    def __init__(self, q, epsilon):
        self.history = NaivePredictionHistory(N, q)
        self.epsilon = epsilon
        self.corrected = [-1] * N

    def update(self, i):
        entries = self.history.entries[i]
        shares = [n / len(entries) for n in Counter(entries).values()]
        uncertainty = -sum(p * math.log(p) for p in shares) / math.log(K)
        if len(entries) == self.history.length and uncertainty <= self.epsilon + 1e-6:
            self.corrected[i] = self.history.vote(i)
        return self.corrected[i]


visits = st.lists(
    st.tuples(
        st.lists(st.integers(0, N - 1), min_size=1, max_size=N, unique=True),
        st.lists(st.integers(0, K - 1), min_size=N, max_size=N),
        st.lists(st.sampled_from([0.1, 0.5, 2.0]), min_size=N, max_size=N),
    ),
    min_size=1,
    max_size=14,
)
labels_of = st.lists(st.integers(0, K - 1), min_size=N, max_size=N)
epsilons = st.sampled_from([0.0, 0.05, 0.6, 1.0])


def run_both(visits, labels, q, epsilon, policy_of, naive_of):
    """Compare a policy with its twin over a sequence of batches."""
    history = PredictionHistory(N, K, q)
    policy = policy_of(Refurbisher(history, N, K, epsilon))
    naive = NaiveRefurbisher(q, epsilon)
    labels = torch.tensor(labels)
    for epoch, (index, predicted, losses) in enumerate(visits):
        predicted, losses = predicted[: len(index)], losses[: len(index)]
        history.record(torch.tensor(index), torch.tensor(predicted))
        naive.history.record(index, predicted)
        logits = torch.zeros(1, len(index), K)
        batch = Batch(
            torch.tensor(index), labels[index], logits, torch.tensor([losses]), epoch
        )
        selection = policy.select(batch)
        expected = naive_of(naive, index, labels.tolist(), losses, epoch)
        if expected is None:
            assert selection.weights is None
            assert selection.targets is None
            continue
        weights, learnt = expected
        assert selection.weights.tolist() == [weights]
        found = batch.labels if selection.targets is None else selection.targets
        chosen = [i for i, weight in enumerate(weights) if weight]
        assert found[chosen].tolist() == [learnt[i] for i in chosen]


@given(visits, labels_of, st.integers(1, 4), epsilons, st.sampled_from([0.0, 0.3, 0.8]))
def test_selfie_equals_its_naive_twin(visits, labels, q, epsilon, rate):
    def naive(naive, index, labels, losses, epoch):
        if epoch < 2:
            return None
        corrected = [naive.update(i) for i in index]
        n_clean = math.ceil((1 - rate) * len(index) - 1e-9)
        clean = sorted(range(len(index)), key=lambda j: (losses[j], j))[:n_clean]
        weights = [float(j in clean or corrected[j] >= 0) for j in range(len(index))]
        learnt = [
            corrected[j] if corrected[j] >= 0 else labels[i]
            for j, i in enumerate(index)
        ]
        return weights, learnt

    run_both(
        visits, labels, q, epsilon, lambda r: RefurbishAndSelect(r, rate, 2), naive
    )


@given(
    visits,
    labels_of,
    st.integers(1, 4),
    epsilons,
    st.lists(st.booleans(), min_size=N, max_size=N),
)
def test_prestopping_plus_equals_its_naive_twin(visits, labels, q, epsilon, safe):
    def naive(naive, index, labels, losses, epoch):
        if epoch < 2:
            return [float(safe[i]) for i in index], [labels[i] for i in index]
        corrected = [naive.update(i) for i in index]
        weights = [float(safe[i] or corrected[j] >= 0) for j, i in enumerate(index)]
        learnt = [
            labels[i] if safe[i] or corrected[j] < 0 else corrected[j]
            for j, i in enumerate(index)
        ]
        return weights, learnt

    def policy(refurbisher):
        return LearnSafeAndRefurbished(refurbisher, torch.tensor(safe), 2)

    run_both(visits, labels, q, epsilon, policy, naive)


def test_the_loss_is_the_mean_over_safe_and_refurbished_samples():
    """Eq. 5 with the denominator that was meant, by hand."""
    logits = torch.tensor([[2.0, 0, 0, 0], [0, 1.0, 0, 0], [0, 0, 3.0, 0]])
    criterion = torch.nn.CrossEntropyLoss(reduction="none")
    losses = sample_losses(criterion, logits, torch.tensor([0, 0, 2]))
    weights = torch.tensor([[[1.0, 0.0, 1.0]]])
    means, n_selected = mean_losses(losses.view(1, 1, 3), weights)
    by_hand = (math.log(math.exp(2) + 3) - 2 + math.log(math.exp(3) + 3) - 3) / 2
    assert means.item() == pytest.approx(by_hand, rel=1e-6)
    assert n_selected.item() == 2


@pytest.fixture
def fitted(noisy_blobs):
    """Return a function that fits a correcting classifier on noisy blobs."""
    X, y, _ = noisy_blobs

    def fit(Classifier, **params):
        settings = {"max_epochs": 25, "batch_size": 32, "module__hidden": (32,), "q": 4}
        clf = Classifier(**{**settings, "random_state": 0, **params})
        return clf.fit(X, y)

    return fit


RULE = NoiseRateStop(0.35)


@pytest.mark.parametrize(
    ("Classifier", "params"),
    [
        (SelfieClassifier, {"noise_rate": 0.3, "restarts": 0}),
        (SelfieClassifier, {"noise_rate": 0.3, "restarts": 1}),
        (PrestoppingPlusClassifier, {"stop": RULE}),
        (PrestoppingPlusClassifier, {"stop": RULE, "folds": None}),
    ],
)
def test_corrected_labels_are_mostly_right(fitted, noisy_blobs, Classifier, params):
    _, y, y_true = noisy_blobs
    clf = fitted(Classifier, **params)
    assert np.array_equal(clf.corrected_mask_, clf.corrected_labels_ != y)
    assert clf.corrected_mask_.mean() > 0.1
    assert (clf.corrected_labels_ == y_true)[clf.corrected_mask_].mean() > 0.8
    assert (clf.corrected_labels_ == y_true).mean() > (y == y_true).mean() + 0.1
    assert clf.history_[-1].corrected_fraction > 0
    assert clf.history_[0].corrected_fraction in (0, None)


@pytest.mark.parametrize("folds", [3, None])
def test_safe_samples_are_never_relabelled(fitted, folds):
    clf = fitted(PrestoppingPlusClassifier, stop=RULE, folds=folds)
    assert not clf.corrected_mask_[clf.safe_mask_].any()
    assert {record.phase for record in clf.history_} == {1, 2, 3}


def test_networks_side_by_side_repeat_phase_one_up_to_the_stop_point(fitted):
    clf = fitted(PrestoppingPlusClassifier, stop=StopAfter(4), folds=3)
    phases = [(record.phase, record.epoch) for record in clf.history_]
    up_to_stop = [(1, epoch) for epoch in range(1, 5)]
    beyond = [(2, epoch) for epoch in range(5, 26)]
    fresh = [(3, epoch) for epoch in range(1, 26)]
    assert phases == up_to_stop + up_to_stop + beyond + fresh


def test_as_published_the_safe_set_is_that_of_prestopping(fitted):
    first = fitted(PrestoppingClassifier, stop=RULE)
    plus = fitted(PrestoppingPlusClassifier, stop=RULE, folds=None)
    assert np.array_equal(plus.safe_mask_, first.safe_mask_)
    assert not hasattr(plus.net_.module_, "partners")


def test_safe_is_what_is_more_likely_right_than_wrong(fitted, noisy_blobs):
    _, y, y_true = noisy_blobs
    clf = fitted(PrestoppingPlusClassifier, stop=RULE)
    assert np.array_equal(clf.safe_mask_, clf.label_agreement_ >= 0.5)
    assert (clf.suggested_labels_ == y)[clf.safe_mask_].all()
    assert (y == y_true)[clf.safe_mask_].mean() > 0.9
    assert clf.noise_rate_ == pytest.approx(1 - clf.safe_mask_.mean())


@pytest.mark.filterwarnings("ignore::skpresto.exceptions.SafeSetWarning")
def test_judges_that_find_most_labels_wrong_leave_it_to_the_vote(noisy_blobs):
    """Labels that have nothing to do with the samples, of ten classes."""
    X, _, _ = noisy_blobs
    y = np.random.RandomState(0).permutation(np.arange(len(X)) % 10)
    clf = quick(PrestoppingPlusClassifier, stop=StopAfter(4), folds=2).fit(X, y)
    phases = [record.phase for record in clf.history_]
    # The stop point is found, judges go on to half of the epochs, and others vote.
    assert phases == [1] * 4 + [1] * 6 + [1] * 4 + [2] * 8
    voted = clf.history_[-1]
    assert clf.safe_mask_.mean() == pytest.approx(voted.memorized_fraction)
    assert not clf.corrected_mask_.any()
    assert np.array_equal(clf.corrected_labels_, y)
    assert (clf.suggested_labels_ == y)[clf.safe_mask_].all()
    assert len(clf.net_.module_.networks) == 2
    assert clf.stop_epoch_ == 4


@pytest.mark.filterwarnings("ignore::skpresto.exceptions.SafeSetWarning")
def test_of_an_instance_one_network_votes(noisy_blobs):
    X, _, _ = noisy_blobs
    y = np.random.RandomState(0).permutation(np.arange(len(X)) % 10)
    torch.manual_seed(0)
    module = torch.nn.Linear(2, 10)
    clf = PrestoppingPlusClassifier(module, folds=2, stop=StopAfter(4), max_epochs=12)
    clf.set_params(random_state=0).fit(X, y)
    assert isinstance(clf.net_.module_, torch.nn.Linear)
    assert not clf.corrected_mask_.any()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_judges_begin_earlier_than_those_who_vote(noisy_blobs):
    X, y, _ = noisy_blobs
    early, late = AgreementStop(margin=0, window=3), AgreementStop(least=0.5)
    clf = quick(PrestoppingPlusClassifier, folds=2)
    assert clf.fit(X, y).stop_rule_.get_params() == early.get_params()
    by_chance = np.random.RandomState(0).permutation(np.arange(len(X)) % 10)
    assert clf.fit(X, by_chance).stop_rule_.get_params() == late.get_params()
    clf.set_params(stop=early).fit(X, by_chance)  # as the user wants it
    assert clf.stop_rule_.get_params() == early.get_params()
    clf.set_params(stop=None).fit(X, by_chance, X_val=X, y_val=by_chance)
    assert isinstance(clf.stop_rule_, ValidationStop)


def probabilities(network, X):
    with torch.no_grad():
        logits = network.eval()(torch.from_numpy(X).float())
    return torch.softmax(logits, dim=1).numpy()


def test_prestopping_plus_predicts_with_all_its_networks(fitted, noisy_blobs):
    X, _, _ = noisy_blobs
    clf = fitted(PrestoppingPlusClassifier, stop=RULE, folds=3)
    module = clf.net_.module_
    judges, fresh = (
        [np.log(probabilities(network, X)) for network in networks]
        for networks in (module.partners, module.learner.networks)
    )
    assert (len(judges), len(fresh)) == (3, 2)
    assert len({p.tobytes() for p in judges + fresh}) == 5
    # Half of the weight on either side, whatever the number of networks.
    together = np.exp((np.mean(judges, axis=0) + np.mean(fresh, axis=0)) / 2)
    expected = together / together.sum(axis=1, keepdims=True)
    assert np.allclose(clf.predict_proba(X), expected, atol=1e-5)


def test_a_rule_that_never_settles_is_said_to_leave_the_judging_to_the_end(noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(PrestoppingPlusClassifier, stop=NoiseRateStop(0.0))
    with pytest.warns(ConvergenceWarning, match="judged only after networks have"):
        clf.fit(X, y)
    assert clf.stop_epoch_ == 12


def test_samples_that_no_epoch_visits_are_judged_as_new_ones(noisy_blobs):
    X, y, y_true = noisy_blobs
    sampler = torch.utils.data.SubsetRandomSampler(range(len(X) // 2))
    params = {"iterator_train__sampler": sampler, "max_epochs": 25, "q": 4}
    clf = quick(PrestoppingPlusClassifier, stop=StopAfter(5), **params).fit(X, y)
    unvisited = slice(len(X) // 2, None)
    assert (clf.suggested_labels_ == y_true)[unvisited].mean() > 0.8
    assert (y == y_true)[unvisited][clf.safe_mask_[unvisited]].mean() > 0.85


def test_restarts_are_runs_of_their_own(fitted):
    clf = fitted(SelfieClassifier, noise_rate=0.3, restarts=2, max_epochs=8)
    assert [r.phase for r in clf.history_] == [1] * 8 + [2] * 8 + [3] * 8
    assert [r.epoch for r in clf.history_] == list(range(1, 9)) * 3
    assert clf.n_epochs_ == 8


def test_corrected_labels_survive_a_restart(fitted):
    once = fitted(SelfieClassifier, noise_rate=0.3, restarts=0)
    twice = fitted(SelfieClassifier, noise_rate=0.3, restarts=1)
    first_corrected = twice.history_[25 + 7].corrected_fraction
    assert first_corrected > 0  # before any history of the second run is full
    assert once.corrected_mask_.sum() > 0


@pytest.mark.parametrize(
    ("Classifier", "params"),
    [
        (SelfieClassifier, {"restarts": -1}),
        (PrestoppingPlusClassifier, {"folds": 1}),
        (PrestoppingPlusClassifier, {"folds": 2.5}),
        (PrestoppingPlusClassifier, {"folds": "all"}),
    ],
    ids=str,
)
def test_number_of_networks_out_of_range(noisy_blobs, Classifier, params):
    X, y, _ = noisy_blobs
    with pytest.raises(ValueError, match=f"'{next(iter(params))}' parameter"):
        quick(Classifier, **params).fit(X, y)


@pytest.mark.parametrize("Classifier", [SelfieClassifier, PrestoppingPlusClassifier])
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"epsilon": 1.5}, "'epsilon' parameter"),
        ({"epsilon": -0.1}, "'epsilon' parameter"),
        ({"warm_up": -1}, "'warm_up' parameter"),
        ({"warm_up": 1.5}, "'warm_up' parameter"),
        ({"warm_up": 12}, "would warm up for 12 of max_epochs=12 epochs"),
        ({"warm_up": 0.99}, "would warm up for 12 of max_epochs=12 epochs"),
    ],
    ids=str,
)
def test_parameters_out_of_range(noisy_blobs, Classifier, params, message):
    X, y, _ = noisy_blobs
    if Classifier is PrestoppingPlusClassifier:
        params = {"folds": None, **params}
    with pytest.raises(ValueError, match=message):
        quick(Classifier, **params).fit(X, y)


def test_warm_up_is_not_asked_about_where_there_is_none(noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(PrestoppingPlusClassifier, stop=StopAfter(3), warm_up=50)
    assert clf.fit(X, y).stop_epoch_ == 3


def with_body():
    """Return a network, and the weights of its first layer."""
    torch.manual_seed(0)  # some bodies are too weak to judge labels by
    body = torch.nn.Linear(2, 8)
    module = torch.nn.Sequential(body, torch.nn.Tanh(), torch.nn.Linear(8, 4))
    return module, body.weight.detach().clone()


@pytest.mark.filterwarnings("ignore::skpresto.exceptions.SafeSetWarning")
def test_all_networks_start_from_the_weights_of_an_instance(noisy_blobs):
    X, y, _ = noisy_blobs
    module, weight = with_body()
    module[0].requires_grad_(False)
    clf = PrestoppingPlusClassifier(module, folds=3, stop=StopAfter(4), max_epochs=12)
    networks = clf.set_params(random_state=0).fit(X, y).net_.module_
    each = [*networks.partners, networks.learner]
    assert len(each) == 4  # one fresh one: two that start alike would stay alike
    assert all(torch.equal(network[0].weight, weight) for network in each)


@pytest.mark.filterwarnings("ignore::skpresto.exceptions.SafeSetWarning")
def test_parameter_groups_hold_in_every_network(noisy_blobs):
    X, y, _ = noisy_blobs
    module, weight = with_body()
    still = {"optimizer__param_groups": [("0.*", {"lr": 0.0})], "callbacks": []}
    clf = PrestoppingPlusClassifier(module, folds=2, stop=StopAfter(4), max_epochs=12)
    networks = clf.set_params(random_state=0, **still).fit(X, y).net_.module_
    each = [*networks.partners, networks.learner]
    assert all(torch.equal(network[0].weight, weight) for network in each)


def test_scores_of_the_training_hear_what_the_networks_say_together(noisy_blobs):
    X, y, _ = noisy_blobs
    score = EpochScoring("accuracy", on_train=True, name="heard", lower_is_better=False)
    clf = quick(PrestoppingPlusClassifier, stop=StopAfter(3), callbacks=[score])
    heard = clf.fit(X, y).net_.history[:, "heard"]
    assert 0.3 < heard[-1] <= 1


def test_the_only_sample_of_a_class_is_learnt():
    rng = np.random.RandomState(0)
    X = np.concatenate([rng.randn(60, 2) + 6, rng.randn(60, 2) - 6, [[6.0, -6.0]]])
    y = np.array([0] * 60 + [1] * 60 + [2])
    settings = {"max_epochs": 40, "batch_size": 16, "stop": StopAfter(30)}
    clf = quick(PrestoppingPlusClassifier, **settings).fit(X, y)
    assert clf.safe_mask_[-1]
    assert clf.predict(X[-1:]) == [2]


def test_history_too_long_to_fill_corrects_nothing_and_says_so(noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(SelfieClassifier, q=50)
    with pytest.warns(UserWarning, match="q=50 predictions.*max_epochs=12.*no label"):
        clf.fit(X, y)
    assert not clf.corrected_mask_.any()


def test_grid_search_over_the_parameters(noisy_blobs):
    X, y, _ = noisy_blobs
    grid = {"epsilon": [0.05, 0.3], "warm_up": [1, 0.5], "restarts": [0, 1]}
    search = GridSearchCV(quick(SelfieClassifier, max_epochs=4, q=2), grid, cv=2)
    assert len(search.fit(X, y).cv_results_["params"]) == 8

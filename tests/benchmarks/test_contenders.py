import copy
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest
import torch
from sklearn.ensemble import HistGradientBoostingClassifier

from skpresto import CoTeachingClassifier, DefaultClassifier
from skpresto._data.batch import Batch

needs_cleanlab = pytest.mark.skipif(not find_spec("cleanlab"), reason="needs cleanlab")


@pytest.fixture
def setting(accuracy):
    return accuracy.cells.Setting("digits", epochs=2, rows=200, test_rows=60)


@pytest.fixture
def cell(accuracy):
    return accuracy.cells.Cell("Default", "digits", "pair", 0.4, seed=1)


@pytest.fixture
def split(accuracy, cell, setting):
    accuracy.data._rows_of.cache_clear()
    yield accuracy.data.split_of(cell, setting)
    accuracy.data._rows_of.cache_clear()


def build(accuracy, cell, setting, method):
    cell = replace(cell, method=method)
    return accuracy.classifiers.classifier_of(cell, setting, 0.4, callbacks=[])


def test_every_classifier_of_the_package_is_compared(accuracy):
    used = {m.classifier for m in accuracy.contenders.METHODS.values()}
    from tests.discovery import METHODS

    assert {f"skpresto:{method.__name__}" for method in METHODS} <= used


def test_members_of_an_ensemble_are_independent_fits(accuracy, cell, setting, split):
    ensemble = build(accuracy, cell, setting, "seven Default").fit(split.X, split.y)
    seeds = [member.random_state for member in ensemble.members_]
    assert len(set(seeds)) == 7
    probabilities, qualities, accepted = [], [], []
    for seed in seeds:
        alone = build(accuracy, cell, setting, "Default").set_params(random_state=seed)
        alone.fit(split.X, split.y)
        probabilities.append(alone.predict_proba(split.X_test))
        qualities.append(alone.label_quality_)
        accepted.append(alone.safe_mask_)
    mean = sum(probabilities) / 7
    np.testing.assert_allclose(ensemble.predict_proba(split.X_test), mean, rtol=1e-5)
    np.testing.assert_allclose(ensemble.label_quality_, sum(qualities) / 7)
    votes = np.sum(accepted, axis=0)
    np.testing.assert_array_equal(ensemble.safe_mask_, votes >= 4)
    right = ensemble.members_[0].classes_[mean.argmax(axis=1)] == split.y_test
    assert ensemble.score(split.X_test, split.y_test) == right.mean()


def test_the_noise_rate_is_estimated_once(accuracy, cell, setting, split):
    name = "three Co-teaching, estimated rate"
    ensemble = build(accuracy, cell, setting, name).fit(split.X, split.y)
    rates = [member.noise_rate for member in ensemble.members_]
    estimated = ensemble.members_[0].noise_rate_
    assert rates == [None, estimated, estimated]


def test_given_rates_and_losses(accuracy, cell, setting):
    given = build(accuracy, cell, setting, "Co-teaching")
    estimated = build(accuracy, cell, setting, "Co-teaching, estimated rate")
    assert type(given) is type(estimated) is CoTeachingClassifier
    assert (given.noise_rate, estimated.noise_rate) == (0.4, None)
    methods = accuracy.contenders.METHODS
    assert methods["Co-teaching"].is_given == "noise rate"
    assert methods["Learning to reweight"].is_given == "clean rows"
    assert methods["CrossPrestopping"].is_given == ""


def test_a_loss_is_the_criterion_of_default(accuracy, cell, setting, monkeypatch):
    methods = accuracy.contenders.METHODS
    loss = methods["GCE"]._replace(criterion="torch.nn:MultiMarginLoss")
    monkeypatch.setitem(methods, "GCE", loss)
    classifier = build(accuracy, cell, setting, "GCE")
    assert type(classifier) is DefaultClassifier
    assert classifier.criterion is torch.nn.MultiMarginLoss


@needs_cleanlab
@pytest.mark.filterwarnings("ignore:When X and pred_probs are both provided")
def test_cleaning_equals_cleanlabs_own(accuracy, cell, setting, split):
    from cleanlab.classification import CleanLearning

    cleaning = build(accuracy, cell, setting, "CleanLearning").fit(split.X, split.y)
    own = CleanLearning(
        build(accuracy, cell, setting, "Default"),
        cv_n_folds=5,
        seed=cell.seed,
        find_label_issues_kwargs={"n_jobs": 1},
    ).fit(split.X, split.y)
    issues = own.get_label_issues()
    np.testing.assert_array_equal(cleaning.safe_mask_, ~issues["is_label_issue"])
    np.testing.assert_allclose(cleaning.label_quality_, issues["label_quality"])
    np.testing.assert_allclose(
        cleaning.classifier_.predict_proba(split.X_test),
        own.predict_proba(split.X_test),
        rtol=1e-4,
    )


@needs_cleanlab
def test_trees_and_their_cleaning(accuracy, cell, setting, monkeypatch):
    methods = accuracy.contenders.METHODS
    names = ["HistGradientBoosting", "CleanLearning of HistGradientBoosting"]
    results = []
    for name in names:
        few = {**methods[name].params, "max_iter": 3}
        monkeypatch.setitem(methods, name, methods[name]._replace(params=few))
        of_trees = replace(cell, method=name)
        results.append(accuracy.measure.measure(of_trees, setting))
    alone, cleaned = results
    assert alone["params"] == {"early_stopping": True, "max_iter": 3}
    inner = {"class": "HistGradientBoostingClassifier", **alone["params"]}
    assert cleaned["params"] == {"classifier": inner}
    assert alone["safe_recall"] is alone["auroc"] is alone["error_best_test"] is None
    assert cleaned["auroc"] is not None
    assert cleaned["safe_recall"] is not None


def test_scores_of_default_do_not_affect_its_training(accuracy, cell, setting, split):
    plain = build(accuracy, cell, setting, "Default")
    stopwatch = accuracy.stopwatch.Stopwatch()
    scored = accuracy.plain_scores.with_scores(plain, stopwatch).fit(split.X, split.y)
    plain.fit(split.X, split.y)
    first, second = (clf.net_.module_.state_dict() for clf in (plain, scored))
    assert all(torch.equal(first[name], second[name]) for name in first)
    np.testing.assert_array_equal(plain.label_quality_, scored.label_quality_)
    assert stopwatch.cpu_seconds > 0


def test_margins_by_hand(accuracy):
    labels = torch.tensor([0, 1, 0])
    stopwatch = accuracy.stopwatch.Stopwatch()
    margins = accuracy.plain_scores.Margins(labels, 3, stopwatch)
    visits = [
        ([0, 1], [[3.0, 1.0, 2.0], [0.0, 0.0, 1.0]]),
        ([1, 0], [[2.0, 5.0, 1.0], [0.0, 4.0, 0.0]]),
    ]
    for index, logits in visits:
        index, logits = torch.tensor(index), torch.tensor([logits])
        margins.record(Batch(index, labels[index], logits, None, epoch=0))
    scores = margins.scores()
    # The third sample is never visited.
    np.testing.assert_allclose(scores["aum"], [(1 - 4) / 2, (-1 + 3) / 2, 0])
    means = []
    for logits in ([[3, 1, 2], [0, 4, 0]], [[0, 0, 1], [2, 5, 1]]):
        powers = np.exp(logits)
        means.append((powers / powers.sum(axis=1, keepdims=True)).mean(axis=0))
    first = np.log(means[0][0]) - np.log(max(means[0][1:]))
    second = np.log(means[1][1]) - np.log(max(means[1][0], means[1][2]))
    np.testing.assert_allclose(scores["log_margin"][:2], [first, second], rtol=1e-5)


def test_changed_params_are_stored_as_json(accuracy, setting):
    changed = accuracy.changed_params.changed_params
    classifier = DefaultClassifier(
        torch.nn.Linear, lr=0.5, q=10, callbacks=[object()], optimizer__nesterov=True
    )
    expected = {"module": "Linear", "lr": 0.5, "optimizer__nesterov": True}
    assert changed(classifier) == expected
    several = accuracy.several_fits.SeveralFits(classifier, 3, seed=7)
    inner = {"class": "DefaultClassifier", **expected}
    assert changed(several) == {"classifier": inner, "n_members": 3}
    trees = HistGradientBoostingClassifier(monotonic_cst=[1, 0], random_state=0)
    assert changed(trees) == {"monotonic_cst": "[1, 0]"}


def test_copies_share_a_stopwatch(accuracy):
    stopwatch = accuracy.stopwatch.Stopwatch()
    with copy.deepcopy({"watch": stopwatch})["watch"]:
        sum(range(1000))
    assert stopwatch.seconds > 0
    assert stopwatch.cpu_seconds > 0

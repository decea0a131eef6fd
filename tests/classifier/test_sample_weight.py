"""What sample_weight does in fit, on every classifier and through meta-estimators."""

import warnings
from dataclasses import fields

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn import config_context
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, PredefinedSplit, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.utils.data import SequentialSampler

from skpresto import (
    ActiveBiasClassifier,
    CrossPrestoppingClassifier,
    DefaultClassifier,
    PrestoppingClassifier,
)
from skpresto._training.epoch import mean_losses
from skpresto._training.measure import weighted_fraction
from skpresto.noise import NoisyTargetClassifier, SymmetricNoise
from skpresto.stopping import NoiseRateStop
from tests.discovery import StopAfter, every, on_paths, quick, short_fits_warn

pytestmark = short_fits_warn


class Linear(nn.Sequential):
    """A network without BatchNorm, whose outputs do not depend on the batch."""

    def __init__(self, n_features, n_classes):
        super().__init__(nn.Linear(n_features, n_classes))


def few(noisy_blobs, n_samples=120):
    X, y, _ = noisy_blobs
    return X[:n_samples], y[:n_samples]


def comparable(records):
    skipped = {"seconds"}
    return [
        tuple(getattr(r, f.name) for f in fields(r) if f.name not in skipped)
        for r in records
    ]


@every
def test_a_fit_with_weights_of_zero_is_the_fit_without_these_rows(
    Classifier, noisy_blobs
):
    X, y = few(noisy_blobs, 200)
    has_weight = np.random.RandomState(1).uniform(size=200) < 0.7
    weighted = quick(Classifier, max_epochs=6).fit(X, y, has_weight.astype(float))
    removed = quick(Classifier, max_epochs=6).fit(X[has_weight], y[has_weight])
    np.testing.assert_array_equal(weighted.predict_proba(X), removed.predict_proba(X))
    assert comparable(weighted.history_) == comparable(removed.history_)
    # Labels of all rows are assessed, those of weight zero by predictions.
    assert weighted.label_quality_.shape == y.shape
    agrees = weighted.suggested_labels_[~has_weight] == weighted.predict(X[~has_weight])
    assert agrees.mean() > 0.6


@on_paths()
def test_equal_weights_change_no_bit(Classifier, noisy_blobs):
    X, y = few(noisy_blobs)
    clf = quick(Classifier, max_epochs=3)
    plain = clf.fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(
        clf.fit(X, y, np.full(len(y), 0.3)).predict_proba(X), plain
    )
    np.testing.assert_array_equal(clf.fit(X, y, 7).predict_proba(X), plain)


@on_paths()
def test_only_ratios_of_weights_matter(Classifier, noisy_blobs):
    X, y = few(noisy_blobs)
    weights = np.random.RandomState(0).uniform(0.1, 3, len(y))
    clf = quick(Classifier, max_epochs=3)
    first = clf.fit(X, y, weights).predict_proba(X)
    # Powers of two, so that nothing is rounded differently.
    for factor in (2.0**-600, 2.0**600):
        np.testing.assert_array_equal(
            clf.fit(X, y, weights * factor).predict_proba(X), first
        )


@every
def test_samples_of_more_weight_win_where_labels_contradict(Classifier):
    """Each row is there twice, with different labels."""
    rng = np.random.RandomState(0)
    half = rng.normal(size=(100, 2)).astype(np.float32)
    y = (half[:, 0] > 0).astype(int)
    X, labels = np.vstack([half, half]), np.concatenate([y, 1 - y])
    weights = np.repeat([1.0, 0.02], 100)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        params = {"max_epochs": 15, "random_state": 1}
        clf = quick(Classifier, **params).fit(X, labels, weights)
        opposite = quick(Classifier, **params).fit(X, labels, weights[::-1])
    assert clf.score(half, y) > 0.8
    assert opposite.score(half, 1 - y) > 0.8


@pytest.mark.parametrize(
    "clf",
    [
        DefaultClassifier(),
        ActiveBiasClassifier(),
        PrestoppingClassifier(stop=NoiseRateStop(0.3)),
    ],
    ids=["Default", "Active Bias", "Prestopping"],
)
def test_in_batches_of_all_rows_a_weight_of_k_is_a_row_repeated_k_times(
    clf, noisy_blobs
):
    X, y = few(noisy_blobs, 60)
    weights = np.random.RandomState(0).randint(0, 4, size=60)
    clf.set_params(module=Linear, max_epochs=8, batch_size=300, random_state=0)
    weighted = clf.fit(X, y, weights)
    proba, records = weighted.predict_proba(X), weighted.history_
    repeated = clf.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(proba, repeated.predict_proba(X), atol=1e-4)
    for record, twin in zip(records, repeated.history_, strict=True):
        assert record.train_loss == pytest.approx(twin.train_loss, rel=1e-4)
        assert record.train_error == pytest.approx(twin.train_error)
        assert record.memorized_fraction == pytest.approx(twin.memorized_fraction)
        assert record.changed_fraction == pytest.approx(twin.changed_fraction)


WEIGHTS = arrays(np.float32, (2, 3, 4), elements=st.sampled_from([0, 0.25, 1, 3]))
LOSSES = arrays(np.float32, (2, 3, 4), elements=st.integers(0, 64).map(lambda n: n / 8))


@given(losses=LOSSES, weights=WEIGHTS)
def test_mean_losses_are_those_of_a_loop(losses, weights):
    means, n_selected = mean_losses(torch.tensor(losses), torch.tensor(weights))
    for batch in range(2):
        mean, count = 0.0, 0
        for network in range(3):
            total = weighted = 0.0
            for w, loss in zip(
                weights[batch, network], losses[batch, network], strict=True
            ):
                total += w
                weighted += w * loss
                count += w > 0
            mean += weighted / total if total else 0.0
        assert means[batch].item() == pytest.approx(mean, rel=1e-5)
        assert n_selected[batch].item() == count


@given(mask=arrays(bool, 6), weights=arrays(np.float32, 6, elements=st.integers(1, 9)))
def test_weighted_fractions_are_those_of_a_loop(mask, weights):
    hits = sum(float(w) for w, is_true in zip(weights, mask, strict=True) if is_true)
    fraction = weighted_fraction(torch.tensor(mask), torch.tensor(weights))
    assert fraction == pytest.approx(hits / sum(weights.tolist()))
    assert weighted_fraction(torch.tensor(mask), None) == mask.mean()


def test_held_out_rows_count_by_weight_and_have_one(noisy_blobs):
    X, y = few(noisy_blobs, 200)
    weights = np.random.RandomState(0).choice([0.0, 0.1, 1.0], size=200)
    seen = []

    class Watch(StopAfter):
        holdout_fraction = 0.2

        def candidate(self, records):
            seen.append(records[-1])
            return super().candidate(records)

    clf = quick(PrestoppingClassifier, stop=Watch(2)).fit(X, y, weights)
    assert seen[0].n_holdout == round(0.2 * np.count_nonzero(weights))
    # Fractions of weights 0.1 and 1 are not fractions of whole numbers of rows.
    in_rows = seen[0].holdout_error * seen[0].n_holdout
    assert abs(in_rows - round(in_rows)) > 1e-6
    assert clf.safe_mask_.shape == (200,)


def test_a_sampler_cannot_leave_rows_of_weight_zero_out(noisy_blobs):
    X, y = few(noisy_blobs)
    sampler = SequentialSampler(range(len(y)))
    clf = quick(DefaultClassifier, iterator_train__sampler=sampler)
    with pytest.raises(ValueError, match="remove rows of weight 0, or leave the samp"):
        clf.fit(X, y, np.arange(len(y)) > 5)


def test_folds_of_a_splitter_are_used_with_weights_of_zero(noisy_blobs):
    X, y = few(noisy_blobs)
    cv = PredefinedSplit(np.arange(len(y)) % 2)
    clf = quick(CrossPrestoppingClassifier, cv=cv, max_epochs=4)
    clf.fit(X, y, np.arange(len(y)) % 5)
    assert clf.safe_mask_.shape == y.shape


class TestMetaEstimators:
    def test_voting_with_weights(self, blobs):
        X, y = few((*blobs, None))
        members = [
            ("network", quick(PrestoppingClassifier)),
            ("linear", LogisticRegression()),
        ]
        voting = VotingClassifier(members, voting="soft", weights=[2, 1])
        weights = np.random.RandomState(0).uniform(size=len(y))
        voting.fit(X, y, sample_weight=weights)
        alone = quick(PrestoppingClassifier).fit(X, y, weights)
        np.testing.assert_array_equal(
            voting.named_estimators_["network"].predict_proba(X),
            alone.predict_proba(X),
        )
        assert voting.score(X, y) > 0.8

    def test_bagging_and_pipelines(self, blobs):
        X, y = few((*blobs, None))
        weights = np.arange(len(y)) % 3 + 1.0
        bagging = BaggingClassifier(quick(DefaultClassifier), n_estimators=2)
        assert bagging.fit(X, y, sample_weight=weights).score(X, y) > 0.5
        pipeline = make_pipeline(StandardScaler(), quick(DefaultClassifier))
        pipeline.fit(X, y, defaultclassifier__sample_weight=weights)
        scaled = StandardScaler().fit_transform(X)
        alone = quick(DefaultClassifier).fit(scaled, y, weights)
        np.testing.assert_array_equal(
            pipeline.predict_proba(X), alone.predict_proba(scaled)
        )

    def test_grid_search_cuts_weights_as_it_cuts_rows(self, blobs):
        X, y = few((*blobs, None))
        weights = np.arange(len(y)) % 3 + 1.0
        grid = {"q": [3], "class_weight": [None, "balanced"]}
        search = GridSearchCV(quick(PrestoppingClassifier), grid, cv=2)
        search.fit(X, y, sample_weight=weights)
        assert search.best_score_ > 0.5

    def test_metadata_routing(self, blobs):
        X, y = few((*blobs, None))
        weights = np.arange(len(y)) % 3 * 1.0
        with config_context(enable_metadata_routing=True):
            clf = quick(DefaultClassifier).set_fit_request(sample_weight=True)
            scorer = get_scorer("accuracy").set_score_request(sample_weight=True)
            scaler = StandardScaler().set_fit_request(sample_weight=False)
            pipeline = make_pipeline(scaler, clf)
            params = {"sample_weight": weights}
            result = cross_validate(pipeline, X, y, params=params, cv=2, scoring=scorer)
            pipeline.fit(X, y, sample_weight=weights)
        assert result["test_score"].mean() > 0.5
        scaled = StandardScaler().fit_transform(X)
        alone = quick(DefaultClassifier).fit(scaled, y, weights)
        np.testing.assert_array_equal(
            pipeline.predict_proba(X), alone.predict_proba(scaled)
        )

    @pytest.mark.parametrize("is_routed", [False, True])
    def test_noisy_targets(self, blobs, is_routed):
        X, y = few((*blobs, None))
        weights = np.arange(len(y)) % 3 * 1.0
        noise = SymmetricNoise(0.2, random_state=0)
        inner = quick(DefaultClassifier)
        with config_context(enable_metadata_routing=is_routed):
            if is_routed:
                inner.set_fit_request(sample_weight=True)
            noisy = NoisyTargetClassifier(inner, noise)
            noisy.fit(X, y, sample_weight=weights)
        alone = quick(DefaultClassifier).fit(X, noise.fit_transform(y), weights)
        np.testing.assert_array_equal(noisy.predict_proba(X), alone.predict_proba(X))

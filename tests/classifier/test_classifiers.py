"""What every classifier promises, whatever its method."""

import copy
import io
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from skorch.callbacks import Callback, EpochScoring, LRScheduler
from torch import nn

from skpresto import (
    CrossPrestoppingClassifier,
    DefaultClassifier,
    PrestoppingClassifier,
)
from skpresto.modules import MLP
from skpresto.stopping import NoiseRateStop
from tests.discovery import (
    FEWER_RUNS,
    METHODS,
    every,
    on_paths,
    quick,
    short_fits_warn,
    with_two,
)

pytestmark = short_fits_warn
PER_SAMPLE = "safe_mask_", "label_quality_", "label_agreement_", "suggested_labels_"


def same_fit(first, second, X):
    """Return whether two fitted classifiers agree to the last bit."""
    return all(
        np.array_equal(getattr(first, name), getattr(second, name))
        for name in PER_SAMPLE
    ) and np.array_equal(first.predict_proba(X), second.predict_proba(X))


@on_paths()
def test_same_random_state_gives_the_same_bits(Classifier, noisy_blobs):
    X, y, _ = noisy_blobs
    first, second, other = (
        quick(Classifier, random_state=seed).fit(X, y) for seed in (1, 1, 2)
    )
    assert same_fit(first, second, X)
    assert not same_fit(first, other, X)


@on_paths()
def test_refitting_equals_a_fresh_fit(Classifier, noisy_blobs):
    X, y, y_true = noisy_blobs
    clf = quick(Classifier).fit(X[:200], y_true[:200]).fit(X, y)
    assert same_fit(clf, quick(Classifier).fit(X, y), X)


@on_paths("folds", "gradients", "rounds")
def test_random_states_and_threads_of_the_caller_are_untouched(Classifier, noisy_blobs):
    X, y, _ = noisy_blobs
    torch.manual_seed(3)
    np.random.seed(3)
    torch_state, numpy_state = torch.get_rng_state(), np.random.get_state()[1].copy()
    torch.set_num_threads(2)
    try:
        quick(Classifier).fit(X, y).predict(X)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(1)
    assert torch.equal(torch.get_rng_state(), torch_state)
    assert np.array_equal(np.random.get_state()[1], numpy_state)


@on_paths("two phases", "two networks")
def test_the_number_of_surrounding_threads_changes_nothing(Classifier, noisy_blobs):
    X, y, _ = noisy_blobs
    alone = quick(Classifier, module__hidden=(64, 64)).fit(X, y)
    torch.set_num_threads(2)
    try:
        crowded = quick(Classifier, module__hidden=(64, 64)).fit(X, y)
        assert same_fit(alone, crowded, X)
    finally:
        torch.set_num_threads(1)


@on_paths("new start", "folds", "rounds")
def test_inputs_are_not_changed(Classifier, noisy_blobs):
    X, y, y_true = (array.copy() for array in noisy_blobs)
    quick(Classifier).fit(X, y, y_true=y_true)
    for now, before in zip((X, y, y_true), noisy_blobs, strict=True):
        assert np.array_equal(now, before)


@on_paths("new start", "folds")
@pytest.mark.parametrize(
    "names",
    [np.array(["d", "a", "c", "b"]), np.array([10, -3, 7, 0])],
    ids=["str", "int"],
)
def test_labels_of_any_type_are_encoded_and_decoded(Classifier, noisy_blobs, names):
    X, y, _ = noisy_blobs
    ordered = np.sort(names)
    plain, named = quick(Classifier).fit(X, y), quick(Classifier).fit(X, ordered[y])
    assert named.classes_.tolist() == ordered.tolist()
    assert np.array_equal(named.predict(X), ordered[plain.predict(X)])
    assert np.array_equal(named.suggested_labels_, ordered[plain.suggested_labels_])
    assert np.array_equal(named.safe_mask_, plain.safe_mask_)


def test_permuting_the_classes_permutes_the_predictions(noisy_blobs):
    """With the same network, its last layer permuted like the classes."""
    X, y, _ = noisy_blobs
    order = np.array([2, 0, 3, 1])  # class c becomes order[c]
    torch.manual_seed(0)
    module = MLP(2, 4, hidden=(16,), dropout=0.0)
    permuted = copy.deepcopy(module)
    with torch.no_grad():
        permuted[-1].weight[order] = module[-1].weight
        permuted[-1].bias[order] = module[-1].bias
    recipe = {"stop": NoiseRateStop(0.4), "max_epochs": 15, "random_state": 0}
    plain = PrestoppingClassifier(module, **recipe).fit(X, y)
    moved = PrestoppingClassifier(permuted, **recipe).fit(X, order[y])
    assert np.array_equal(moved.safe_mask_, plain.safe_mask_)
    assert np.array_equal(moved.predict(X), order[plain.predict(X)])
    np.testing.assert_allclose(
        moved.predict_proba(X)[:, order], plain.predict_proba(X), atol=1e-4
    )


def test_fits_in_threads_take_turns_and_give_the_same_bits(noisy_blobs):
    X, y, _ = noisy_blobs
    seeds = range(3)
    alone = [quick(PrestoppingClassifier, random_state=s).fit(X, y) for s in seeds]
    before = torch.get_rng_state()
    together = joblib.Parallel(2, backend="threading")(
        joblib.delayed(quick(PrestoppingClassifier, random_state=s).fit)(X, y)
        for s in seeds
    )
    assert all(same_fit(a, b, X) for a, b in zip(alone, together, strict=True))
    assert torch.equal(torch.get_rng_state(), before)


def test_attributes_of_the_user_are_no_parameters(noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(DefaultClassifier)
    clf.note = "mine"
    assert "note" not in clf.fit(X, y).get_params()


def test_parameters_that_end_in_an_underscore_are_kept(noisy_blobs):
    X, y, _ = noisy_blobs
    clf = DefaultClassifier(WithLambda, module__lambda_=5.0, max_epochs=1)
    assert clone(clf).fit(X, y).net_.module_.lambda_ == 5.0


class WithLambda(nn.Linear):
    def __init__(self, n_features, n_classes, lambda_=1.0):
        super().__init__(n_features, n_classes)
        self.lambda_ = lambda_


def test_scoring_callbacks_of_skorch_see_class_numbers(noisy_blobs):
    X, y, _ = noisy_blobs
    scoring = EpochScoring("accuracy", on_train=True, name="accuracy")
    clf = quick(DefaultClassifier, callbacks=[scoring]).fit(X, y)
    last = clf.net_.history[-1, "accuracy"]
    assert last == pytest.approx(1 - clf.history_[-1].train_error)


def test_a_schedule_given_as_a_subclass_replaces_the_built_in_one(noisy_blobs):
    X, y, _ = noisy_blobs

    class Constant(LRScheduler):
        def __init__(self):
            super().__init__(torch.optim.lr_scheduler.StepLR, step_size=1000)

    clf = quick(DefaultClassifier, callbacks=[Constant], lr=0.05).fit(X, y)
    assert {record.learning_rate for record in clf.history_} == {0.05}


@every
def test_two_classes_as_booleans(Classifier, blobs):
    X, y = blobs
    clf = quick(Classifier).fit(X, y < 2)
    assert clf.predict(X).dtype == bool
    assert clf.score(X, y < 2) > 0.8


@every
def test_masks_are_aligned_with_the_rows_as_given(Classifier, noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(Classifier).fit(X, y)
    assert all(getattr(clf, name).shape == (len(X),) for name in PER_SAMPLE)
    assert clf.safe_mask_.dtype == bool
    agrees = clf.suggested_labels_ == y
    # Cross-fitting suggests by the posterior, all others by the vote.
    is_cross_fitted = Classifier is CrossPrestoppingClassifier
    assert not getattr(clf, "used_fallback_", False)
    scores = clf.label_quality_ if is_cross_fitted else clf.label_agreement_
    assert 0 < agrees.mean() < 1
    assert agrees[scores > 0.5].all()
    assert not agrees[scores == 0].any()


@every
def test_label_quality_ranks_correct_labels_above_wrong_ones(Classifier, noisy_blobs):
    X, y, y_true = noisy_blobs
    params = {"max_epochs": 20, "q": 5, "batch_size": 32, "random_state": 3}
    clf = quick(Classifier, **params).fit(X, y)
    assert clf.label_quality_.min() >= 0
    assert clf.label_quality_.max() <= 1
    assert roc_auc_score(y == y_true, clf.label_quality_) > 0.85
    # Continuous: far more values than a vote of five predictions can have.
    assert len(np.unique(clf.label_quality_)) > 50


@every
def test_the_report_is_what_the_attributes_are_read_from(Classifier, noisy_blobs):
    X, y, _ = noisy_blobs
    names = np.array(["a", "b", "c", "d"])
    clf = quick(Classifier).fit(X, names[y])
    findings = clf.label_findings_
    pairs = [
        ("safe_mask_", findings.is_safe),
        ("label_quality_", findings.quality),
        ("label_agreement_", findings.agreement),
        ("suggested_labels_", findings.suggested),
        ("noise_rate_", findings.noise_rate),
        ("corrected_labels_", findings.corrected),
        ("corrected_mask_", findings.is_corrected),
        ("transition_matrix_", findings.transition_matrix),
    ]
    for name, value in pairs:
        assert hasattr(clf, name) is (value is not None)
        assert value is None or getattr(clf, name) is value
    assert set(findings.suggested) <= set(names)


@every
def test_pickle_and_joblib_round_trips_keep_predictions(Classifier, noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(Classifier).fit(X, y)
    assert same_fit(clf, pickle.loads(pickle.dumps(clf)), X)
    stream = io.BytesIO()
    joblib.dump(clf, stream)
    stream.seek(0)
    assert same_fit(clf, joblib.load(stream), X)


@every
def test_a_pickle_holds_no_training_data(Classifier, noisy_blobs):
    X, y, _ = noisy_blobs
    wide = np.tile(X, (1, 200))
    X = np.vstack([wide] * 10)
    clf = quick(Classifier, max_epochs=2, module__hidden=(4,)).fit(X, np.tile(y, 10))
    assert len(pickle.dumps(clf)) < 0.1 * X.nbytes


@every
def test_clone_keeps_every_parameter_and_nothing_fitted(Classifier, noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(Classifier, optimizer__weight_decay=1e-3).fit(X, y)
    copy = clone(clf)
    assert copy.get_params(deep=False).keys() == clf.get_params(deep=False).keys()
    assert copy.optimizer__weight_decay == 1e-3
    assert not hasattr(copy, "net_")
    assert same_fit(clf, copy.fit(X, y), X)


@every
def test_html_and_text_representations(Classifier, noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(Classifier).fit(X, y)
    assert "module__hidden=(16,)" in repr(clf)
    assert Classifier.__name__ in clf._repr_html_()


@on_paths("one stage", "two networks", "folds", "gradients")
def test_images_get_a_convolutional_network(Classifier):
    rng = np.random.RandomState(0)
    y = np.arange(120) % 3
    X = rng.normal(size=(120, 1, 6, 6)).astype(np.float32)
    X += 3 * y[:, None, None, None]
    params = {"max_epochs": 10, "batch_size": 16, "module__widths": (8, 8)}
    clf = Classifier(
        **params, **FEWER_RUNS.get(Classifier.__name__, {}), random_state=0
    )
    clf.fit(X.astype(np.float32), y)
    assert clf.input_shape_ == (1, 6, 6)
    assert clf.score(X, y) > 0.6
    with pytest.raises(ValueError, match=r"samples of shape \(1, 5, 6\).*\(1, 6, 6\)"):
        clf.predict(X[:, :, :5])


class TakesSizes(nn.Linear):
    def __init__(self, in_features, out_features):
        super().__init__(in_features, out_features)


class LazyNet(nn.Sequential):
    def __init__(self, n_classes):
        super().__init__(nn.LazyLinear(8), nn.ReLU(), nn.Linear(8, n_classes))


class KnowsItsSizes(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 4))


@on_paths("one stage", "two networks")
@pytest.mark.parametrize("module", [TakesSizes, LazyNet, KnowsItsSizes])
@pytest.mark.filterwarnings("ignore:Lazy modules are a new feature")
def test_module_classes_get_the_sizes_that_they_take(Classifier, blobs, module):
    X, y = blobs
    clf = Classifier(module, max_epochs=8, lr=0.05, random_state=0).fit(X, y)
    assert clf.score(X, y) > 0.4  # four classes


@on_paths("two phases", "two networks", "folds")
def test_module_instance_is_copied_and_its_weights_are_the_start(
    Classifier, noisy_blobs
):
    X, y, _ = noisy_blobs
    torch.manual_seed(0)
    module = MLP(2, 4, hidden=(8,), dropout=0.0)
    before = {k: v.clone() for k, v in module.state_dict().items()}
    first = Classifier(module, max_epochs=5, random_state=0).fit(X, y)
    second = Classifier(module, max_epochs=5, random_state=0).fit(X, y)
    assert all(torch.equal(module.state_dict()[k], v) for k, v in before.items())
    assert same_fit(first, second, X)


@on_paths()
def test_history_goes_straight_into_a_frame(Classifier, noisy_blobs):
    X, y, y_true = noisy_blobs
    clf = quick(Classifier).fit(X, y, y_true=y_true)
    frame = pd.DataFrame(clf.history_)
    assert {"epoch", "stage", "train_error", "memorization_precision"} <= set(frame)
    assert frame["epoch"].max() == clf.n_epochs_ or len(frame) >= clf.n_epochs_
    assert frame["memorization_precision"].notna().all()


@on_paths("two phases", among=METHODS)
def test_grid_search_gives_the_same_scores_for_any_number_of_jobs(
    Classifier, noisy_blobs
):
    X, y, _ = noisy_blobs
    pipeline = make_pipeline(StandardScaler(), quick(Classifier, max_epochs=8))
    step = Classifier.__name__.lower()
    grid = {f"{step}__q": [1, 5], f"{step}__module__hidden": [(8,), (64, 64)]}
    scores = []
    for n_jobs in (1, 2):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            search = GridSearchCV(pipeline, grid, cv=2, n_jobs=n_jobs).fit(X, y)
        scores.append(
            [search.cv_results_[f"split{fold}_test_score"].tolist() for fold in (0, 1)]
        )
    assert scores[0] == scores[1]
    assert search.best_score_ > 0.5


@on_paths("one stage", "two networks", "gradients")
def test_batch_larger_than_the_data(Classifier, noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(Classifier, batch_size=10_000).fit(X, y)
    assert len(clf.net_.history[-1]["batches"]) == 1


@with_two
def test_a_failed_refit_leaves_the_earlier_fit_whole(Classifier, noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(Classifier).fit(X, y)
    before = clf.predict_proba(X)
    with pytest.raises(ValueError, match="NaN"):
        clf.fit(np.full((10, 7), np.nan), y[:10])
    assert clf.n_features_in_ == 2
    assert np.array_equal(clf.predict_proba(X), before)


@on_paths("two phases", "folds")
@pytest.mark.parametrize("verbose", [0, 1, 2])
def test_verbosity(Classifier, noisy_blobs, verbose, capsys):
    X, y, _ = noisy_blobs
    clf = quick(Classifier, max_epochs=3, verbose=verbose).fit(X, y)
    captured = capsys.readouterr()
    if verbose == 0:
        assert captured.out == captured.err == ""
    if verbose == 1:
        assert captured.out == ""
        assert clf.history_[-1].stage in captured.err
        assert "error=" in captured.err
        assert "safe=" in captured.err
    if verbose == 2:
        assert len(captured.out.splitlines()) == len(clf.history_)
        assert captured.out.startswith(f"{clf.history_[0].stage}  epoch   1")


@on_paths("one stage", "gradients")
def test_worker_processes_of_a_data_loader_bring_every_row(Classifier, noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(Classifier, iterator_train__num_workers=1, max_epochs=2).fit(X, y)
    assert clf.score(X, y) > 0.3
    assert len(clf.net_.history[-1]["batches"]) in (6, 7)


class PredictOutside(Callback):
    """Predict with the estimator that is being refitted."""

    def __init__(self, clf, X):
        self.clf = clf
        self.X = X
        self.predicted_ = None

    def on_epoch_end(self, net, **kwargs):
        self.predicted_ = self.clf.predict(self.X)


def test_an_estimator_predicts_from_its_earlier_fit_until_a_refit_is_complete(blobs):
    X, y = blobs
    clf = quick(DefaultClassifier).fit(X, y)
    before = clf.predict(X)
    callback = PredictOutside(clf, X)
    clf.callbacks = [callback]
    clf.fit(np.tile(X, 2), np.array(["a", "b", "c", "d"])[y])
    np.testing.assert_array_equal(callback.predicted_, before)
    assert clf.classes_.tolist() == ["a", "b", "c", "d"]


def test_a_prediction_that_outlives_a_fit_leaves_the_number_of_threads(blobs):
    X, y = blobs
    clf = quick(DefaultClassifier).fit(X, y)
    with ThreadPoolExecutor(1) as pool:
        torch.set_num_threads(2)
        try:
            for _ in range(3):
                prediction = pool.submit(clf.predict, np.tile(X, (400, 1)))
                quick(DefaultClassifier, max_epochs=1).fit(X, y)
                prediction.result()
            assert torch.get_num_threads() == 2
        finally:
            torch.set_num_threads(1)

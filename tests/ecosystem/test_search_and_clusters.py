"""Parameter search with optuna, and on workers of dask and Ray."""

import warnings

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score


def test_optuna_searches_parameters(clf, data):
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    X, y = data

    def objective(trial):
        lr = trial.suggest_float("lr", 0.01, 0.2, log=True)
        width = trial.suggest_categorical("module__hidden", [8, 16])
        model = clone(clf).set_params(lr=lr, module__hidden=(width,))
        return cross_val_score(model, X, y, cv=2).mean()

    sampler = optuna.samplers.RandomSampler(seed=0)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    study.optimize(objective, n_trials=2)
    assert study.best_value > 0.6


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_optunas_callback_prunes_a_fit(clf, data):
    optuna = pytest.importorskip("optuna")
    integration = pytest.importorskip("optuna_integration.skorch")
    X, y = data
    pruner = optuna.pruners.ThresholdPruner(upper=-1.0)  # prunes the first epoch

    def objective(trial):
        callback = integration.SkorchPruningCallback(trial, "train_loss")
        return clone(clf).set_params(callbacks=[callback]).fit(X, y).score(X, y)

    study = optuna.create_study(pruner=pruner)
    study.optimize(objective, n_trials=1)
    assert study.trials[0].state is optuna.trial.TrialState.PRUNED


@pytest.fixture
def search(clf):
    """A search whose fits depend on a seed and on the number of epochs."""
    grid = {"lr": [0.05, 0.1], "max_epochs": [4, 8]}
    return GridSearchCV(clf, grid, cv=2)


def scores(search, X, y):
    fitted = clone(search).fit(X, y)
    splits = [fitted.cv_results_[f"split{i}_test_score"] for i in range(2)]
    return np.array(splits), fitted.best_estimator_.predict_proba(X)


def assert_same_scores(search, X, y, there):
    here = scores(clone(search).set_params(n_jobs=1), X, y)
    np.testing.assert_array_equal(there[0], here[0])
    np.testing.assert_array_equal(there[1], here[1])


@pytest.fixture(scope="module")
def dask_cluster():
    """Two worker processes of dask."""
    distributed = pytest.importorskip("distributed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with (
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, dashboard_address=None
            ) as cluster,
            distributed.Client(cluster),
        ):
            yield cluster


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("scatters", [False, True])
def test_a_search_on_workers_of_dask_has_the_same_scores(
    scatters, search, data, dask_cluster
):
    X, y = data
    with joblib.parallel_config("dask", scatter=[X, y] if scatters else None):
        there = scores(search.set_params(n_jobs=-1), X, y)
    assert_same_scores(search, X, y, there)


@pytest.mark.filterwarnings("ignore")
def test_a_search_on_workers_of_ray_has_the_same_scores(search, data):
    ray = pytest.importorskip("ray")
    from ray.util.joblib import register_ray

    X, y = data
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        register_ray()
        with joblib.parallel_config("ray"):
            there = scores(search.set_params(n_jobs=2), X, y)
    finally:
        ray.shutdown()
    assert_same_scores(search, X, y, there)


@pytest.mark.filterwarnings("ignore")
def test_successive_halving_on_workers_of_dask_has_the_same_scores(
    clf, data, dask_cluster
):
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401
    from sklearn.model_selection import HalvingGridSearchCV

    X, y = data
    halving = HalvingGridSearchCV(
        clf,
        {"lr": [0.3, 0.03, 0.003, 1e-4]},
        resource="max_epochs",
        min_resources=2,
        max_resources=8,
        factor=2,
        cv=2,
        random_state=0,
    )
    with joblib.parallel_config("dask"):
        there = clone(halving).set_params(n_jobs=-1).fit(X, y)
    here = halving.fit(X, y)
    assert here.n_resources_ == [2, 4, 8]
    for name in ("mean_test_score", "n_resources", "iter"):
        np.testing.assert_array_equal(here.cv_results_[name], there.cv_results_[name])

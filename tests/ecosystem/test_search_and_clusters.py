"""Parameter search with optuna, and workers of dask."""

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


@pytest.mark.filterwarnings("ignore")
def test_a_search_runs_on_workers_of_dask(clf, data):
    distributed = pytest.importorskip("distributed")
    X, y = data
    search = GridSearchCV(clf, {"lr": [0.05, 0.1]}, cv=2, refit=False)
    here = clone(search).fit(X, y).cv_results_["mean_test_score"]
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
        joblib.parallel_backend("dask"),
    ):
        there = search.fit(X, y).cv_results_["mean_test_score"]
    np.testing.assert_array_equal(there, here)

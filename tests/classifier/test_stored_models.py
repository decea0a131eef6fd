"""What a fitted estimator contains, and what comes back from a file."""

import copy
import io
import os
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path

import cloudpickle
import joblib
import numpy as np
import pytest
import torch
from skorch.callbacks import EpochScoring, LRScheduler
from skorch.exceptions import DeviceWarning
from torch import nn

from skpresto import DefaultClassifier, PrestoppingClassifier
from tests.discovery import StopAfter, every, quick

ROOT = Path(__file__).parents[2]


class Wide(nn.Module):
    def __init__(self, n_features, n_classes, width=500):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(n_features, width),
            nn.ReLU(),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Linear(width, n_classes),
        )

    def forward(self, X):
        return self.layers(X)


def wide(classifier, **params):
    """Return a classifier with a network that is large compared with the data."""
    clf = quick(classifier, module=Wide, max_epochs=2, lr=0.01, **params)
    del clf.module__hidden
    return clf


def n_bytes_of_weights(clf):
    return sum(part.nbytes for part in clf.net_.module_.state_dict().values())


@pytest.fixture(scope="module")
def data():
    X = np.random.RandomState(0).normal(size=(80, 4)).astype(np.float32)
    return X, np.where(X[:, 0] > 0, "yes", "no")


@pytest.fixture(scope="module")
def fitted(data):
    return wide(PrestoppingClassifier, stop=StopAfter(1)).fit(*data)


@pytest.mark.filterwarnings("ignore")
@every
def test_a_pickle_contains_the_weights_once(Classifier, data):
    clf = wide(Classifier).fit(*data)
    n_bytes = len(pickle.dumps(clf))
    assert n_bytes < 1.1 * n_bytes_of_weights(clf)


def test_a_pickle_contains_the_weights_of_a_module_instance_twice(data):
    module = Wide(4, 2)
    clf = wide(DefaultClassifier).set_params(module=module).fit(*data)
    assert len(pickle.dumps(clf)) < 2.2 * n_bytes_of_weights(clf)


def test_schedules_of_the_user_do_not_keep_the_optimizer(data):
    schedule = LRScheduler(torch.optim.lr_scheduler.StepLR, step_size=1)
    scoring = EpochScoring("accuracy", on_train=True, lower_is_better=False)
    callbacks = [("schedule", schedule), ("scoring", scoring)]
    clf = wide(DefaultClassifier, callbacks=callbacks).fit(*data)
    assert len(pickle.dumps(clf)) < 1.1 * n_bytes_of_weights(clf)


def test_nothing_of_training_stays(fitted):
    net = fitted.net_
    assert not {"optimizer_", "blueprint_"} & set(vars(net))
    assert all(parameter.grad is None for parameter in net.module_.parameters())
    assert not any(hasattr(c, "lr_scheduler_") for _, c in net.callbacks_)
    assert not any(part.training for part in net.module_.modules())


def test_what_users_read_from_the_net_stays(fitted, data, tmp_path):
    net = fitted.net_
    assert len(net.history[:, "train_loss"]) >= 2
    assert repr(net)
    net.save_params(f_params=tmp_path / "weights.pt", f_history=tmp_path / "h.json")
    loaded = torch.load(tmp_path / "weights.pt")
    assert loaded.keys() == net.module_.state_dict().keys()
    assert net.get_params()["module"] is Wide


def through_joblib(clf, tmp_path):
    joblib.dump(clf, tmp_path / "clf.joblib")
    return joblib.load(tmp_path / "clf.joblib")


def through_a_memory_map(clf, tmp_path):
    joblib.dump(clf, tmp_path / "clf.joblib")
    return joblib.load(tmp_path / "clf.joblib", mmap_mode="r")


def through_torch(clf, _):
    file = io.BytesIO()
    torch.save(clf, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


WAYS = {
    "pickle": lambda clf, _: pickle.loads(pickle.dumps(clf)),
    "deepcopy": lambda clf, _: copy.deepcopy(clf),
    "cloudpickle": lambda clf, _: pickle.loads(cloudpickle.dumps(clf)),
    "joblib": through_joblib,
    "memory map": through_a_memory_map,
    "torch": through_torch,
}


@pytest.mark.parametrize("way", WAYS)
def test_predictions_come_back_bit_by_bit(way, fitted, data, tmp_path):
    back = WAYS[way](fitted, tmp_path)
    X, _ = data
    np.testing.assert_array_equal(back.predict_proba(X), fitted.predict_proba(X))
    np.testing.assert_array_equal(back.predict(X), fitted.predict(X))
    np.testing.assert_array_equal(back.safe_mask_, fitted.safe_mask_)
    assert back.net_.history == fitted.net_.history
    assert back.history_ == fitted.history_


def test_a_model_that_came_back_can_be_fitted_again(fitted, data):
    back = pickle.loads(pickle.dumps(fitted)).fit(*data)
    X, _ = data
    np.testing.assert_array_equal(back.predict_proba(X), fitted.predict_proba(X))


def test_a_change_of_a_copy_leaves_the_original_alone(fitted, data):
    X, _ = data
    before = fitted.predict_proba(X)
    twin = copy.deepcopy(fitted)
    with torch.no_grad():
        for parameter in twin.net_.module_.parameters():
            parameter.zero_()
    np.testing.assert_array_equal(fitted.predict_proba(X), before)


def test_a_model_of_a_device_that_is_absent_comes_back_on_the_cpu(fitted, data):
    if torch.cuda.is_available():
        pytest.skip("needs a machine without CUDA")
    elsewhere = copy.deepcopy(fitted)
    elsewhere.net_.device = "cuda"
    with pytest.warns(DeviceWarning, match="'cuda', which this machine does not have"):
        back = pickle.loads(pickle.dumps(elsewhere))
    X, _ = data
    np.testing.assert_array_equal(back.predict_proba(X), fitted.predict_proba(X))


def run_script(tmp_path, text, *arguments):
    """Run a script as a user would, with a module in ``__main__``."""
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(text))
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, script, *map(str, arguments)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


SCRIPT = """
    import sys

    import cloudpickle
    import joblib
    import numpy as np
    from torch import nn

    from skpresto import PrestoppingClassifier


    class Mine(nn.Module):
        def __init__(self, n_features, n_classes):
            super().__init__()
            self.layer = nn.Linear(n_features, n_classes)

        def forward(self, X):
            return self.layer(X)


    if __name__ == "__main__":
        X = np.random.RandomState(0).normal(size=(80, 4)).astype(np.float32)
        y = (X[:, 0] > 0).astype(int)
        clf = PrestoppingClassifier(Mine, max_epochs=3, random_state=0).fit(X, y)
        with open(sys.argv[1], "wb") as file:
            cloudpickle.dump((clf, X, clf.predict_proba(X)), file)
        tasks = [joblib.delayed(clf.fit)(X, y), joblib.delayed(clf.predict_proba)(X)]
        again, probabilities = joblib.Parallel(n_jobs=2)(tasks)
        print(
            np.array_equal(again.predict_proba(X), clf.predict_proba(X))
            and np.array_equal(probabilities, clf.predict_proba(X))
        )
"""


def test_a_module_of_a_script_reaches_workers_and_other_processes(tmp_path):
    path = tmp_path / "clf.pkl"
    assert run_script(tmp_path, SCRIPT, path) == "True"
    clf, X, expected = pickle.loads(path.read_bytes())
    np.testing.assert_array_equal(clf.predict_proba(X), expected)

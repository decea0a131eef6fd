"""What a fit can do, it can do on a device."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import skpresto
from skpresto import (
    CrossPrestoppingClassifier,
    DefaultClassifier,
    PrestoppingClassifier,
)
from skpresto._networks import stored
from skpresto._training import checkpoint
from skpresto._training.context import recorded_trajectories
from skpresto.losses import ForwardCorrectionLoss
from skpresto.stopping import AgreementStop
from tests.discovery import RUNS_ALL, on_paths, quick, short_fits_warn
from tests.resume.kills import everything, fit_with_kills

pytestmark = short_fits_warn

ROOT = Path(__file__).parents[2]


def trained(device, X, y, *, weight=None, Classifier=DefaultClassifier, **params):
    clf = quick(Classifier, max_epochs=4, device=device, **params)
    return clf.fit(X, y, sample_weight=weight)


@pytest.mark.parametrize(
    "criterion",
    [
        nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0, 0.5])),
        ForwardCorrectionLoss(np.full((3, 3), 0.1) + 0.7 * np.eye(3)),
    ],
    ids=["weighted", "corrected"],
)
def test_criteria_with_buffers(points, device, tolerance, criterion):
    params = {"criterion": criterion, "module__dropout": 0}
    both = [trained(d, *points, **params) for d in ("cpu", device)]
    probabilities = [clf.predict_proba(points[0]) for clf in both]
    np.testing.assert_allclose(*probabilities, atol=tolerance)


def test_sample_weights(points, device, tolerance):
    X, y = points
    weight = np.random.RandomState(1).uniform(size=len(y)) * (np.arange(len(y)) % 7 > 0)
    params = {"weight": weight, "Classifier": PrestoppingClassifier}
    params |= {"class_weight": "balanced", "module__dropout": 0}
    both = [trained(d, X, y, **params) for d in ("cpu", device)]
    np.testing.assert_allclose(*[c.predict_proba(X) for c in both], atol=tolerance)
    fractions = [[r.train_error for r in clf.history_] for clf in both]
    np.testing.assert_allclose(*fractions, atol=tolerance)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_second_opinion(points, device, tolerance, n_classes):
    """Of two classes the evidence has a weight that is fitted."""
    X, y = points
    few = y < n_classes
    params = {"Classifier": CrossPrestoppingClassifier, "assessor": "auto"}
    params |= {"module__dropout": 0}
    both = [trained(d, X[few], y[few], **params) for d in ("cpu", device)]
    np.testing.assert_allclose(*[c.predict_proba(X) for c in both], atol=tolerance)
    np.testing.assert_allclose(*[c.label_quality_ for c in both], atol=tolerance)


@pytest.mark.parametrize("autocast", ["bfloat16", "float16"])
def test_reduced_precision(pictures, device, autocast):
    X, y = pictures
    params = {"module": None, "max_epochs": 8, "device": device, "autocast": autocast}
    clf = DefaultClassifier(**params, module__widths=(4, 4), random_state=0).fit(X, y)
    assert clf.score(X, y) > 0.9
    assert {p.dtype for p in clf.net_.module_.parameters()} == {torch.float32}


def test_compiled(points, device, is_pretended):
    if is_pretended and not RUNS_ALL:
        pytest.skip("takes as long as all other checks together")
    if is_pretended:  # there is no Triton for it, but all that comes before
        params = {"compile": True, "compile__backend": "aot_eager"}
    else:
        params = {"compile": True}
    X, _ = points
    plain = trained(device, *points)
    compiled = trained(device, *points, **params)
    both = [clf.predict_proba(X) for clf in (plain, compiled)]
    np.testing.assert_allclose(*both, atol=1e-3)


@on_paths("two phases", "folds", "two networks")
def test_a_killed_fit_goes_on_bit_by_bit(
    Classifier, points, device, tmp_path, monkeypatch
):
    X, y = points
    params = {"max_epochs": 8, "q": 4, "device": device}
    straight = quick(Classifier, **params).fit(X, y)
    killed = quick(Classifier, **params)
    n_kills = fit_with_kills(monkeypatch, killed, X, y, tmp_path, n_epochs_each=3)
    assert n_kills >= 2
    assert everything(straight, X) == everything(killed, X)


def test_checkpoints_on_disk(points, device, monkeypatch):
    params = {"Classifier": PrestoppingClassifier, "stop": AgreementStop()}
    in_memory = trained(device, *points, **params)
    monkeypatch.setattr(checkpoint.CheckpointStore.__init__, "__defaults__", (0,))
    on_disk = trained(device, *points, **params)
    assert everything(in_memory, points[0]) == everything(on_disk, points[0])


def test_trajectories_and_networks_kept_after_an_interrupt(points, device):
    class Interrupt(skpresto._networks.callbacks.Callback):
        def on_epoch_end(self, net, **_):
            if len(net.history) == 3:
                raise KeyboardInterrupt

    X, y = points
    with recorded_trajectories() as trajectories:
        trained(device, X, y, Classifier=PrestoppingClassifier)
    assert trajectories.probabilities().shape == (len(y), 4)
    with skpresto.keep_interrupted(), pytest.warns(UserWarning, match="interrupted"):
        clf = trained(device, X, y, callbacks=[Interrupt()])
    assert clf.is_interrupted_
    assert clf.predict(X).shape == y.shape


def states_of(devices):
    of_devices = [torch.cuda.get_rng_state(d) for d in devices]
    return [torch.get_rng_state(), *of_devices]


def test_the_random_states_of_all_devices_are_left_alone(
    points, second_device, tolerance
):
    devices = ["cuda:0", second_device]
    torch.manual_seed(5)
    for device in ("cpu", *devices):
        before = states_of(devices)
        trained(device, *points)
        assert all(map(torch.equal, before, states_of(devices))), device


def test_prediction_moves_to_another_device(points, device, tolerance):
    X, _ = points
    clf = trained("cpu", *points)
    before = clf.predict_proba(X)
    clf.set_params(device=device)
    assert torch.device(clf.net_.device).type == device
    assert next(clf.net_.module_.parameters()).device.type == device
    np.testing.assert_allclose(clf.predict_proba(X), before, atol=tolerance)
    clf.set_params(device="cpu", lr=0.2)
    assert clf.net_.device == "cpu"
    np.testing.assert_array_equal(clf.predict_proba(X), before)


def test_auto_is_the_device_of_this_machine(points, device):
    clf = trained("auto", *points)
    assert torch.device(clf.net_.device).type == device
    assert "device='auto'" in repr(clf)


def test_a_model_comes_back_where_there_is_one_gpu(points, second_device, monkeypatch):
    X, _ = points
    clf = trained(second_device, *points)
    before = clf.predict_proba(X)
    monkeypatch.setattr(stored, "is_usable", lambda found: not found.index)
    back = pickle.loads(pickle.dumps(clf))
    assert back.net_.device == "cuda:0"
    np.testing.assert_array_equal(back.predict_proba(X), before)


READER = """
import pickle, sys, warnings, numpy as np
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    models = pickle.load(open(sys.argv[1], "rb"))
for clf, X, expected in models:
    assert clf.net_.device == "cpu"
    np.testing.assert_allclose(clf.predict_proba(X), expected, atol=float(sys.argv[2]))
print([str(w.message) for w in caught if w.category.__name__ == "DeviceWarning"])
"""


def test_a_model_comes_back_where_there_is_none(
    with_processes, points, device, tolerance, tmp_path
):
    X, _ = points
    models = [trained(name, *points) for name in (device, "auto")]
    path = tmp_path / "models.pkl"
    path.write_bytes(pickle.dumps([(m, X, m.predict_proba(X)) for m in models]))
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(
        [sys.executable, "-c", READER, path, str(tolerance)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("does not have") == 1  # "auto" chooses again

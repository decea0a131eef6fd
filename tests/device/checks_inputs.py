"""Samples of every kind, and arguments of fit, reach the device."""

import numpy as np
import pytest
import torch
from scipy import sparse
from torch import nn
from torch.utils.data import TensorDataset

from skpresto import DefaultClassifier, PrestoppingClassifier
from skpresto.stopping import ValidationStop
from tests.discovery import quick, short_fits_warn

pytestmark = short_fits_warn


class OfTwoParts(nn.Module):
    """Takes the columns of a table in two parts, given by name or one by one."""

    def __init__(self, n_classes):
        super().__init__()
        self.layer = nn.Linear(6, n_classes)

    def forward(self, left, right):
        return self.layer(torch.cat((left, right), dim=1))


def pairs(batch):
    """Make a batch as a user's collate_fn does."""
    X, y = zip(*batch, strict=True)
    return torch.stack(X), torch.tensor(y)


def kinds_of(X, y, folder):
    """Return the same samples in every form, with what the net needs for it."""
    mapped = np.memmap(folder / "X.bin", dtype="f4", mode="w+", shape=X.shape)
    mapped[:] = X
    left, right = X[:, :2], X[:, 2:]
    dataset = TensorDataset(torch.from_numpy(X), torch.from_numpy(y))
    collated = {f"iterator_{part}__collate_fn": pairs for part in ("train", "valid")}
    one, two = {"module": nn.LazyLinear}, {"module": OfTwoParts}
    one["module__out_features"] = 3
    return {
        "array": (X, one),
        "sparse": (sparse.csr_matrix(X), one),
        "memory map": (mapped, one),
        "dict": ({"left": left, "right": right}, two),
        "tuple": ((left, right), two),
        "dataset": (dataset, one),
        "collate_fn": (dataset, {**one, **collated}),
        "rows in a loader": (X, {**one, "iterator_train__pin_memory": True}),
    }


def fitted(X, y, device, params, **further):
    clf = DefaultClassifier(max_epochs=3, batch_size=32, random_state=0, device=device)
    return clf.set_params(**params).fit(X, y, **further)


def test_samples_of_every_kind_give_the_results_of_the_cpu(
    points, device, tolerance, tmp_path
):
    X, y = points
    for kind, (samples, params) in kinds_of(X, y, tmp_path).items():
        on_cpu, on_device = (fitted(samples, y, d, params) for d in ("cpu", device))
        both = [clf.predict_proba(samples) for clf in (on_cpu, on_device)]
        np.testing.assert_allclose(*both, atol=tolerance, err_msg=kind)


def test_tensors_on_the_device_are_taken_for_every_argument(points, device):
    X, y = points
    weights = np.linspace(0, 1, len(y)).astype(np.float32)
    clf = quick(PrestoppingClassifier, stop=ValidationStop(), device=device)
    given = {"X": X, "y": y, "sample_weight": weights}
    given |= {"X_val": X[:20], "y_val": y[:20], "y_true": y}
    on_device = {k: torch.from_numpy(v).to(device) for k, v in given.items()}
    first = clf.fit(**given).predict_proba(X)
    second = clf.fit(**on_device).predict_proba(on_device["X"])
    np.testing.assert_array_equal(first, second)


def test_a_dataset_may_hold_tensors_of_the_device(points, device):
    X, y = (torch.from_numpy(array) for array in points)
    on_device = TensorDataset(X.to(device), y.to(device))
    both = [
        fitted(data, None, device, {"module__hidden": (8,)}).predict_proba(X)
        for data in (TensorDataset(X, y), on_device)
    ]
    np.testing.assert_array_equal(*both)


@pytest.mark.parametrize("kind", ["class", "instance"])
def test_pictures(pictures, device, tolerance, kind):
    X, y = pictures
    module = nn.Sequential(nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3), nn.Flatten())
    module.append(nn.Linear(48, 2))
    module[0].requires_grad_(False)
    params = (
        {"module": module}
        if kind == "instance"
        else {"module__widths": (4, 4), "module__dropout": 0}
    )
    both = [fitted(X, y, d, params).predict_proba(X) for d in ("cpu", device)]
    np.testing.assert_allclose(*both, atol=tolerance)

"""Record what every classifier computes on small seeded problems, bit for bit.

Run it before and after a change that must not alter results, then compare::

    python benchmarks/golden/record.py before.json
    python benchmarks/golden/record.py after.json
    python benchmarks/golden/compare.py before.json after.json

The digests depend on the machine and on the version of torch, so they are not
committed.
"""

import argparse
import hashlib
import json
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.datasets import load_digits, make_classification
from skorch.callbacks import LRScheduler
from torch import nn
from torch.utils.data import TensorDataset

import skpresto

METHODS: dict[str, dict[str, Any]] = {
    "DefaultClassifier": {},
    "ActiveBiasClassifier": {},
    "CoTeachingClassifier": {"noise_rate": 0.3},
    "CoTeachingPlusClassifier": {"noise_rate": 0.3},
    "SelfieClassifier": {"noise_rate": 0.3, "q": 4, "restarts": 1},
    "PrestoppingClassifier": {},
    "PrestoppingPlusClassifier": {"q": 4},
    "CrossPrestoppingClassifier": {"cv": 3},
}
#: Fields of a record that are times, or that only name what the others measure.
NOT_COMPARED = {"seconds", "phase", "stage"}


class UserModule(nn.Module):
    """A network as a user would write it, with BatchNorm and dropout."""

    def __init__(self, n_features: int, n_classes: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(n_features, 24),
            nn.BatchNorm1d(24),
            nn.ReLU(),
            nn.Dropout(0.2),
            nn.Linear(24, n_classes),
        )

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """Return logits."""
        return self.layers(X)


def noisy(y: np.ndarray, rate: float = 0.3) -> np.ndarray:
    is_wrong = np.random.RandomState(1).uniform(size=len(y)) < rate
    return np.where(is_wrong, (y + 1) % (y.max() + 1), y)


def problems(folder: Path) -> Iterator[tuple[str, Any, Any, dict, dict]]:
    """Yield name, X, y, parameters and further arguments of ``fit``."""
    X, y = load_digits(return_X_y=True)
    X = (X / 16).astype(np.float32)
    X, y, X_val, y_val = X[:700], noisy(y[:700]), X[700:900], y[700:900]
    two, labels = make_classification(400, 12, n_informative=6, random_state=0)
    two, labels = two.astype(np.float32), noisy(labels, 0.2)
    mapped = np.memmap(folder / "X.dat", np.float32, "w+", shape=X.shape)
    mapped[:] = X
    by_batch = LRScheduler(
        torch.optim.lr_scheduler.CosineAnnealingLR, T_max=200, step_every="batch"
    )
    yield "table", X, y, {}, {}
    yield "two classes", two, labels, {"batch_size": 32}, {}
    yield "validation data", X, y, {}, {"X_val": X_val, "y_val": y_val}
    yield "images", X[:300].reshape(-1, 1, 8, 8), y[:300], {"lr": 0.05}, {}
    yield "memory map", mapped, y, {}, {}
    dataset = TensorDataset(torch.from_numpy(X[:300]), torch.from_numpy(y[:300]))
    yield "dataset", dataset, None, {}, {}
    yield "user module", X, y, {"module": UserModule}, {}
    yield "user schedule", X, y, {"callbacks": [("schedule", by_batch)]}, {}
    adam = {"optimizer": torch.optim.Adam, "lr": 0.005}
    yield "Adam", X, y, adam, {}
    # Labels that cannot be predicted: CrossPrestopping falls back to an ensemble.
    rng = np.random.RandomState(2)
    unpredictable = rng.normal(size=(300, 20)).astype(np.float32)
    yield "random labels", unpredictable, rng.randint(10, size=300), {}, {}


def digest(*arrays: Any) -> str:
    found = hashlib.sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:16]


def digest_of_records(records: list) -> str:
    kept = [
        {name: value for name, value in asdict(r).items() if name not in NOT_COMPARED}
        for r in records
        if not getattr(r, "stage", "").startswith("noise rate")
    ]
    return digest(json.dumps(kept, sort_keys=True).encode())


def describe(clf: Any, X: Any) -> dict[str, Any]:
    """Return digests of all that a fit computes, and some probabilities."""
    weights = [value.numpy() for value in clf.net_.module_.state_dict().values()]
    probabilities = clf.predict_proba(X)
    return {
        "weights": digest(*weights),
        "probabilities": digest(probabilities),
        "some probabilities": probabilities[:50].astype(float).tolist(),
        "safe_mask_": digest(clf.safe_mask_),
        "suggested_labels_": digest(clf.suggested_labels_),
        "label_agreement_": digest(clf.label_agreement_),
        "history_": digest_of_records(clf.history_),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    out = parser.parse_args().out
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    recorded = {}
    with tempfile.TemporaryDirectory() as folder:
        for problem, X, y, params, further in problems(Path(folder)):
            for name, own in METHODS.items():
                settings = {"max_epochs": 14, "random_state": 0, **own, **params}
                clf = getattr(skpresto, name)(**settings).fit(X, y, **further)
                recorded[f"{problem} / {name}"] = describe(clf, X)
        X, y = load_digits(return_X_y=True)
        X, y = (X[:500] / 16).astype(np.float32), noisy(y[:500])
        for name in ("CoTeachingClassifier", "SelfieClassifier"):
            clf = getattr(skpresto, name)(max_epochs=12, q=3, random_state=0).fit(X, y)
            recorded[f"estimated rate / {name}"] = describe(clf, X)
    out.write_text(json.dumps(recorded, indent=1))
    print(f"{len(recorded)} fits recorded in {out}")


if __name__ == "__main__":
    main()

"""Digests of all that a fit computes."""

import hashlib
import json
import pickle
from dataclasses import asdict
from itertools import groupby
from typing import Any

import numpy as np
import torch

#: Fields of a record that are times, or that only name what the others measure.
NOT_COMPARED = {"seconds", "phase", "n_networks", "stage"}
ARRAYS = (
    "safe_mask_",
    "suggested_labels_",
    "label_agreement_",
    "label_quality_",
    "corrected_labels_",
    "corrected_mask_",
    "transition_matrix_",
)
NUMBERS = ("noise_rate_", "stop_epoch_", "n_epochs_", "turning_epoch_")
FLAGS = ("used_fallback_", "is_interrupted_")


def digest(*values: Any) -> str:
    """Return a digest of arrays, tensors, or of what JSON can store."""
    found = hashlib.sha256()
    for value in values:
        if isinstance(value, (list, dict)):
            found.update(json.dumps(value, sort_keys=True).encode())
            continue
        array = np.asarray(value)
        array = array.astype(str) if array.dtype == object else array
        found.update(f"{array.dtype} {array.shape}".encode())
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:16]


def random_states() -> str:
    """Return a digest of the random states of torch and numpy."""
    return digest(torch.get_rng_state(), *np.random.get_state()[1:])


def summary(clf: Any, X: Any) -> dict[str, Any]:
    """Return digests of a fitted classifier, and some of its probabilities."""
    probabilities = clf.predict_proba(X)
    stored = pickle.loads(pickle.dumps(clf))
    weights = clf.net_.module_.state_dict()
    return {
        "weights": digest(list(weights), *weights.values()),
        "probabilities": digest(probabilities),
        "some probabilities": probabilities[:20].astype(float).tolist(),
        "predicted": digest(clf.predict(X)),
        "after pickle": digest(stored.predict_proba(X)),
        **{name: _digest_if_there(clf, name) for name in ARRAYS},
        **{name: _number_if_there(clf, name) for name in NUMBERS},
        **{name: getattr(clf, name, None) for name in FLAGS},
        "stages": _stages(clf.history_),
        "history_": digest([_without_times(record) for record in clf.history_]),
        "history of skorch": digest(_rows(clf.net_.history)),
    }


def _digest_if_there(clf: Any, name: str) -> str | None:
    return digest(getattr(clf, name)) if hasattr(clf, name) else None


def _number_if_there(clf: Any, name: str) -> float | None:
    value = getattr(clf, name, None)
    return None if value is None else float(value)


def _stages(records: list) -> list[list]:
    """Return each stage with the numbers of its first and last epoch."""
    stages = [
        (name, [r.epoch for r in group])
        for name, group in groupby(records, lambda r: r.stage)
    ]
    return [[name, epochs[0], epochs[-1]] for name, epochs in stages]


def _without_times(record: Any) -> dict[str, Any]:
    return {k: v for k, v in asdict(record).items() if k not in NOT_COMPARED}


def _rows(history: Any) -> list[dict]:
    """Return the rows of skorch's history, without times and batches."""
    left_out = {"batches", "dur"}
    return [
        {k: v for k, v in dict(row).items() if k not in left_out} for row in history
    ]

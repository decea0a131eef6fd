"""Digests of all that a fit computes."""

import hashlib
import json
import pickle
from dataclasses import asdict
from typing import Any

import numpy as np
import torch

#: Fields of a record that are times, or that only name what the others measure.
NOT_COMPARED = {"seconds", "phase", "n_networks", "stage"}
ARRAYS = {"safe_mask_", "suggested_labels_", "label_agreement_", "label_quality_"}
ARRAYS |= {"corrected_labels_", "corrected_mask_", "transition_matrix_"}
VALUES = {"noise_rate_", "stop_epoch_", "turning_epoch_", "used_fallback_"}
VALUES |= {"n_epochs_", "is_interrupted_"}


def digest(*values: Any) -> str:
    """Return a digest of arrays, tensors, or of what JSON can store."""
    found = hashlib.sha256()
    for value in values:
        if isinstance(value, list):
            found.update(json.dumps(value, sort_keys=True).encode())
        elif value is not None:
            array = np.asarray(value)
            array = array.astype(str) if array.dtype == object else array
            found.update(f"{array.dtype} {array.shape}".encode())
            found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:16]


def random_states() -> str:
    """Return a digest of the random states of torch and numpy."""
    return digest(torch.get_rng_state(), *np.random.get_state())


def summary(clf: Any, X: Any) -> dict[str, Any]:
    """Return digests of a fitted classifier, and some of its probabilities."""
    probabilities = clf.predict_proba(X)
    stored = pickle.loads(pickle.dumps(clf))
    weights = clf.net_.module_.state_dict()
    records = [asdict(record) for record in clf.history_]
    return {
        "weights": digest(list(weights), *weights.values()),
        "probabilities": digest(probabilities),
        "some probabilities": probabilities[:20].tolist(),
        "predictions": digest(clf.predict(X)),
        "probabilities after pickle": digest(stored.predict_proba(X)),
        **{name: digest(getattr(clf, name, None)) for name in sorted(ARRAYS)},
        **{name: getattr(clf, name, None) for name in sorted(VALUES)},
        "stages": list(dict.fromkeys(record["stage"] for record in records)),
        "stage of each epoch": digest([record["stage"] for record in records]),
        "history_": digest(_without(NOT_COMPARED, records)),
        "history of skorch": digest(_without({"batches", "dur"}, clf.net_.history)),
    }


def _without(names: set[str], rows: Any) -> list[dict[str, Any]]:
    return [{k: v for k, v in row.items() if k not in names} for row in rows]

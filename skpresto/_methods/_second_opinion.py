"""The second opinion of CrossPrestopping: which labels are given around a sample."""

import math
from typing import Any, NamedTuple

import numpy as np
import torch
from sklearn.ensemble import ExtraTreesClassifier
from torch import Tensor

from skpresto._data.dataset import DatasetRows
from skpresto._data.parts import PartsRows
from skpresto._data.samples import ArrayRows, SampleRows
from skpresto._label_quality.assessor import assessor_of
from skpresto._training.request import FitRequest
from skpresto._training.trainer import Trainer

# A hundred trees have the gain of two hundred. On many features each tree takes longer,
# and fewer have nearly the same gain (benchmarks/NOTES.md).
_MOST_TREES, _FEWEST_TREES = 100, 30
_TREES_OF_ONE_FEATURE = 600
#: Values in the nodes of all trees, of eight bytes: a forest takes up to 256 MB.
_MAX_NODE_VALUES = 1 << 25
#: Rows per class from which a tree is worth growing.
_LEAST_ROWS_PER_CLASS = 10


class SecondOpinion(NamedTuple):
    """What an assessor says.

    Parameters
    ----------
    given : Tensor of shape (n_samples, n_classes), or None
        Out-of-sample probabilities of the given labels, on the device of the networks.
    assessor : classifier or None
        What predicted them, before it is cloned.
    """

    given: Tensor | None = None
    assessor: Any = None


def second_opinion(
    estimator: Any, trainer: Trainer, request: FitRequest
) -> SecondOpinion:
    """Return the probabilities that ``fit`` was given, or those of the assessor.

    Parameters
    ----------
    estimator : CrossPrestoppingClassifier
        Its ``assessor``, ``cv`` and ``n_jobs`` are used.
    trainer : Trainer
        Before training.
    request : FitRequest
        The fit.
    """
    device = trainer.labels.device
    if request.pred_proba is not None:
        return SecondOpinion(request.pred_proba.to(device))
    data, assessor = request.data, estimator.assessor
    if isinstance(assessor, str):
        assessor = trees_for(data.X, data.n_classes, estimator.n_jobs)
    if assessor is None:
        return SecondOpinion()
    owner, codes, weights = type(estimator).__name__, data.labels.numpy(), None
    if data.sample_weight is not None:
        weights = data.sample_weight.numpy()
    _check_rows(data.X, owner)
    splits = {"cv": estimator.cv, "n_jobs": estimator.n_jobs, "owner": owner}
    found = assessor_of(assessor, codes, trainer.rng, **splits)
    given = found.probabilities(
        data.X.source, codes, request.classes, trainer.rng, weights
    )
    # Processes could differ in the last bits.
    given = trainer.machinery.agreed(given)
    return SecondOpinion(torch.from_numpy(given).to(device), assessor)


def trees_for(
    X: SampleRows, n_classes: int, n_jobs: int | None = None
) -> ExtraTreesClassifier | None:
    """Return trees that cost little beside the networks; None for other than tables.

    The more features, the fewer trees, and the more classes, the fewer rows per tree.

    Parameters
    ----------
    X : SampleRows
        Training samples. A memory map would have to be read as a whole, and is left.
    n_classes : int
        Number of classes.
    n_jobs : int, default=None
        Number of trees that are grown at the same time.
    """
    if not X.is_table or isinstance(X, ArrayRows):
        return None
    (n_features,) = X.sample_shape
    n_trees = round(_TREES_OF_ONE_FEATURE / math.sqrt(n_features))
    n_trees = int(np.clip(n_trees, _FEWEST_TREES, _MOST_TREES))
    n_rows = _MAX_NODE_VALUES // (n_trees * n_classes)
    if n_rows < min(len(X), _LEAST_ROWS_PER_CLASS * n_classes):
        return None
    return ExtraTreesClassifier(
        n_trees,
        bootstrap=True,
        oob_score=True,
        max_samples=n_rows if n_rows < len(X) else None,
        n_jobs=n_jobs,
    )


def _check_rows(X: SampleRows, owner: str) -> None:
    if isinstance(X, (PartsRows, DatasetRows)):
        kind = "a Dataset" if isinstance(X, DatasetRows) else "several arrays"
        raise ValueError(
            f"{owner} needs X as one array for its assessor, but got {kind}, of which "
            "scikit-learn's classifiers cannot be trained. Predict the given labels by "
            "another model and pass fit(..., pred_proba=cross_val_predict(model, ..., "
            "method='predict_proba')), or use assessor=None."
        )

"""Selection of the epoch records that a display shows."""

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skpresto._inner_estimators import classifier_in
from skpresto.plots._axes import frame_of
from skpresto.stopping import EpochRecord


class _Phases(NamedTuple):
    """The epochs of phase I and phase II of a training, in order.

    ``extension`` are epochs of the networks of phase II before that phase, if the stop
    point was searched by another network.
    """

    one: list[EpochRecord]
    two: list[EpochRecord]
    extension: list[EpochRecord] | None = None


def path_of(
    records: Sequence[EpochRecord], stop_epoch: int | None
) -> list[EpochRecord]:
    """Return the epochs to show as one continuous training, in order.

    With a stop point, these are phase I up to the stop point, its extension if there
    is one, and phase II. Without a stop point, these are the epochs of the last stage,
    since each earlier stage trained other networks.
    """
    if stop_epoch is None:
        return [record for record in records if record.stage == records[-1].stage]
    discarded = discarded_of(records, stop_epoch)
    kept = [record for record in phase_one_of(records) if record not in discarded]
    return kept + extension_of(records, stop_epoch) + phase_two_of(records)


def phase_one_of(records: Sequence[EpochRecord]) -> list[EpochRecord]:
    """Return all epochs of phase I, those in which the stop point was searched."""
    return _phases_of(records).one


def extension_of(records: Sequence[EpochRecord], stop_epoch: int) -> list[EpochRecord]:
    """Return the epochs of other networks by which phase I was extended."""
    extension = _phases_of(records).extension or []
    return [record for record in extension if record.epoch > stop_epoch]


def phase_two_of(records: Sequence[EpochRecord]) -> list[EpochRecord]:
    """Return the epochs that trained on the selected labels only."""
    return _phases_of(records).two


def discarded_of(records: Sequence[EpochRecord], stop_epoch: int) -> list[EpochRecord]:
    """Return the epochs after the stop point of the network that searched for it."""
    one, two, extension = _phases_of(records)
    # Fold networks that were to go on with all labels have not gone back.
    if extension is None and two and two[0].epoch > stop_epoch + 1:
        return []
    return [record for record in one if record.epoch > stop_epoch]


def _phases_of(records: Sequence[EpochRecord]) -> _Phases:
    """Return the phases of the networks that were trained last.

    After a fallback, these are its networks, not the fold networks.
    """
    marked = [record for record in records if record.phase is not None]
    stages = [list(stage) for _, stage in groupby(marked, key=attrgetter("stage"))]
    two = stages.pop() if stages and stages[-1][0].phase == 2 else []
    one = stages.pop() if stages and stages[-1][0].phase == 1 else []
    # The stop point of several fold networks may be searched by a single network.
    is_searched = stages and stages[-1][0].n_networks == 1 and stages[-1][0].phase == 1
    return _Phases(stages[-1], two, one) if is_searched else _Phases(one, two)


def classifier_with_history(estimator: Any, owner: str) -> Any:
    """Return the classifier; raise if it is not fitted, or is not of this package."""
    classifier = classifier_in(estimator, owner)
    check_is_fitted(classifier)
    if not hasattr(classifier, "history_"):
        raise ValueError(
            f"{owner} needs a classifier of skpresto, whose history_ it plots, but "
            f"{type(classifier).__name__} has none. Pass a fitted "
            "PrestoppingClassifier or DefaultClassifier."
        )
    return classifier


def classifier_with_stop_point(estimator: Any, owner: str) -> Any:
    """Return the classifier; raise if it is not fitted or has no stop point."""
    estimator = classifier_with_history(estimator, owner)
    if not hasattr(estimator, "stop_epoch_"):
        raise ValueError(
            f"{owner} needs a classifier with a stop point, but "
            f"{type(estimator).__name__} has no stop point. Pass a fitted "
            "PrestoppingClassifier, or use MemorizationDisplay."
        )
    return estimator


def require_truth(records: Sequence[EpochRecord], owner: str) -> None:
    """Raise if memorization precision and recall were not recorded."""
    if not records:
        raise ValueError(
            f"{owner} needs at least one record of an epoch, but got none. Pass the "
            "history_ of a fitted classifier."
        )
    if any(record.memorization_precision is None for record in records):
        raise ValueError(
            f"{owner} needs to know which labels are correct, but the records contain "
            "no memorization precision and recall. Train with fit(X, y, y_true=...), "
            "where y_true are the true labels; they are used for these measurements "
            "only, not for training."
        )


def frame_of_epochs(records: Sequence[EpochRecord], **columns: Any) -> Any:
    """Return columns as a DataFrame, beside the epoch and the stage of each record."""
    epochs = [record.epoch for record in records]
    stages = [record.stage for record in records]
    return frame_of({"epoch": epochs, "stage": stages, **columns})


def values_of(records: Sequence[EpochRecord], field: str) -> NDArray[np.float64]:
    """Return one field of the records, with nan where it was not recorded."""
    return np.array([getattr(record, field) for record in records], dtype=np.float64)

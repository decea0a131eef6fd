"""Label quality scores of other authors, recorded in a run of plain training."""

import numpy as np
import torch
from stopwatch import Stopwatch
from torch import Tensor

from skpresto import DefaultClassifier
from skpresto._classifier.outcome import Outcome
from skpresto._data.batch import Batch
from skpresto._label_quality.recorder import Recorder
from skpresto._methods._report import early_visits, report_labels
from skpresto._training.policy import LearnFromAll
from skpresto._training.request import FitRequest
from skpresto._training.stage import Stage
from skpresto._training.trainer import Trainer


class Margins(Recorder):
    """Sum what two scores need over all visits of a training.

    The area under the margin (AUM) is the mean over visits of the logit of the given
    label less the largest other one. The log margin is the logarithm of the mean
    probability of the given label less the largest logarithm of another class's.

    Parameters
    ----------
    labels : Tensor of shape (n_samples,)
        Given labels.
    n_classes : int
        Number of classes.
    stopwatch : Stopwatch
        Measures the time that this takes.
    """

    def __init__(self, labels: Tensor, n_classes: int, stopwatch: Stopwatch) -> None:
        self.labels = labels
        self.stopwatch = stopwatch
        self._margins = torch.zeros(len(labels))
        self._probabilities = torch.zeros((len(labels), n_classes))
        self._n_visits = torch.zeros(len(labels))

    def record(self, batch: Batch) -> None:
        """Add a visit to each sample of a batch of one network."""
        with self.stopwatch:
            self._add(batch.index, batch.logits[0])

    def _add(self, index: Tensor, logits: Tensor) -> None:
        self._margins.index_add_(0, index, _margin(logits, self.labels[index]))
        self._probabilities.index_add_(0, index, torch.softmax(logits, dim=1))
        self._n_visits.index_add_(0, index, torch.ones(len(index)))

    def scores(self) -> dict[str, np.ndarray]:
        """Return the scores by name, low where a label is likely wrong."""
        n_visits = self._n_visits.clamp(min=1)
        smallest = torch.finfo(torch.float32).tiny
        means = (self._probabilities / n_visits.unsqueeze(1)).clamp(min=smallest)
        return {
            "aum": (self._margins / n_visits).numpy(),
            "log_margin": _margin(means.log(), self.labels).numpy(),
        }


def _margin(values: Tensor, labels: Tensor) -> Tensor:
    """Return the value of the label less the largest other one."""
    column = labels.unsqueeze(1)
    others = values.scatter(1, column, -torch.inf).amax(dim=1)
    return values.gather(1, column).squeeze(1) - others


class ScoredDefaultClassifier(DefaultClassifier):
    """Default, with the scores of :class:`Margins` as ``scores_``.

    The training is that of Default. The time for the scores is added to the attribute
    ``stopwatch``.
    """

    stopwatch = Stopwatch()

    def _train(self, trainer: Trainer, request: FitRequest) -> Outcome:
        visits = early_visits(trainer, self.max_epochs)
        margins = Margins(trainer.labels, trainer.data.n_classes, self.stopwatch)
        trainer.start()
        recorders = [visits, margins]
        stage = Stage("train", LearnFromAll(), self.max_epochs, recorders=recorders)
        trainer.run(stage)
        with self.stopwatch:
            scores = margins.scores()
        return Outcome(report_labels(trainer, visits), {"scores_": scores})


def with_scores(
    classifier: DefaultClassifier, stopwatch: Stopwatch
) -> DefaultClassifier:
    """Return the same classifier, which also records the scores."""
    scored = ScoredDefaultClassifier(**classifier.get_params(deep=False))
    scored.stopwatch = stopwatch
    return scored

"""Running means of out-of-fold probabilities."""

import torch
from torch import Tensor

from skpresto._data.batch import Batch
from skpresto._label_quality.blocks import blocks, row_sums
from skpresto._label_quality.recorder import Recorder
from skpresto._label_quality.temperature import scale_temperature

# Lower bound of a probability in a geometric mean, so that no single visit excludes a
# class.
_MIN_PROBABILITY = 1e-6
#: Up to this many values, means are stored in single precision: twice 256 MB.
MAX_SINGLE = 1 << 26


class OutOfFoldProbabilities(Recorder):
    """Average, per sample, the probabilities of the network not trained on it.

    A network trained on a wrong label comes to predict it, so its own predictions are
    biased towards the given labels. Here each of several networks leaves one fold out,
    and the class probabilities that it predicts for that fold during training are
    averaged with exponentially decaying weights.

    While networks are trained, the arithmetic mean is used (:attr:`mean`): it is
    conservative, since one visit with a high probability raises it. In the end
    (:meth:`scaled`) the geometric mean is used, with temperature scaling: it is
    strict, since a class that has become improbable is excluded although early visits
    gave it a high probability.

    Parameters
    ----------
    labels : Tensor of shape (n_samples,)
        Given labels.
    n_classes : int
        Number of classes.
    q : int
        The latest visit has weight 1/q.

    Attributes
    ----------
    mean : Tensor of shape (n_samples, n_classes)
        Weighted sums of probabilities, in proportion to their arithmetic mean. Rows of
        samples that were not visited are zero.

    Notes
    -----
    Eight bytes per sample and class are used, and four beyond :data:`MAX_SINGLE`
    values, which are then stored in half precision.
    """

    _state = ("mean", "_log_mean")

    def __init__(self, labels: Tensor, n_classes: int, q: int) -> None:
        self.labels = labels
        self.q = q
        is_large = len(labels) * n_classes > MAX_SINGLE
        self.mean = torch.zeros(
            (len(labels), n_classes),
            dtype=torch.float16 if is_large else torch.float32,
            device=labels.device,
        )
        self._log_mean = torch.zeros_like(self.mean)

    def add(self, index: Tensor, probability: Tensor) -> None:
        """Add probabilities of shape (b, n_classes) for the samples at ``index``."""
        probability = probability.to(torch.float32)
        # Rows need not sum to one, so the first visit is not scaled up.
        self._move(self.mean, index, probability)
        logarithm = probability.clamp(min=_MIN_PROBABILITY).log_()
        self._move(self._log_mean, index, logarithm)

    def _move(self, means: Tensor, index: Tensor, values: Tensor) -> None:
        before = means.index_select(0, index).to(values.dtype)
        means.index_copy_(0, index, before.lerp_(values, 1 / self.q).to(means.dtype))

    def record(self, batch: Batch) -> None:
        """Add what the network that is not trained on each sample predicts.

        Of samples on which all are trained, it is the last one that is taken.
        """
        assert batch.fold is not None
        samples = torch.arange(len(batch.index), device=batch.index.device)
        out_of_fold = batch.logits[batch.fold, samples]
        self.add(batch.index, torch.softmax(out_of_fold, dim=1))

    def is_known(self) -> Tensor:
        """Return for which samples there are probabilities."""
        return row_sums(self.mean) > 0

    def scaled(self) -> Tensor:
        """Return geometric means after temperature scaling.

        Returns
        -------
        probability : Tensor of shape (n_samples, n_classes)
            Rows of samples that were not visited are zero. They take the memory of the
            logarithms, so nothing can be added afterwards.
        """
        totals = row_sums(self.mean)
        logits = self._log_mean
        at_least = totals.clamp(min=torch.finfo(totals.dtype).tiny).unsqueeze(1)
        for part in blocks(*logits.shape):
            logits[part] = logits[part].float().div_(at_least[part])
        return scale_temperature(logits, self.labels, is_known=totals > 0)

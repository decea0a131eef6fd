"""The probability of each given label over the epochs, recorded on request."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from skpresto._data.batch import Batch
from skpresto._label_quality.recorder import Recorder

# Probabilities are stored as 0 to 254, one byte per sample and epoch.
_SCALE = 254
_NOT_VISITED = 255


class Trajectories(Recorder):
    """Store the probability of the given label at each visit, of stages with a phase.

    It is that of the network which is not trained on the sample, in cross-fitting, and
    else the mean of all networks. An epoch that is repeated, by new networks or after
    going back to the stop point, replaces what was recorded of it and of later ones.
    """

    _state = ("_epochs", "_is_open")

    def __init__(self) -> None:
        self._n_samples = 0
        self._epochs: list[Tensor] = []
        self._is_open = False

    def begin(self, n_samples: int) -> None:
        """Prepare for a fit."""
        self._n_samples = n_samples

    def record(self, batch: Batch) -> None:
        """Add a visit to each sample of a batch."""
        if not self._is_open:
            shape, device = (self._n_samples,), batch.index.device
            empty = torch.full(shape, _NOT_VISITED, dtype=torch.uint8, device=device)
            self._epochs[batch.epoch :] = [empty]
            self._is_open = True
        probability = torch.softmax(batch.logits, dim=2)
        labels = batch.labels.expand(len(probability), -1).unsqueeze(2)
        of_label = probability.gather(2, labels).squeeze(2)
        if batch.fold is None:
            chosen = of_label.mean(dim=0)
        else:
            samples = torch.arange(len(batch.fold), device=batch.fold.device)
            chosen = of_label[batch.fold, samples]
        rounded = (chosen * _SCALE).round_().to(torch.uint8)
        self._epochs[-1].index_copy_(0, batch.index, rounded)

    def end_epoch(self) -> None:
        """Let the next batch begin a new epoch."""
        self._is_open = False

    def probabilities(self) -> NDArray[np.float32] | None:
        """Return what was recorded, None without any.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_epochs), dtype=float32
            Rounded to 1/254; NaN where a sample was held out.
        """
        if not self._epochs:
            return None
        stored = torch.stack(self._epochs, dim=1).cpu().numpy()
        values = stored.astype(np.float32) / np.float32(_SCALE)
        values[stored == _NOT_VISITED] = np.nan
        return values

"""The noise rate, estimated in each epoch from a mixture of accumulated losses."""

import warnings
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from torch import Tensor

from skpresto._data.batch import Batch
from skpresto._training.policy import LearnFromAll, Selection

#: Smallest variance of a group, relative to that of all losses.
_SMALLEST_VARIANCE = 1e-6


class LearnFromAllAndEstimate(LearnFromAll):
    """Learn from every sample, and estimate the noise rate after each epoch.

    Parameters
    ----------
    labels : Tensor of shape (n_samples,)
        Given labels; losses are added up on their device.

    Attributes
    ----------
    total_losses : Tensor of shape (n_samples,)
        Sum of the losses at all visits, of the mean over networks; nan before the first
        visit.
    """

    _state = ("total_losses",)

    def __init__(self, labels: Tensor) -> None:
        self.total_losses = torch.full_like(labels, torch.nan, dtype=torch.float32)

    def select(self, batch: Batch) -> Selection:
        """Return the whole batch, and add its losses to those before."""
        before = self.total_losses.index_select(0, batch.index).nan_to_num(nan=0.0)
        losses = batch.losses.mean(dim=0).to(before.dtype)
        self.total_losses.index_copy_(0, batch.index, before + losses)
        return Selection()

    def end_epoch(self) -> dict[str, Any]:
        """Return the noise rate of the losses so far, for the record."""
        totals = self.total_losses.cpu().double().numpy()
        visited = totals[~np.isnan(totals)]
        return {"estimated_noise_rate": noise_rate_of_losses(visited)}


def noise_rate_of_losses(losses: NDArray[np.float64]) -> float:
    """Return the mean probability of the group of large losses.

    Two normal distributions are fitted to the losses by expectation maximization, which
    begins with the losses below and above the mean. It is 0 if all losses are equal.

    Parameters
    ----------
    losses : ndarray of shape (n_samples,)
        A loss of each sample, summed up over the epochs.

    Examples
    --------
    >>> round(noise_rate_of_losses(np.array([1.0, 1.1, 0.9, 9.0])), 3)
    0.25
    """
    # Here, since it takes a tenth of a second, which few fits need.
    from sklearn.mixture import GaussianMixture

    spread = losses.std()
    if not np.isfinite(spread) or spread <= 1e-12 * np.abs(losses).max():
        return 0.0
    values = (losses - losses.mean()) / spread
    groups = values[values <= 0], values[values > 0]
    variances = np.array([group.var() for group in groups]) + _SMALLEST_VARIANCE
    mixture = GaussianMixture(
        2,
        covariance_type="spherical",
        reg_covar=_SMALLEST_VARIANCE,
        weights_init=[len(group) / len(values) for group in groups],
        means_init=[[group.mean()] for group in groups],
        precisions_init=1 / variances,
        random_state=0,
    )
    with warnings.catch_warnings():  # an estimate that still moves a little is as good
        warnings.simplefilter("ignore", ConvergenceWarning)
        mixture.fit(values[:, None])
    of_large = mixture.means_.ravel().argmax()
    return float(mixture.predict_proba(values[:, None])[:, of_large].mean())

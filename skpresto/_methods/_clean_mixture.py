"""How likely labels are correct, by a mixture of two groups of losses."""

import warnings

import numpy as np
import torch
from sklearn.exceptions import ConvergenceWarning
from torch import Tensor

from skpresto._data.features import copied, map_parts, on_device
from skpresto._data.training_data import PredictionRows
from skpresto._networks.forward import outputs_of, require_predictions, sample_losses
from skpresto._training.trainer import Trainer

#: As in the authors' release of DivideMix.
_MIXTURE = {"n_components": 2, "max_iter": 10, "tol": 1e-2, "reg_covar": 5e-4}


def clean_probabilities(losses: Tensor) -> Tensor:
    """Return the probability that each loss is of the group of small losses.

    A mixture of two normal distributions is fitted to the losses, scaled to 0 to 1.

    Parameters
    ----------
    losses : Tensor of shape (n_samples,)
        Losses; if they are all equal, the probability is 1.

    Examples
    --------
    >>> clean_probabilities(torch.tensor([0.0, 0.1, 0.1, 5.0])).round().tolist()
    [1.0, 1.0, 1.0, 0.0]
    """
    # Here, since it takes a tenth of a second, which few fits need.
    from sklearn.mixture import GaussianMixture

    values = losses.cpu().double().numpy()
    spread = np.ptp(values)
    if spread <= 1e-12 * np.abs(values).max():
        return torch.ones_like(losses)
    scaled = ((values - values.min()) / spread)[:, None]
    mixture = GaussianMixture(**_MIXTURE, random_state=0)
    with warnings.catch_warnings():  # an estimate that still moves a little is as good
        warnings.simplefilter("ignore", ConvergenceWarning)
        mixture.fit(scaled)
    probability = mixture.predict_proba(scaled)[:, mixture.means_.argmin()]
    return torch.from_numpy(probability).to(losses)


def losses_of_networks(trainer: Trainer) -> tuple[Tensor, Tensor]:
    """Return the positions of all samples with a weight, and their losses.

    Returns
    -------
    index : Tensor of shape (n,)
        Positions.
    losses : Tensor of shape (k, n)
        Losses for each network, in evaluation mode.
    """
    net, data = trainer.net, trainer.data
    rows = data.rows_with_weight
    labels = data.labels if rows is None else data.labels[rows]
    trainer.check_networks()
    net._set_training(False)
    parts = []
    with torch.no_grad():
        for batch in net.get_iterator(PredictionRows(data.X, rows, labels)):
            features, targets = on_device(tuple(batch), net.device)
            parts.append(
                torch.stack(
                    [_losses(trainer, n, features, targets) for n in net.networks]
                )
            )
    losses = torch.cat(parts, dim=1)
    require_predictions(~losses.isfinite().all(dim=0))
    index = torch.arange(len(labels)) if rows is None else rows
    return index.to(losses.device), losses


def _losses(
    trainer: Trainer, network: torch.nn.Module, features: object, targets: Tensor
) -> Tensor:
    net, inputs = trainer.net, map_parts(copied, features)  # modules may work in place
    outputs = outputs_of(network, inputs, net.autocast, net.device)
    return sample_losses(net.criterion_, outputs.float(), targets)

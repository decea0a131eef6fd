"""Network for tabular data."""

from collections.abc import Sequence

from torch import nn

from skpresto.modules._shared import FastDropout, check_size


class MLP(nn.Sequential):
    """Fully connected network for tabular data.

    Each hidden layer is linear, BatchNorm, ReLU and dropout, in this order.

    Parameters
    ----------
    n_features : int
        Number of columns of ``X``.
    n_classes : int
        Number of classes.
    hidden : sequence of int, default=(256, 256)
        Width of each hidden layer.
    dropout : float, default=0.1
        Dropout probability after each hidden layer.

    Examples
    --------
    >>> import torch
    >>> from skpresto.modules import MLP
    >>> MLP(n_features=4, n_classes=3, hidden=(16,))(torch.zeros(2, 4)).shape
    torch.Size([2, 3])
    """

    def __init__(
        self,
        n_features: int,
        n_classes: int,
        hidden: Sequence[int] = (256, 256),
        dropout: float = 0.1,
    ) -> None:
        layers: list[nn.Module] = []
        width = check_size("MLP", "n_features", n_features)
        n_classes = check_size("MLP", "n_classes", n_classes)
        for next_width in hidden:
            layers += [
                nn.Linear(width, next_width),
                nn.BatchNorm1d(next_width),
                nn.ReLU(),
                FastDropout(dropout),
            ]
            width = next_width
        super().__init__(*layers, nn.Linear(width, n_classes))

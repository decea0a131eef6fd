"""Built-in networks. All return logits."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn


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
        Share of hidden units left out in training.

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
        width = n_features
        for next_width in hidden:
            layers += [
                nn.Linear(width, next_width),
                nn.BatchNorm1d(next_width),
                nn.ReLU(),
                nn.Dropout(dropout),
            ]
            width = next_width
        super().__init__(*layers, nn.Linear(width, n_classes))


class SmallCNN(nn.Module):
    """Small convolutional network for images of any size.

    Each block is two 3x3 convolutions with BatchNorm and ReLU; blocks are separated
    by 2x2 pooling, and the last one is averaged over the image.

    Parameters
    ----------
    input_shape : tuple of int
        Channels, height and width of an image.
    n_classes : int
        Number of classes.
    widths : sequence of int, default=(32, 64, 128)
        Channels of each block.
    dropout : float, default=0.1
        Share of the averaged features left out in training.

    Examples
    --------
    >>> import torch
    >>> from skpresto.modules import SmallCNN
    >>> SmallCNN(input_shape=(1, 28, 28), n_classes=10)(torch.zeros(2, 1, 28, 28)).shape
    torch.Size([2, 10])
    """

    def __init__(
        self,
        input_shape: tuple[int, int, int],
        n_classes: int,
        widths: Sequence[int] = (32, 64, 128),
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        blocks: list[nn.Module] = []
        channels = input_shape[0]
        for width in widths:
            blocks += [
                *_convolution(channels, width),
                *_convolution(width, width),
                nn.MaxPool2d(2, ceil_mode=True),
            ]
            channels = width
        self.blocks = nn.Sequential(*blocks[:-1])
        self.head = nn.Sequential(nn.Dropout(dropout), nn.Linear(channels, n_classes))

    def forward(self, X: Tensor) -> Tensor:
        """Return one logit a class."""
        return self.head(torch.mean(self.blocks(X), dim=(2, 3)))


def _convolution(n_inputs: int, n_outputs: int) -> list[nn.Module]:
    return [
        nn.Conv2d(n_inputs, n_outputs, kernel_size=3, padding=1, bias=False),
        nn.BatchNorm2d(n_outputs),
        nn.ReLU(),
    ]

"""Small network for images."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from skpresto.modules._shared import FastDropout, check_input_shape, check_size


class SmallCNN(nn.Module):
    """Small convolutional network for images of any size.

    Each block is two 3x3 convolutions with BatchNorm and ReLU. There is 2x2 max pooling
    between blocks, and average pooling over the whole image after the last one.

    Parameters
    ----------
    input_shape : tuple of int
        Channels, height and width of an image.
    n_classes : int
        Number of classes.
    widths : sequence of int, default=(32, 64, 128)
        Channels of each block.
    dropout : float, default=0.1
        Dropout probability before the last layer.

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
        n_classes = check_size("SmallCNN", "n_classes", n_classes)
        blocks: list[nn.Module] = []
        channels, _, _ = check_input_shape("SmallCNN", input_shape)
        for width in widths:
            blocks += [
                *_convolution(channels, width),
                *_convolution(width, width),
                nn.MaxPool2d(2, ceil_mode=True),
            ]
            channels = width
        self.blocks = nn.Sequential(*blocks[:-1])
        self.head = nn.Sequential(FastDropout(dropout), nn.Linear(channels, n_classes))

    def forward(self, X: Tensor) -> Tensor:
        """Return one logit per class."""
        return self.head(torch.mean(self.blocks(X), dim=(2, 3)))


def _convolution(n_inputs: int, n_outputs: int) -> list[nn.Module]:
    return [
        nn.Conv2d(n_inputs, n_outputs, kernel_size=3, padding=1, bias=False),
        nn.BatchNorm2d(n_outputs),
        nn.ReLU(),
    ]

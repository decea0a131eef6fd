"""VGG-19, a network of the Prestopping paper."""

import math

from torch import Tensor, nn

from skpresto.modules._shared import FastDropout, check_input_shape, check_size

#: Channels of the convolutions of each block; 2x2 pooling follows each block.
_BLOCKS = ((64,) * 2, (128,) * 2, (256,) * 4, (512,) * 4, (512,) * 4)


class VGG19(nn.Module):
    """VGG-19 with BatchNorm: sixteen convolutions, three fully connected layers.

    Configuration E of the original [1]_, with BatchNorm after each layer but the
    last, as in the Prestopping paper for 32x32 and 64x64 images. Images are halved by
    pooling five times; odd sizes are rounded up, so that any size is accepted.

    Parameters
    ----------
    input_shape : tuple of int
        Channels, height and width of an image.
    n_classes : int
        Number of classes.
    hidden : int, default=4096
        Width of the two hidden fully connected layers. They have half of the
        parameters on small images, for which 512 is common and trains faster.
    dropout : float, default=0.1
        Dropout probability after these two layers: 0.1 in the Prestopping paper, 0.5 in
        the original.

    References
    ----------
    .. [1] K. Simonyan, A. Zisserman: Very Deep Convolutional Networks for Large-Scale
       Image Recognition. ICLR 2015.

    Notes
    -----
    Without BatchNorm, the number of parameters is that of the original: 20,024,384 in
    the convolutions, including biases, and 143,667,240 in total for images of 3x224x224
    and 1000 classes. For 3x32x32 and ten classes the whole network has 38,975,306.
    Weights are initialized as in He et al. (2015), because the initialization of the
    original requires training a shallower network first.

    Examples
    --------
    >>> import torch
    >>> from skpresto.modules import VGG19
    >>> network = VGG19(input_shape=(3, 32, 32), n_classes=10, hidden=64)
    >>> network(torch.zeros(2, 3, 32, 32)).shape
    torch.Size([2, 10])
    """

    def __init__(
        self,
        input_shape: tuple[int, int, int],
        n_classes: int,
        hidden: int = 4096,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        n_classes = check_size("VGG19", "n_classes", n_classes)
        channels, height, width = check_input_shape("VGG19", input_shape)
        layers: list[nn.Module] = []
        for block in _BLOCKS:
            for n_outputs in block:
                layers += _convolution(channels, n_outputs)
                channels = n_outputs
            layers.append(nn.MaxPool2d(2, ceil_mode=True))
        self.features = nn.Sequential(*layers)
        scale = 2 ** len(_BLOCKS)
        n_features = channels * math.ceil(height / scale) * math.ceil(width / scale)
        self.head = nn.Sequential(
            nn.Flatten(),
            *_fully_connected(n_features, hidden, dropout),
            *_fully_connected(hidden, hidden, dropout),
            nn.Linear(hidden, n_classes),
        )

    def forward(self, X: Tensor) -> Tensor:
        """Return one logit per class."""
        return self.head(self.features(X))


def _convolution(n_inputs: int, n_outputs: int) -> list[nn.Module]:
    convolution = nn.Conv2d(n_inputs, n_outputs, kernel_size=3, padding=1)
    nn.init.kaiming_normal_(convolution.weight, nonlinearity="relu")
    return [convolution, nn.BatchNorm2d(n_outputs), nn.ReLU()]


def _fully_connected(n_inputs: int, n_outputs: int, dropout: float) -> list[nn.Module]:
    linear = nn.Linear(n_inputs, n_outputs)
    nn.init.kaiming_normal_(linear.weight, nonlinearity="relu")
    return [linear, nn.BatchNorm1d(n_outputs), nn.ReLU(), FastDropout(dropout)]

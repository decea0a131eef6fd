"""DenseNet, a network of the Prestopping paper."""

import torch
from torch import Tensor, nn

from skpresto.modules._shared import FastDropout, check_input_shape, check_size

#: Channels of the first convolution.
_N_FIRST_CHANNELS = 16


class DenseNet(nn.Module):
    """Densely connected network for small images, as in the Prestopping paper.

    Three blocks of 3x3 convolutions, in which every layer takes the outputs of all
    layers before it [1]_. This is the basic variant, without bottleneck layers and
    compression. With the defaults and 32x32 colour images of ten classes it has
    1,019,722 parameters, the "1.0M" of the original. Use it to reproduce published
    numbers; :class:`SmallCNN` is many times faster.

    Parameters
    ----------
    input_shape : tuple of int
        Channels, height and width of an image, at least 4x4 pixels.
    n_classes : int
        Number of classes.
    depth : int, default=40
        Number of layers, 3 n + 4 with n layers per block: 10, 25, 40, 100, ...
    growth_rate : int, default=12
        Number of channels that each layer adds.
    dropout : float, default=0.1
        Dropout probability after each convolution but the first.

    References
    ----------
    .. [1] G. Huang, Z. Liu, L. van der Maaten, K. Weinberger: Densely Connected
       Convolutional Networks. CVPR 2017.

    Notes
    -----
    ``depth`` and ``growth_rate`` are L and k of the original. As there, convolutions
    have no bias, since BatchNorm follows, and weights are initialized as in He et al.
    (2015).

    Examples
    --------
    >>> from skpresto import PrestoppingClassifier
    >>> from skpresto.modules import DenseNet
    >>> network = DenseNet(input_shape=(3, 32, 32), n_classes=10)
    >>> sum(weights.numel() for weights in network.parameters())
    1019722

    Classifiers set the shape and the number of classes from the data:

    >>> clf = PrestoppingClassifier(DenseNet, module__depth=25, max_epochs=120)
    """

    def __init__(
        self,
        input_shape: tuple[int, int, int],
        n_classes: int,
        depth: int = 40,
        growth_rate: int = 12,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        n_classes = check_size("DenseNet", "n_classes", n_classes)
        channels, _, _ = check_input_shape("DenseNet", input_shape, min_size=4)
        n_layers = _n_layers_per_block(depth)
        layers: list[nn.Module] = [_convolution(channels, _N_FIRST_CHANNELS)]
        channels = _N_FIRST_CHANNELS
        for block in range(3):
            if block > 0:
                layers.append(_transition(channels, dropout))
            for _ in range(n_layers):
                layers.append(_DenseLayer(channels, growth_rate, dropout))
                channels += growth_rate
        self.features = nn.Sequential(*layers, nn.BatchNorm2d(channels), nn.ReLU())
        self.head = nn.Linear(channels, n_classes)

    def forward(self, X: Tensor) -> Tensor:
        """Return one logit per class."""
        return self.head(torch.mean(self.features(X), dim=(2, 3)))


class _DenseLayer(nn.Sequential):
    """A layer that appends its output to the channels of its input."""

    def __init__(self, n_inputs: int, growth_rate: int, dropout: float) -> None:
        super().__init__(
            nn.BatchNorm2d(n_inputs),
            nn.ReLU(),
            _convolution(n_inputs, growth_rate),
            FastDropout(dropout),
        )

    def forward(self, X: Tensor) -> Tensor:
        return torch.cat([X, super().forward(X)], dim=1)


def _n_layers_per_block(depth: int) -> int:
    """Return n of ``depth = 3 n + 4``; 4 are the transitions, first layer and head."""
    n_layers, rest = divmod(depth - 4, 3)
    if n_layers < 1 or rest:
        lower = 3 * max(n_layers, 1) + 4
        raise ValueError(
            f"DenseNet needs depth to be 3 n + 4 with n layers per block, but got "
            f"depth={depth!r}. Use {lower} or {lower + 3}."
        )
    return n_layers


def _transition(n_channels: int, dropout: float) -> nn.Module:
    """Return the layers between two blocks: a 1x1 convolution and 2x2 pooling."""
    return nn.Sequential(
        nn.BatchNorm2d(n_channels),
        nn.ReLU(),
        _convolution(n_channels, n_channels, kernel_size=1),
        FastDropout(dropout),
        nn.AvgPool2d(2),
    )


def _convolution(n_inputs: int, n_outputs: int, kernel_size: int = 3) -> nn.Module:
    convolution = nn.Conv2d(
        n_inputs, n_outputs, kernel_size, padding=kernel_size // 2, bias=False
    )
    nn.init.kaiming_normal_(convolution.weight, nonlinearity="relu")
    return convolution

"""What the built-in networks share: dropout, and checks of their sizes."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import torch
from torch import Tensor, nn

#: Of so many random bits a value is dropped or kept.
_BITS = 16


class FastDropout(nn.Dropout):
    """Dropout that takes 16 random bits for each value, half the time of torch's.

    On the CPU, :class:`torch.nn.Dropout` draws a number in double precision for each
    value, which takes about as long as the matrix product before it. Here a value is
    dropped if 16 bits, as a whole number, are below ``65536 * p``, so the probability
    is that of ``p`` rounded to 16 bits, and kept values are scaled to the same mean.

    Other devices and compilers have fast kernels of their own, so torch's dropout is
    used there, and with ``inplace=True``.

    Parameters
    ----------
    p : float, default=0.5
        Probability with which a value is set to zero in training mode.
    inplace : bool, default=False
        Whether to change the input.

    Attributes
    ----------
    generator : torch.Generator or None
        Draws the bits; None is torch's default generator.

    Examples
    --------
    >>> import torch
    >>> from skpresto.modules import FastDropout
    >>> dropout = FastDropout(0.25)
    >>> dropout(torch.ones(1000)).unique()
    tensor([0.0000, 1.3333])
    >>> dropout.eval()(torch.ones(2))
    tensor([1., 1.])
    """

    generator: torch.Generator | None = None

    def forward(self, X: Tensor) -> Tensor:
        """Return values of which some are zero, in training mode."""
        if torch.compiler.is_compiling() or not self.training or self.inplace:
            return super().forward(X)
        n_dropped = round(self.p * (1 << _BITS))
        if not (X.is_cpu and 0 < n_dropped < 1 << _BITS):
            return super().forward(X)
        # Four numbers of 16 bits from each of 64, beginning at the lowest of int16.
        drawn = torch.empty(-(-X.numel() // 4), dtype=torch.int64, device=X.device)
        drawn.random_(-(1 << 63), None, generator=self.generator)
        bits = drawn.view(torch.int16)[: X.numel()].view(X.shape)
        is_kept = bits >= n_dropped - (1 << _BITS - 1)
        return X * (is_kept * (1 / (1 - n_dropped / (1 << _BITS)))).to(X.dtype)


def check_size(network: str, name: str, size: Any) -> int:
    """Return a number of features, classes or units, and raise if it is not one."""
    if not isinstance(size, Integral) or size < 1:
        raise ValueError(f"{network} needs {name} to be a positive int, got {size!r}.")
    return int(size)


def check_input_shape(
    network: str, input_shape: Any, min_size: int = 1
) -> tuple[int, int, int]:
    """Return channels, height and width, and raise if they are not those of images."""
    is_sequence = isinstance(input_shape, Sequence) and not isinstance(input_shape, str)
    shape = tuple(input_shape) if is_sequence else input_shape
    is_size = is_sequence and all(isinstance(n, Integral) and int(n) > 0 for n in shape)
    if not is_size or len(shape) != 3:
        raise ValueError(
            f"{network} needs images, input_shape=(channels, height, width), but got "
            f"input_shape={shape}. Use MLP for tabular data, or reshape X to "
            "(n_samples, channels, height, width)."
        )
    if min(shape[1:]) < min_size:
        raise ValueError(
            f"{network} needs images of at least {min_size} x {min_size} pixels, but "
            f"got input_shape={shape}. Resize the images, or use SmallCNN, which "
            "accepts any size."
        )
    return shape

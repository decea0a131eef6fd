"""Second views of samples: features changed at random, for the same label."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from skpresto._data.features import copied, map_parts, on_device, shapes_of
from skpresto._sklearn import StrOptions

#: The parameter ``augment`` of methods that compare two views of a sample.
AUGMENT_CONSTRAINT = [StrOptions({"auto"}), callable, None]
#: Images are moved by at most this fraction of their sides, as 4 pixels of 32.
_LARGEST_SHIFT = 1 / 8


def flips_and_crops(X: Tensor) -> Tensor:
    """Mirror half of the images, and move each within a border of zeros.

    Images are moved by up to an eighth of their sides.

    Parameters
    ----------
    X : Tensor of shape (n_samples, channels, height, width)
        Images.
    """
    n_samples, _, height, width = X.shape
    by_y, by_x = int(height * _LARGEST_SHIFT), int(width * _LARGEST_SHIFT)
    # Drawn on the CPU, to be the same on all devices.
    is_mirrored = torch.rand(n_samples, 1) < 0.5
    from_y = torch.randint(2 * by_y + 1, (n_samples, 1))
    from_x = torch.randint(2 * by_x + 1, (n_samples, 1))
    x, y = torch.arange(width), torch.arange(height)
    columns = torch.where(is_mirrored, x.flip(0), x) + from_x
    rows, columns, sample = on_device(
        (y + from_y, columns, torch.arange(n_samples)), X.device
    )
    padded = torch.nn.functional.pad(X, (by_x, by_x, by_y, by_y))
    places = sample[:, None, None], rows[:, :, None], columns[:, None, :]
    return padded.movedim(1, 3)[places].movedim(3, 1).contiguous()


class Augment:
    """Make second views of batches with a function of the user, and check them.

    Parameters
    ----------
    function : callable
        Maps the features of a batch, as the module gets them, to features of the same
        shapes.
    """

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def __call__(self, features: Any) -> Any:
        """Return another view of the features, which are not changed."""
        changed = self.function(map_parts(copied, features))
        expected, got = _shapes_of(features), _shapes_of(changed)
        if got != expected:
            raise ValueError(
                "augment must return features of the same shape and kind as the batch "
                f"that it is given, here {expected}, got {got}. Return another view of "
                "each sample, in the same order, or use augment=None."
            )
        return changed


def augment_of(augment: Any, sample_shape: Any) -> Augment | None:
    """Return what makes second views of samples; None if there are none.

    Parameters
    ----------
    augment : callable, "auto" or None
        Parameter of an estimator. "auto" stands for flips and crops of images, and for
        None otherwise.
    sample_shape : tuple of int, or other
        Shape of a sample; images have three dimensions.
    """
    if augment is None:
        return None
    if augment != "auto":
        return Augment(augment)
    is_image = isinstance(sample_shape, tuple) and len(sample_shape) == 3
    is_image = is_image and all(isinstance(size, int) for size in sample_shape)
    return Augment(flips_and_crops) if is_image else None


def _shapes_of(features: Any) -> Any:
    try:
        return shapes_of(features)
    except AttributeError:  # a part that is no tensor
        return f"a {type(features).__name__}"

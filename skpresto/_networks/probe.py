"""Try a new network and a criterion on a few samples, before they are trained."""

import copy
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

import torch
from torch import Tensor, nn

from skpresto._data.collate import CollatePairs
from skpresto._data.features import copied, map_parts
from skpresto._data.samples import SampleRows
from skpresto._data.training_data import PredictionRows
from skpresto._device import kept_random_states
from skpresto._networks.forward import check_names, check_one_per_sample, outputs_of
from skpresto._warn import warn_caller
from skpresto.exceptions import MismatchWarning

#: Samples with which a new module is tried out.
N_PROBED = 2
# Largest deviation from 1 of a sum of probabilities, with bfloat16 inside, too.
_TOLERANCE = 0.01


def probe_batch(X: SampleRows, collate_fn: CollatePairs | None) -> Any:
    """Return the features of the first samples, as they are collated for prediction."""
    if collate_fn is None:
        return X.take(torch.arange(N_PROBED))
    rows = PredictionRows(X)
    return collate_fn([rows[row] for row in range(N_PROBED)])[0]


def try_network(network: nn.Module, batch: Any, n_classes: int) -> Tensor:
    """Return the outputs of a network for a few samples; raise if they are no logits.

    Also initializes the parameters of lazy modules.
    """
    if not any(map(attrgetter("requires_grad"), network.parameters())):
        raise ValueError(
            "module has no parameters that can be trained: it has none, or all of them "
            "have requires_grad=False. Leave at least its last layer trainable."
        )
    if isinstance(batch, Mapping):
        check_names(network, batch)
    try:
        with torch.enable_grad():
            outputs = outputs_of(network, map_parts(copied, batch))
    except Exception as error:  # of any type, from the code of the module
        raise ValueError(
            f"module could not be applied to a batch of shape {_shape_of(batch)}: "
            f"{type(error).__name__}: {error}. Check that it takes samples of this "
            f"shape{_hint_at_channels(batch)}."
        ) from error
    expected = (N_PROBED, n_classes)
    is_tensor = isinstance(outputs, Tensor)
    got = tuple(outputs.shape) if is_tensor else ()
    if got != expected:
        raise ValueError(
            f"module must return one logit for each of the {n_classes} "
            f"classes: for {N_PROBED} samples a tensor of shape {expected}, got "
            f"{got or type(outputs).__name__}. Let its constructor take n_classes, "
            "which is then passed to it."
        )
    if not outputs.is_floating_point() or not outputs.requires_grad:
        raise ValueError(
            "module must return floating point numbers that depend on its parameters, "
            f"got a tensor of dtype {outputs.dtype}"
            f"{'' if outputs.requires_grad else ' without a gradient'}. Return the "
            "output of its last layer, not of argmax, detach or no_grad."
        )
    return outputs.detach()


def try_criterion(criterion: Callable, outputs: Tensor) -> None:
    """Raise if a criterion cannot compute losses from logits and class numbers."""
    labels = torch.zeros(len(outputs), dtype=torch.int64, device=outputs.device)
    with torch.no_grad(), kept_random_states(outputs.device):
        try:
            losses = copy.deepcopy(criterion)(outputs, labels)
        except Exception as error:  # of any type, from the code of the criterion
            raise ValueError(
                "criterion must compute losses from logits of shape "
                f"{tuple(outputs.shape)} and class numbers of shape {(len(outputs),)}, "
                f"but {type(criterion).__name__} raised {type(error).__name__}: "
                f"{error}. Use torch.nn.CrossEntropyLoss, or one with the same "
                "arguments."
            ) from error
    check_one_per_sample(criterion, losses, len(labels))
    is_nll = isinstance(criterion, nn.NLLLoss)
    if is_nll and not _is_log_softmax(outputs):
        raise ValueError(
            "criterion=NLLLoss needs a module that returns log-probabilities, whose "
            "exponentials sum to 1, but those of this module do not. Use "
            "CrossEntropyLoss, or let the module end in LogSoftmax."
        )


def learns_probabilities(net: Any, n_classes: int) -> bool:
    """Return whether the criterion of a started net takes class probabilities."""
    weight = next(net.networks[0].parameters())
    return takes_probabilities(net.criterion_, weight.new_zeros((2, n_classes)))


def takes_probabilities(criterion: Callable, logits: Tensor) -> bool:
    """Return whether a criterion takes class probabilities as targets."""
    probability = torch.full_like(logits, 1 / logits.shape[1])
    with torch.no_grad(), kept_random_states(logits.device):
        try:
            losses = copy.deepcopy(criterion)(logits, probability)
        except Exception:  # of any type, from the code of the criterion
            return False
    return losses.shape == logits.shape[:1] and bool(losses.isfinite().all())


def warn_of_mismatch(
    network: nn.Module, batch: Any, outputs: Tensor, criterion: Callable
) -> None:
    """Warn if samples, module and criterion clearly do not belong together."""
    # Equal outputs, for example of equal samples, may sum to 1 by chance.
    differ = bool((outputs != outputs[:1]).any())
    if differ and _is_softmax(outputs):
        warn_caller(
            "module returns probabilities (its outputs are nonnegative and sum to 1), "
            "but it should return logits, since criterion and predict_proba apply a "
            "softmax to them: training is slow, and probabilities are never far from "
            "each other. Remove the softmax at the end of the module.",
            MismatchWarning,
        )
    elif (
        differ
        and isinstance(criterion, nn.CrossEntropyLoss)
        and _is_log_softmax(outputs)
    ):
        warn_caller(
            "module returns log-probabilities, and CrossEntropyLoss applies a second "
            "log-softmax to them, which changes nothing but takes time. Remove the "
            "log-softmax at the end of the module, or use criterion=NLLLoss.",
            MismatchWarning,
        )
    has_convolutions = any(isinstance(m, nn.Conv2d) for m in network.modules())
    if has_convolutions and _looks_channels_last(batch):
        warn_caller(
            f"X has samples of shape {tuple(batch.shape[1:])}, like images with their "
            "channels in the last place, but the module takes the first one for the "
            "channels. Pass images of shape (n_samples, channels, height, width), for "
            "example X.transpose(0, 3, 1, 2).",
            MismatchWarning,
        )


def _is_softmax(outputs: Tensor) -> bool:
    sums = outputs.sum(dim=1)
    return bool((outputs >= 0).all() and ((sums - 1).abs() < _TOLERANCE).all())


def _is_log_softmax(outputs: Tensor) -> bool:
    return bool((outputs.logsumexp(dim=1).abs() < _TOLERANCE).all())


def _looks_channels_last(batch: Any) -> bool:
    if not isinstance(batch, Tensor) or batch.dim() != 4:
        return False
    first, second, last = batch.shape[1:]
    # With 1 in the last place, other than square samples may be signals.
    return first > 3 and (last == 3 or (last == 1 and first == second))


def _hint_at_channels(batch: Any) -> str:
    if not _looks_channels_last(batch):
        return ""
    return ", and images the shape (n_samples, channels, height, width)"


def _shape_of(batch: Any) -> Any:
    return map_parts(lambda part: tuple(getattr(part, "shape", ())), batch)

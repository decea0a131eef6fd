"""Build the net that an estimator's parameters describe."""

import copy
import inspect
import math
from collections import defaultdict
from functools import partial
from typing import Any

import torch
from torch import nn

from skpresto._classifier.callbacks_and_iterators import (
    check_iterators,
    checked_callbacks,
)
from skpresto._classifier.params import (
    check_part_params,
    check_required_params,
)
from skpresto._data.collate import CollatePairs
from skpresto._data.features import on_device
from skpresto._data.training_data import TrainingData
from skpresto._networks.forward import AUTOCAST_TYPES
from skpresto._networks.net import NoisyLabelNet
from skpresto._networks.new import Blueprint
from skpresto._networks.probe import probe_batch
from skpresto._networks.stack import NetworkStack
from skpresto._training.torch_state import n_threads_of
from skpresto.modules import MLP, SmallCNN

#: Names under which the constructor of a module can take the size of the data. If it
#: has several of a line, the first one is meant, and others may be hidden sizes.
SIZE_NAMES = {
    "n_features": ("n_features", "n_features_in", "in_features"),
    "input_shape": ("input_shape",),
    "n_classes": (
        "n_classes",
        "num_classes",
        "num_labels",
        "n_outputs",
        "n_out",
        "output_dim",
        "out_features",
    ),
}

#: Optimizers with a fused kernel on CPU and CUDA: same results, half the time.
_HAVE_FUSED = {
    torch.optim.SGD,
    torch.optim.Adam,
    torch.optim.AdamW,
    torch.optim.Adagrad,
}

softmax = partial(torch.softmax, dim=-1)


def build_net(
    estimator: Any, data: TrainingData, device: str | torch.device = "cpu"
) -> tuple[NoisyLabelNet, Blueprint]:
    """Return the net that ``estimator`` describes, and what networks are built from."""
    device = torch.device(device)
    params = estimator._net_params()
    of = _by_part(params)
    module = _module(estimator, data, of["module"])
    _complete_optimizer(estimator, of["optimizer"], device)
    criterion = _criterion(estimator, of["criterion"])
    check_iterators(estimator, of["iterator_train"], of["iterator_valid"])
    for iterator in ("iterator_train", "iterator_valid"):
        collate_fn = of[iterator].get("collate_fn")
        if collate_fn is not None:
            # Functions of users see features and labels, and no positions.
            name = f"{iterator}__collate_fn"
            of[iterator]["collate_fn"] = CollatePairs(collate_fn, name)
    check_part_params(estimator, "compile", torch.compile, of["compile"])
    if "autocast" in params:
        _check_autocast(estimator, params["autocast"], device)
    named: dict[str, Any] = {}
    for prefix, of_part in of.items():
        for name, value in of_part.items():
            named[f"{prefix}__{name}"] = value
    net = NoisyLabelNet(
        module,
        criterion,
        optimizer=estimator.optimizer,
        lr=estimator.lr,
        batch_size=estimator.batch_size,
        device=str(device),
        callbacks=checked_callbacks(
            estimator, of["callbacks"], data.valid_labels is not None
        ),
        train_split=None,
        verbose=0,
        predict_nonlinearity=softmax,
        autocast=params.get("autocast"),
        compile=params.get("compile", False),
        **named,
    )
    net.is_auto = estimator.device == "auto"
    probe = probe_batch(data.X, of["iterator_valid"].get("collate_fn"))
    blueprint = Blueprint(
        module_factory=partial(_networks, module),
        is_pretrained=isinstance(estimator.module, nn.Module),
        probe_batch=on_device(probe, device),
        n_classes=data.n_classes,
        n_epochs=estimator.max_epochs,
        n_threads=n_threads_of(estimator.n_jobs),
    )
    return net, blueprint


def _by_part(params: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the parameters of each part of the net, without the prefix."""
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    for name, value in params.items():
        prefix, separator, rest = name.partition("__")
        if separator:
            found[prefix][rest] = value
    return found


def _check_autocast(estimator: Any, autocast: Any, device: torch.device) -> None:
    name = type(estimator).__name__
    if autocast not in (None, *AUTOCAST_TYPES):
        raise ValueError(
            f"{name} needs autocast to be None or one of {list(AUTOCAST_TYPES)}, got "
            f"{autocast!r}."
        )
    if autocast == "float16" and device.type == "cpu":
        raise ValueError(
            f"{name} got autocast='float16' with device={estimator.device!r}, the CPU, "
            "where it takes many times as long as float32. Use autocast='bfloat16'."
        )


def _module(estimator: Any, data: TrainingData, params: dict[str, Any]) -> Any:
    """Return a callable that makes a network; complete its arguments."""
    module, shape = estimator.module, data.X.sample_shape
    if isinstance(module, nn.Module):
        _refuse_params_of_instance(estimator, "module", module, params)
        return partial(copy.deepcopy, module)
    if module is None:
        module = _built_in_module(estimator, shape)
    _require_module(estimator, "module", module, "an instance or None")
    check_part_params(estimator, "module", module, params)
    _fill_in_sizes(estimator, inspect.signature(module), data, params)
    check_required_params(estimator, "module", module, params)
    return module


def _refuse_params_of_instance(
    estimator: Any, name: str, part: nn.Module, params: dict[str, Any]
) -> None:
    if params:
        raise ValueError(
            f"{type(estimator).__name__} got an instance as {name}, so "
            f"{name}__{next(iter(params))} cannot be passed to it. Give its class, "
            f"{type(part).__name__}, instead."
        )


def _require_module(estimator: Any, name: str, part: Any, others: str) -> None:
    """Raise for what is neither a class of modules nor a function."""
    if not callable(part) or (
        isinstance(part, type) and not issubclass(part, nn.Module)
    ):
        raise TypeError(
            f"{type(estimator).__name__} needs {name} to be an nn.Module class, "
            f"{others}, got {part!r}."
        )


def _fill_in_sizes(
    estimator: Any,
    signature: inspect.Signature,
    data: TrainingData,
    params: dict[str, Any],
) -> None:
    """Add the sizes of the data for which the constructor of a module asks."""
    shape = data.X.sample_shape
    sizes = {"n_classes": data.n_classes}
    if shape is not None:
        sizes["input_shape"] = shape
    if _is_one_array(shape):
        sizes["n_features"] = math.prod(shape)
    asked = signature.parameters
    for size, names in SIZE_NAMES.items():
        name = next(filter(asked.get, names), None)
        if name is None or name in params:
            continue
        if size in sizes:
            params[name] = sizes[size]
        elif asked[name].default is inspect.Parameter.empty:
            raise ValueError(
                f"{type(estimator).__name__} cannot tell module its {name}, since "
                "samples consist of several parts or differ in shape. Pass "
                f"module__{name}."
            )


def _is_one_array(shape: Any) -> bool:
    """Return whether a sample is one array, of the same shape as all others."""
    return isinstance(shape, tuple) and set(map(type, shape)) == {int}


def _networks(module: Any, n_networks: int, **params: Any) -> nn.Module:
    """Return one network, or a stack of several."""
    if n_networks == 1:
        return _network(module, params)
    return NetworkStack([_network(module, params) for _ in range(n_networks)])


def _network(module: Any, params: dict[str, Any]) -> nn.Module:
    try:
        network = module(**params)
    except Exception as error:  # of any type, from the code of the module
        raise ValueError(
            f"module could not be built with {params}: {type(error).__name__}: "
            f"{error}. Check the parameters module__*."
        ) from error
    if not isinstance(network, nn.Module):
        raise TypeError(
            "module must be an nn.Module class or instance, or a function that returns "
            f"an instance, but it made a {type(network).__name__}."
        )
    return network


def _built_in_module(estimator: Any, shape: Any) -> type[nn.Module]:
    n_dimensions = len(shape) if _is_one_array(shape) else None
    if n_dimensions == 1:
        return MLP
    if n_dimensions == 3:
        return SmallCNN
    raise ValueError(
        f"{type(estimator).__name__} has a built-in network for tables, X of shape "
        "(n_samples, n_features), and for images, (n_samples, channels, height, "
        f"width); got samples of {_description(shape)}. Pass a module for such data."
    )


def _description(shape: Any) -> str:
    return "different shapes" if shape is None else f"shape {shape}"


def _complete_optimizer(
    estimator: Any, params: dict[str, Any], device: torch.device
) -> None:
    """Set the default momentum, and the fused implementation where torch has it."""
    optimizer = estimator.optimizer
    if not callable(optimizer):
        raise TypeError(
            f"{type(estimator).__name__} needs optimizer to be a class such as "
            f"torch.optim.SGD, got {optimizer!r}."
        )
    if isinstance(optimizer, type) and issubclass(optimizer, torch.optim.LBFGS):
        raise ValueError(
            f"{type(estimator).__name__} cannot train with LBFGS, which evaluates a "
            "batch many times in one step and so would record its predictions many "
            "times. Use SGD, Adam or another optimizer with one evaluation per step."
        )
    check_part_params(estimator, "optimizer", optimizer, params)
    if optimizer is torch.optim.SGD:
        params.setdefault("momentum", 0.9)
    # A dampened momentum must begin with the first gradient, see begin_momentum().
    rules_out = {"foreach", "differentiable", "dampening"}
    has_fused = optimizer in _HAVE_FUSED and not rules_out & set(params)
    if has_fused and device.type in ("cpu", "cuda"):
        params.setdefault("fused", True)


def _criterion(estimator: Any, params: dict[str, Any]) -> Any:
    """Return a criterion, and let it return one loss per sample."""
    criterion = estimator.criterion
    if isinstance(criterion, nn.Module):
        _refuse_params_of_instance(estimator, "criterion", criterion, params)
        criterion = copy.deepcopy(criterion)
        if hasattr(criterion, "reduction"):
            criterion.reduction = "none"  # type: ignore[assignment]
        return criterion
    others = "such as torch.nn.CrossEntropyLoss, or an instance"
    _require_module(estimator, "criterion", criterion, others)
    check_part_params(estimator, "criterion", criterion, params)
    check_required_params(estimator, "criterion", criterion, params)
    if "reduction" in inspect.signature(criterion).parameters:
        params["reduction"] = "none"
    return criterion

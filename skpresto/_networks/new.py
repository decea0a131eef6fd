"""New networks: what they are built from, and what is done before their training."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from skpresto._data.features import copied, logits_of, map_parts, on_device
from skpresto._networks.forward import outputs_of
from skpresto._networks.stack import NetworkStack, networks_of

_CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
# Multiplications per sample in convolutions, from which on torch's own threads gain.
_MANY_PRODUCTS = 1 << 23
# Of a network, from which on threads for several gain: others wait for Python.
_MANY_PARAMETERS = 1 << 16
# Standard deviation of the noise, relative to the root mean square of a parameter.
_RELATIVE_NOISE = 0.01


@dataclass(frozen=True)
class Blueprint:
    """What is needed to build the networks of a fit.

    Parameters
    ----------
    module_factory : callable
        Makes one module, or several side by side: ``module_factory(n_networks,
        **module_params)``.
    is_pretrained : bool
        Whether networks start from the weights of an instance given by the user.
    probe_batch : Tensor, or dict or tuple of tensors
        Two training samples, with which a new module is tried out, on the device.
    n_classes : int
        Number of classes.
    n_epochs : int
        Number of epochs that they will be trained for.
    n_threads : int, default=1
        Number of threads that may train them.
    n_networks : int, default=1
        Number of networks trained side by side.
    must_differ : bool, default=False
        Whether networks need different initial weights.
    """

    module_factory: Callable[..., nn.Module]
    is_pretrained: bool
    probe_batch: Any
    n_classes: int
    n_epochs: int
    n_threads: int = 1
    n_networks: int = 1
    must_differ: bool = False


def new_networks(blueprint: Blueprint, params: dict[str, Any]) -> nn.Module:
    """Return networks on the CPU, whose initial weights are the same on all devices.

    Those of lazy modules are drawn when the module is first applied.
    """
    module = blueprint.module_factory(blueprint.n_networks, **params)
    batch = on_device(blueprint.probe_batch, "cpu")
    for network in networks_of(module):
        if any(map(is_lazy, network.parameters())):
            # What is wrong with the module is said when it is tried out.
            with torch.no_grad(), suppress(Exception):
                outputs_of(network.eval(), batch)
    return module


def adapt_precision(network: nn.Module) -> None:
    """Let a network in half or double precision take and return other types.

    Its inputs are cast to the type of its parameters, and its outputs to float32, in
    which losses and probabilities are computed.
    """
    types = [p.dtype for p in network.parameters() if p.is_floating_point()]
    if not types or torch.float32 in types:
        return
    # The inputs go through the first of the parameters first.
    cast = partial(_cast_inputs, types[0])
    network.register_forward_pre_hook(cast, with_kwargs=True)
    network.register_forward_hook(_as_float32)


def _cast_inputs(
    dtype: torch.dtype, network: nn.Module, args: tuple, kwargs: dict
) -> tuple[tuple, dict]:
    cast = partial(_cast, dtype)
    return map_parts(cast, args), map_parts(cast, kwargs)


def _cast(dtype: torch.dtype, part: Any) -> Any:
    is_number = isinstance(part, Tensor) and part.is_floating_point()
    return part.to(dtype) if is_number else part


def _as_float32(network: nn.Module, args: tuple, outputs: Any) -> Any:
    return _cast(torch.float32, logits_of(outputs))


def order_channels_last(network: nn.Module, batch: Any, autocast: str | None) -> None:
    """Store the weights of convolutions with the channels in the last place.

    On the CPU, images are then computed in that order, too, which takes less time.
    Where precision is not reduced, this is tried out first: a module may depend on the
    order, as ``view()`` does.

    Parameters
    ----------
    network : nn.Module
        In evaluation mode.
    batch : Tensor, or dict or tuple of tensors
        With which it is tried out.
    autocast : str or None
        Type of the operations, if precision is reduced.
    """
    if autocast is not None:
        _order(network, torch.channels_last)
        return
    first = next(network.parameters())
    has_convolutions = nn.Conv2d in set(map(type, network.modules()))
    if has_convolutions and first.dtype == torch.float32 and first.is_cpu:
        with torch.no_grad():
            expected = outputs_of(network, map_parts(copied, batch))
            _order(network, torch.channels_last)
            with suppress(Exception):  # of any type, from the code of the module
                outputs = outputs_of(network, map_parts(copied, batch))
                if torch.allclose(outputs, expected, 1e-3, 1e-4, equal_nan=True):
                    return
        _order(network, torch.contiguous_format)


def _order(network: nn.Module, order: torch.memory_format) -> None:
    network.to(memory_format=order)  # type: ignore[call-overload]


def divide_among_threads(
    module: nn.Module,
    blueprint: Blueprint,
    apply: Callable[[nn.Module], Any],
) -> None:
    """Let threads train several networks, or torch those that have many products.

    torch's own threads wait for each other in every operation, so that they only gain
    where a single network has large convolutions, and only on idle cores. The last bits
    then depend on their number.

    Parameters
    ----------
    module : nn.Module
        The networks, not yet trained.
    blueprint : Blueprint
        What they were built from.
    apply : callable
        Applies a network to the two samples with which it is tried out.
    """
    networks, n_threads = networks_of(module), blueprint.n_threads
    torch.set_num_threads(1)
    if not next(networks[0].parameters()).is_cpu:
        return
    if isinstance(module, NetworkStack):
        n_parameters = sum(p.numel() for p in networks[0].parameters())
        module.n_threads = n_threads if n_parameters >= _MANY_PARAMETERS else 1
        return
    if convolution_products(networks[0], apply) >= 2 * _MANY_PRODUCTS:
        torch.set_num_threads(n_threads)


def convolution_products(network: nn.Module, apply: Callable[[nn.Module], Any]) -> int:
    """Return the number of multiplications in the convolutions of a forward pass."""
    products: list[int] = []

    def count(part: nn.Module, inputs: Any, output: Tensor) -> None:
        assert isinstance(part.weight, Tensor)
        products.append(output.numel() * part.weight[0].numel())

    parts = [m for m in network.modules() if isinstance(m, _CONVOLUTIONS)]
    hooks = [part.register_forward_hook(count) for part in parts]
    try:
        with torch.no_grad():
            apply(network)
    finally:
        for hook in hooks:
            hook.remove()
    return sum(products)


def make_different(networks: list[nn.Module]) -> None:
    """Add a little noise to the weights of networks that equal the first one.

    These are copies of one module, whose weights may come from pretraining, so that
    they must not be initialized anew. Frozen parameters are left alone, and so are
    those that are zero throughout.
    """
    for network in networks[1:]:
        if not _are_equal(networks[0], network):
            continue
        with torch.no_grad():
            for parameter in network.parameters():
                if parameter.requires_grad:
                    scale = parameter.float().square().mean().sqrt().item()
                    # Drawn on the CPU, to be the same on all devices.
                    noise = torch.randn_like(parameter.cpu(), dtype=torch.float32)
                    noise = noise.to(parameter.device)
                    parameter.add_(noise, alpha=_RELATIVE_NOISE * scale)
        if _are_equal(networks[0], network):
            raise ValueError(
                "Two networks with equal initial weights stay equal. The module given "
                "is an instance whose trainable weights are all zero; initialize them "
                "with random numbers, or pass its class instead."
            )


def _are_equal(first: nn.Module, second: nn.Module) -> bool:
    return all(map(torch.equal, first.parameters(), second.parameters()))


def compile_networks(
    networks: list[nn.Module],
    params: dict[str, Any],
    try_out: Callable[[nn.Module], Any],
) -> None:
    """Compile networks in place, so that their parameters keep their names.

    Parameters
    ----------
    networks : list of nn.Module
        In evaluation mode.
    params : dict
        Arguments of ``torch.compile``.
    try_out : callable
        Applies a network to a few samples.
    """
    try:
        for network in networks:
            # As network.compile(), which ignores classes of torch such as Sequential.
            compiled = torch.compile(partial(_call, network), **params)
            network._compiled_call_impl = compiled
        with torch.no_grad():
            try_out(networks[0])
    except Exception as error:  # compilers raise errors of many kinds
        raise ValueError(
            f"module could not be compiled: {type(error).__name__}: {error}. Leave "
            "compile=True out, or choose another compile__backend."
        ) from error


def _call(network: nn.Module, *args: Any, **kwargs: Any) -> Any:
    return network._call_impl(*args, **kwargs)


def prepare_optimizer(optimizer: torch.optim.Optimizer) -> None:
    """Turn fused steps off in half precision, and begin a momentum with zeros.

    On the CPU, torch's fused SGD leaves all but the smallest parameters in half
    precision unchanged (seen in torch 2.13).

    SGD creates momentum buffers in the first step. A fused step fails if only some
    parameters have one, as after a step without the parameters of an idle network, and
    a skipped first step creates them from uninitialized memory. With zeros, the first
    step has the same result, unless it is dampened.
    """
    is_sgd = isinstance(optimizer, torch.optim.SGD)
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            if parameter.dtype.itemsize < 4 and parameter.is_cpu:
                group["fused"] = False
        if is_sgd and group["fused"] and group["momentum"] and not group["dampening"]:
            for parameter in group["params"]:
                zero = torch.zeros_like(parameter, requires_grad=False)
                optimizer.state[parameter]["momentum_buffer"] = zero

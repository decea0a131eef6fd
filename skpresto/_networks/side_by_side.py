"""Work divided among threads: networks trained side by side, blocks that are predicted.

Each thread uses one thread of torch, and results do not depend on their number. torch's
own threads divide every single operation: those of small networks wait for each other
most of the time, and by spinning, so that on a busy machine a fit took many times as
long with two of them.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache, partial
from typing import Any, TypeVar

import torch
from torch import Tensor

T = TypeVar("T")


def in_threads(tasks: Sequence[Callable[[], T]], n_threads: int) -> list[T]:
    """Return the results of tasks, which up to ``n_threads`` threads carry out.

    This thread is one of them. They compute with gradients if this one does, and each
    with one thread of torch.
    """
    n_others = min(n_threads, len(tasks)) - 1
    results: list[Any] = [None] * len(tasks)
    positions = iter(range(len(tasks)))
    modes = torch.is_inference_mode_enabled(), torch.is_grad_enabled()

    def work() -> None:
        with torch.inference_mode(modes[0]), torch.set_grad_enabled(modes[1]):
            for position in positions:
                results[position] = tasks[position]()

    others: list[Future] = []
    if n_others > 0:
        submit = _pool(n_others, os.getpid()).submit
        others = [submit(work) for _ in range(n_others)]
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        work()
    finally:  # if this thread failed, too: others must not change networks any more
        wait(others)
        torch.set_num_threads(before)
    for other in others:
        other.result()
    return results


@cache
def _pool(n_threads: int, pid: int) -> ThreadPoolExecutor:
    """Return threads of this process; those of a parent are not in it."""
    name = "skpresto"
    return ThreadPoolExecutor(n_threads, name, torch.set_num_threads, (1,))


class Joined(torch.autograd.Function):
    """Stack outputs of networks, and let threads go back through each of them."""

    @staticmethod
    def forward(
        ctx: Any, anchor: Tensor, outputs: list[Tensor], n_threads: int
    ) -> Tensor:
        """Return outputs of shape (k, b, n_classes)."""
        ctx.outputs, ctx.n_threads = outputs, n_threads
        return torch.stack([output.detach() for output in outputs])

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, None, None]:
        """Add to the gradients of the parameters of each network."""
        pairs = zip(ctx.outputs, gradients[0], strict=True)
        tasks = [partial(torch.autograd.backward, out, slope) for out, slope in pairs]
        in_threads(tasks, ctx.n_threads)
        return None, None, None


def outputs_in_threads(tasks: Sequence[Callable[[], Tensor]], n_threads: int) -> Tensor:
    """Return the stacked outputs of networks, whose backward pass is one of threads.

    Only parameters get gradients, and one backward pass is possible.
    """
    anchor = torch.zeros((), requires_grad=True)
    return Joined.apply(anchor, in_threads(tasks, n_threads), n_threads)

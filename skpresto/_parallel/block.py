"""The block in which fits run on all processes of a group."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch.distributed as dist

from skpresto._parallel.exchange import Exchange
from skpresto._parallel.team import ProcessTeam
from skpresto._training.context import context_with, current_context
from skpresto.exceptions import ParallelError

#: Seconds for which others are waited for if a block is left by an error.
_PATIENCE = 10


@contextmanager
def data_parallel(group: Any = None) -> Iterator[None]:
    """Let fits inside the block share their arithmetic among several processes.

    Every process runs the same program, for example started by ``torchrun``, and calls
    ``fit`` with the same data and parameters. Each evaluates the networks on a part of
    every batch, and gradients are added up, so that all processes end with the same
    fitted classifier.

    Parameters
    ----------
    group : torch.distributed.ProcessGroup, default=None
        The processes; None means all of them. Only its members may enter the block.

    Notes
    -----
    Without BatchNorm and dropout, the result is that of one process up to rounding.
    BatchNorm computes its statistics from the rows of each process, and its running
    means are averaged; dropout draws other random numbers.

    Rows that are held out or used for validation are divided among the processes too.
    ``predict`` and other methods need no other process, also inside the block.

    Callbacks are called in all processes, with the labels and outputs of whole batches
    and the features of own rows. ``skpresto.keep_interrupted`` has no effect. Samplers
    of the user are refused. Worker processes and threads of a search in the block are
    ordinary ones: each of them fits alone.

    If a fit fails in one process, the others raise
    :class:`~skpresto.exceptions.ParallelError` with its message.

    Inside the block, ``skpresto.resumable(folder)`` stores the progress in the first
    process, from which all of them resume.

    Examples
    --------
    In a program ``train.py``, started by ``torchrun --nproc-per-node=2 train.py``::

        import torch.distributed as dist
        dist.init_process_group("gloo")  # "nccl" for GPUs
        with skpresto.data_parallel():
            clf.fit(X, y)
    """
    if not current_context().team.is_alone:
        raise RuntimeError(
            "data_parallel blocks cannot be nested. Leave the outer one first."
        )
    exchange = _exchange(group)
    if exchange.size == 1:
        yield
        return
    try:
        with context_with(team=ProcessTeam(exchange)):
            yield
    except ParallelError:
        raise
    except BaseException as error:
        exchange.announce(error, _PATIENCE)
        raise
    finally:
        exchange.close()


def _exchange(group: Any) -> Exchange:
    if not (dist.is_available() and dist.is_initialized()):
        raise RuntimeError(
            "data_parallel needs processes that know each other, but torch.distributed "
            "is not initialized. Start the program with torchrun, and add before the "
            "block:\n"
            "    import torch.distributed as dist\n"
            '    dist.init_process_group("gloo")  # "nccl" for GPUs'
        )
    if group is dist.GroupMember.NON_GROUP_MEMBER or dist.get_rank(group) < 0:
        raise ValueError(
            f"data_parallel got a group that process {dist.get_rank()} is not part of. "
            "Enter the block in members of the group only."
        )
    return Exchange(dist.group.WORLD if group is None else group)

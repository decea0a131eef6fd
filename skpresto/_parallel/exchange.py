"""Messages between processes, by which each also learns that another one failed."""

import os
import pickle
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor

from skpresto._device import resolved_device
from skpresto.exceptions import ParallelError

#: Bytes of a message. What is longer takes a second one.
_FRAME = 4096
#: Bytes at the begin of a message, for three numbers.
_HEADER = 32
_ROOM = _FRAME - _HEADER
_IS_FINE, _HAS_FAILED = 0, 1
#: Seconds for which a process that failed waits for others to notice.
PATIENCE = 60


def local_rank() -> int | None:
    """Return the number that torchrun gave to this process of those on a machine."""
    number = os.environ.get("LOCAL_RANK", "")
    return int(number) if number.isdigit() else None


class Sent(NamedTuple):
    """What a process sent: bytes, and a number that says what they are."""

    kind: int
    body: Tensor


class Exchange:
    """Let all processes of a group see what each of them sends.

    All of them take part in every exchange, in the same order, so a process that fails
    sends its error in the next one. The group can be used afterwards.

    Parameters
    ----------
    group : torch.distributed.ProcessGroup
        The processes.

    Attributes
    ----------
    rank, size : int
        Number of this process in the group, and number of processes.
    due : callable or None
        Takes part in the sum for which others wait at present, if this process fails.
    announced : BaseException or None
        The error that was sent last.
    """

    def __init__(self, group: Any) -> None:
        self.group = group
        self.rank = dist.get_rank(group)
        self.size = dist.get_world_size(group)
        on_gpu = dist.get_backend(group) == "nccl"
        self._device = resolved_device("cuda" if on_gpu else "cpu", local_rank())
        self.due: Callable[[], None] | None = None
        self.announced: BaseException | None = None
        self._is_lost = False

    def gather(self, body: Tensor | None = None, kind: int = 0) -> list[Sent]:
        """Return what each process sends; raise if one has failed.

        Parameters
        ----------
        body : Tensor of shape (n_bytes,), dtype=uint8, default=None
            What this one sends. Others may send another number of bytes.
        kind : int, default=0
            A number that is sent with it.
        """
        body = torch.empty(0, dtype=torch.uint8) if body is None else body
        body = body.to(self._device)
        frames = self._all_of(self._frame(_IS_FINE, kind, body))
        headers = frames[:, :24].view(torch.int64).tolist()
        self._raise_if_failed(headers, frames)
        bodies = list(frames[:, _HEADER:].unbind(0))
        n_further = max(length for *_, length in headers) - _ROOM
        if n_further > 0:
            rest = torch.zeros(n_further, dtype=torch.uint8, device=self._device)
            rest[: max(0, len(body) - _ROOM)] = body[_ROOM:]
            further = self._all_of(rest).unbind(0)
            bodies = [torch.cat(parts) for parts in zip(bodies, further, strict=True)]
        return [
            Sent(kind, body[:length])
            for (_, kind, length), body in zip(headers, bodies, strict=True)
        ]

    def gather_objects(self, value: Any) -> list[Any]:
        """Return the values of all processes, which can be anything to be pickled."""
        body = torch.frombuffer(bytearray(pickle.dumps(value)), dtype=torch.uint8)
        sent = self.gather(body)
        return [pickle.loads(part.body.cpu().numpy().tobytes()) for part in sent]

    def add_up(self, values: Tensor, limit: timedelta | None = None) -> Tensor:
        """Return the sum of the values of all processes, on their device."""
        values = values.to(self._device)
        self._run(dist.all_reduce, values, limit=limit)
        return values

    def announce(self, error: BaseException, patience: float = PATIENCE) -> None:
        """Let other processes know that this one failed, unless they are lost."""
        due, self.due = self.due, None
        if self._is_lost or error is self.announced:
            return
        self.announced = error
        message = f"{type(error).__name__}: {error}".encode()[:_ROOM]
        body = torch.frombuffer(bytearray(message), dtype=torch.uint8)
        frame = self._frame(_HAS_FAILED, 0, body.to(self._device))
        with suppress(ParallelError):
            if due is not None:
                due()
            self._all_of(frame, limit=timedelta(seconds=patience))

    def close(self) -> None:
        """Let go of the group.

        What is left of a fit may refer to this object until the next garbage
        collection, but the group must be free to end with the block.
        """
        self.group = None

    def _raise_if_failed(self, headers: list[list[int]], frames: Tensor) -> None:
        failed = [rank for rank, (status, *_) in enumerate(headers) if status]
        if not failed:
            return
        first = failed[0]
        text = frames[first, _HEADER : _HEADER + headers[first][2]].cpu().numpy()
        raise ParallelError(
            f"Process {first} of {self.size} in data_parallel failed: "
            f"{text.tobytes().decode(errors='replace')}"
        )

    def _frame(self, status: int, kind: int, body: Tensor) -> Tensor:
        frame = torch.zeros(_FRAME, dtype=torch.uint8, device=self._device)
        header = torch.tensor([status, kind, len(body)], device=self._device)
        frame[:24] = header.view(torch.uint8)
        n_bytes = min(len(body), _ROOM)
        frame[_HEADER : _HEADER + n_bytes] = body[:n_bytes]
        return frame

    def _all_of(self, part: Tensor, limit: timedelta | None = None) -> Tensor:
        """Return the parts of all processes, which are of the same length."""
        every = part.new_empty((self.size, len(part)))
        self._run(dist.all_gather, list(every.unbind(0)), part, limit=limit)
        return every

    def _run(self, operation: Callable, *args: Any, limit: timedelta | None) -> None:
        try:
            work = operation(*args, group=self.group, async_op=True)
            work.wait() if limit is None else work.wait(limit)
        except RuntimeError as error:
            self._is_lost = True
            raise ParallelError(
                "The connection to another process in data_parallel was lost: it was "
                "killed, has ended, or does not answer. Its own output may say why; "
                f"start the program again. ({error})"
            ) from error

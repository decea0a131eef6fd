"""Run functions in a group of processes that know each other."""

import multiprocessing
import os
import time
import traceback
from contextlib import suppress

import torch
import torch.distributed as dist
from coverage import Coverage

# The processes are forked from one that has imported everything already.
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    ["torch._dynamo", "tests.parallel.cases", "tests.parallel.policies", __name__]
)


class Failure:
    """An error of a process, as it can be sent to another one."""

    def __init__(self, error):
        self.kind = type(error).__name__
        self.message = str(error)
        self.traceback = traceback.format_exc()
        self.time = time.time()


def _serve(rank, size, address, pipe, is_measured):
    # Its file is combined with that of the process that runs the tests.
    measured = Coverage(data_suffix=True) if is_measured else None
    if measured:
        measured.start()
    torch.set_num_threads(1)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    dist.init_process_group("gloo", init_method=address, rank=rank, world_size=size)
    while (task := pipe.recv()) is not None:
        function, args = task
        try:
            result = function(*args)
        except BaseException as error:
            result = Failure(error)
        pipe.send(result)
    dist.destroy_process_group()
    if measured:
        measured.stop()
        measured.save()


class Group:
    """Processes that stay for several calls.

    Parameters
    ----------
    size : int
        Number of processes.
    folder : Path
        Where they meet.
    """

    def __init__(self, size, folder):
        self.size = size
        address = f"file://{folder / f'meeting-{os.urandom(4).hex()}'}"
        self.pipes, self.processes = [], []
        for rank in range(size):
            pipe, other = _CONTEXT.Pipe()
            args = (rank, size, address, other, Coverage.current() is not None)
            process = _CONTEXT.Process(target=_serve, args=args)
            process.start()
            other.close()
            self.pipes.append(pipe)
            self.processes.append(process)

    def run(self, function, *args, seconds=120):
        """Return what the function returns in each process; None if it was killed."""
        for pipe in self.pipes:
            pipe.send((function, args))
        return [self._result(pipe, seconds) for pipe in self.pipes]

    def _result(self, pipe, seconds):
        if not pipe.poll(seconds):
            raise AssertionError(f"a process did not answer for {seconds} seconds")
        try:
            return pipe.recv()
        except EOFError:
            return None

    def results(self, function, *args):
        """Return the results; raise if a process failed."""
        results = self.run(function, *args)
        for result in results:
            assert not isinstance(result, Failure), result.traceback
        return results

    def close(self):
        for pipe, process in zip(self.pipes, self.processes, strict=True):
            with suppress(OSError):  # it may be dead
                pipe.send(None)
            process.join(10)
            if process.is_alive():
                process.kill()

"""The processes that train together."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from skpresto._data.training_data import TrainingData
from skpresto._networks.net import NoisyLabelNet
from skpresto._parallel.exchange import Exchange, local_rank
from skpresto._parallel.shared_journal import SharedJournal
from skpresto._parallel.shared_machinery import SharedMachinery, first_of
from skpresto._resume.fingerprint import changed, fingerprint
from skpresto._training.context import FitFolder, Journal, Team
from skpresto._training.request import FitRequest
from skpresto.exceptions import ParallelError

#: Parameters in which processes may differ: each may have a device of its own.
_MAY_DIFFER = ("parameter device", "threads")


class ProcessTeam(Team):
    """Several processes.

    Parameters
    ----------
    exchange : Exchange
        The processes.
    """

    is_alone = False

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        self.is_first = exchange.rank == 0
        self.local_rank = local_rank()

    @contextmanager
    def fitting(self) -> Iterator[None]:
        """Let all processes end a fit together, also if it fails in one of them."""
        try:
            yield
            self.exchange.gather()
        except ParallelError:
            raise
        except BaseException as error:
            self.exchange.announce(error)
            raise

    def begin_fit(
        self,
        estimator: Any,
        request: FitRequest,
        rng: np.random.RandomState,
        folder: FitFolder | None,
    ) -> tuple[Journal, int]:
        """Return a journal from which all processes resume, and the seed of all."""
        self._check_same(estimator, request)
        folder = folder if self.is_first else None
        journal, seed = super().begin_fit(estimator, request, rng, folder)
        shared = SharedJournal(journal, self.exchange)
        return shared, first_of(self.exchange, seed)

    def machinery(self, net: NoisyLabelNet, data: TrainingData) -> SharedMachinery:
        """Return how batches are computed."""
        return SharedMachinery(net, data.n_classes, self.exchange)

    def _check_same(self, estimator: Any, request: FitRequest) -> None:
        """Raise if processes differ in data, parameters or versions."""
        own = fingerprint(estimator, request).entries
        for name in _MAY_DIFFER:
            del own[name]
        own["type of device"] = request.device.type
        first, *others = self.exchange.gather_objects(own)
        for rank, other in enumerate(others, start=1):
            if differing := changed(first, other, " and "):
                raise ValueError(
                    f"{type(estimator).__name__} in data_parallel needs the same fit "
                    f"in all processes, but process {rank} differs from process 0: "
                    f"{', '.join(differing)}. Give every process all rows, the same "
                    "parameters and the same versions; batches are divided among "
                    "them in the fit."
                )

"""The cost of a method in fits of Default, measured side by side."""

from dataclasses import asdict, replace
from typing import Any

from cells import Cell, Setting
from classifiers import classifier_of
from contenders import DEFAULT
from data import split_of
from measure import timed_fit, versions

N_REPEATS = 2


def measure_cost(cell: Cell, setting: Setting) -> dict[str, Any]:
    """Return the CPU time of a method and of Default, fitted in turn.

    ``cost`` is the ratio of the shorter times of both: other processes and a
    processor that slows down make a fit longer, never shorter.
    """
    split = split_of(cell, setting)
    plain = replace(cell, method=DEFAULT, q=None, rule=None)
    times: dict[Cell, list[float]] = {plain: [], cell: []}
    for _ in range(N_REPEATS):
        for each, measured in times.items():
            classifier = classifier_of(each, setting, split.noise_rate, callbacks=[])
            measured.append(timed_fit(classifier, each, split).cpu_seconds)
    return {
        **asdict(cell),
        **setting.fingerprint,
        "default_cpu_seconds": times[plain],
        "cpu_seconds": times[cell],
        "cost": min(times[cell]) / min(times[plain]),
        "versions": versions(),
    }

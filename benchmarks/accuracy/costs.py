"""What a fit of each method costs, in fits of Default, and groups of similar cost."""

import numpy as np
import pandas as pd
from contenders import DEFAULT, METHODS
from fits import by_seed, over_seeds

#: Name of a group, and the most fits that its methods cost.
GROUPS = {
    "About one fit": 1.5,
    "Two to four fits": 4.25,
    "Five fits and more": np.inf,
}


def costs_of(
    methods: list[str], measured: pd.DataFrame, fits: pd.DataFrame
) -> pd.DataFrame:
    """Return the cost of each method as ``value`` and as ``text``, cheap ones first.

    Parameters
    ----------
    methods : list of str
        Names of ``contenders.METHODS``.
    measured : DataFrame
        Results of the preset cost, where methods and Default are fitted in turn.
    fits : DataFrame
        For methods that the preset cost was not run with, their mean CPU time in
        these fits is divided by that of Default on the same row. Without that, the
        cost is the expected one.
    """
    side_by_side = measured.groupby("method")["cost"].mean()
    side_by_side[DEFAULT] = 1.0
    seconds = over_seeds(by_seed(fits, "cpu_seconds")).mean
    found = pd.DataFrame(
        {
            "{:.1f}": side_by_side,
            "\N{ALMOST EQUAL TO} {:.1f}": seconds.div(seconds[DEFAULT], axis=0).mean(),
            "({:.0f})": {name: METHODS[name].cost for name in methods},
        }
    ).reindex(methods)
    value = found.bfill(axis=1).iloc[:, 0]
    template = found.notna().idxmax(axis=1)
    text = [t.format(v) for t, v in zip(template, value, strict=True)]
    costs = pd.DataFrame({"value": value, "text": text})
    return costs.sort_values("value", kind="stable")


def groups_of(costs: pd.DataFrame) -> dict[str, list[str]]:
    """Return methods by group, each from cheap to expensive."""
    bins = pd.cut(costs["value"], [0, *GROUPS.values()], labels=list(GROUPS))
    return {name: list(part.index) for name, part in costs.groupby(bins, observed=True)}

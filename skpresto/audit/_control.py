"""Labels to check by hand: a random sample, and what was found out about it."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skpresto._labels import shortened

Positions = NDArray[np.intp]

#: Of ten labels, so many are suspects; the others come next in the order.
_SUSPECTS_OF_TEN = 7
#: So many labels are drawn from at least, if there are few suspects.
_FEWEST = 20


def draw_control_sample(
    order: Positions, n_suspects: int, n: int, seed: int = 0
) -> Positions:
    """Draw labels at random, of which seven in ten are suspects.

    The others are drawn from the labels that come next in the order, twice as many as
    there are suspects: the estimate of all errors needs some that are not suspect.
    However many are checked, from the first on, they are a random sample.

    Parameters
    ----------
    order : ndarray of shape (n_samples,)
        Positions of the samples, lowest quality first.
    n_suspects : int
        Number of suspects.
    n : int
        Size of the sample; it is smaller if there are not enough labels.
    seed : int, default=0
        Of the draws.
    """
    rng = np.random.RandomState(seed)
    end = min(max(n_suspects, _FEWEST), len(order))
    pools = [rng.permutation(order[:end]), rng.permutation(order[end : 3 * end])]
    drawn: list[Positions] = []
    while sum(map(len, drawn)) < n and any(map(len, pools)):
        wanted = _SUSPECTS_OF_TEN, 10 - _SUSPECTS_OF_TEN
        ten = [pool[:k] for pool, k in zip(pools, wanted, strict=True)]
        pools = [pool[k:] for pool, k in zip(pools, wanted, strict=True)]
        drawn.append(rng.permutation(np.concatenate(ten)))
    return np.concatenate([*drawn, order[:0]])[:n]


def checked_positions(
    checked: Mapping[Any, Any] | None, index: Any, n_labels: int, owner: str
) -> tuple[Positions, NDArray[np.bool_]]:
    """Return positions of the labels that were checked, and whether each is wrong.

    Parameters
    ----------
    checked : mapping of row to bool, or None
        By the index of the samples, or their position if there is none.
    index : pandas.Index or None
        Index of the samples.
    n_labels : int
        Number of labels.
    owner : str
        Name of what the user called, for error messages.
    """
    if checked is None:
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=bool)
    if not isinstance(checked, Mapping):
        raise TypeError(
            f"{owner} needs checked= as a dict of rows and whether their label is "
            f"wrong, such as {{17: True, 203: False}}, got {type(checked).__name__}."
        )
    answers = list(checked.values())
    odd = [v for v in answers if not isinstance(v, bool | np.bool_)]
    if odd:
        raise ValueError(
            f"{owner} needs True (wrong) or False (right) for each checked label, got "
            f"{odd[0]!r}. Leave out labels that nobody is sure about."
        )
    if index is None:
        place = {row: row for row in range(n_labels)}
    elif index.is_unique:
        place = {row: position for position, row in enumerate(index)}
    else:
        raise ValueError(
            f"{owner} needs an index without duplicates to know which rows were "
            "checked. Reset the index of X and y, and pass positions."
        )
    unknown = [repr(row) for row in checked if row not in place]
    if unknown:
        raise ValueError(
            f"{owner} has no rows {shortened(unknown)}, which checked= is about. It "
            f"needs rows of the report's index, which has {n_labels} rows."
        )
    positions = np.array([place[row] for row in checked], dtype=np.intp)
    return positions, np.array(answers, dtype=bool)

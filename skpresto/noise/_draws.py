"""Random numbers that depend on the seed and on the labels they are drawn for."""

import hashlib
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from skpresto._labels import Codes, parts

_N_WORDS = 4


def random_state_of(
    random_state: Any, codes: Codes, n_classes: int
) -> np.random.RandomState:
    """Return the source of randomness to draw noise for ``codes``.

    With an int, the same draws for the same labels. Other labels get independent draws:
    otherwise noise injected into noisy labels with the same int would flip the same
    labels again, and two classes would be exchanged back.

    Parameters
    ----------
    random_state : int, RandomState instance or None
        The parameter of the injector. Other than an int, it is used as it is.
    codes : ndarray of shape (n_samples,)
        Class numbers. If classes are numbered in another order, the draws are the same.
    n_classes : int
        Number of classes.

    Examples
    --------
    >>> import numpy as np
    >>> first = random_state_of(0, np.array([0, 1, 1]), 2).randint(100, size=3)
    >>> again = random_state_of(0, np.array([1, 0, 0]), 2).randint(100, size=3)
    >>> other = random_state_of(0, np.array([0, 0, 1]), 2).randint(100, size=3)
    >>> bool((first == again).all()), bool((first == other).all())
    (True, False)
    """
    if not isinstance(random_state, Integral):
        return check_random_state(random_state)
    return np.random.RandomState([int(random_state), *_digest(codes, n_classes)])


def _digest(codes: Codes, n_classes: int) -> list[int]:
    """Return numbers that differ if other labels are equal to each other."""
    number = _numbers_by_first_label(codes, n_classes)
    digest = hashlib.blake2b(digest_size=4 * _N_WORDS)
    for part in parts(len(codes)):
        digest.update(number[codes[part]].tobytes())
    return np.frombuffer(digest.digest(), "<u4").tolist()


def _numbers_by_first_label(codes: Codes, n_classes: int) -> NDArray[Any]:
    """Return a number of each class, by the order of their first labels."""
    first = np.full(n_classes, len(codes))
    for part in parts(len(codes)):
        found, place = np.unique(codes[part], return_index=True)
        first[found] = np.minimum(first[found], place + part.start)
        if (first < len(codes)).all():
            break
    number = np.empty(n_classes, dtype=np.min_scalar_type(n_classes))
    number[first.argsort(kind="stable")] = np.arange(n_classes)
    return number.astype(number.dtype.newbyteorder("<"), copy=False)

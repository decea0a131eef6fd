"""Noise that is given by a transition matrix."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skpresto._labels import Codes, Labels
from skpresto.noise._class_conditional import BaseClassConditionalNoise
from skpresto.noise._stochastic import check_transition_matrix


class TransitionMatrixNoise(BaseClassConditionalNoise):
    """Replace labels according to a transition matrix.

    The most general noise that depends only on the class. The matrix of two noises
    applied one after the other is the product of their matrices.

    Parameters
    ----------
    matrix : array-like of shape (n_classes, n_classes)
        In row i and column j the probability that a label of class i becomes j;
        classes in sorted order. Rows must sum to 1.
    exact : bool, default=False
        Whether to flip exactly the expected number of labels, rounded, and the expected
        number of each class to within one label, instead of flipping each label
        independently. The new class of a flipped label is drawn in either case.
    random_state : int, RandomState instance or None, default=None
        Source of randomness. With an int, the same labels get the same noise in every
        call, and other labels independent noise.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes seen in ``fit``, sorted.
    transition_matrix_ : ndarray of shape (n_classes, n_classes)
        The matrix, as float64 and with rows rescaled to sum to 1.
    flipped_mask_ : ndarray of shape (n_samples,), dtype=bool
        True where the last ``transform`` changed a label.
    realized_rate_ : float
        Fraction of the labels that the last ``transform`` changed.

    See Also
    --------
    estimate_transition_matrix : Estimate the matrix of noisy labels.
    noise_rate_from : Fraction of wrong labels that follows from a matrix.

    Examples
    --------
    One in four tired patients is labelled "fine"; all other labels are correct:

    >>> import numpy as np
    >>> from skpresto.noise import TransitionMatrixNoise, estimate_transition_matrix
    >>> y = np.repeat(["fine", "ill", "tired"], 400)
    >>> matrix = [[1, 0, 0], [0, 1, 0], [0.25, 0, 0.75]]
    >>> y_noisy = TransitionMatrixNoise(matrix, exact=True).fit_transform(y)
    >>> estimate_transition_matrix(y_noisy, y)
    array([[1.  , 0.  , 0.  ],
           [0.  , 1.  , 0.  ],
           [0.25, 0.  , 0.75]])
    """

    _parameter_constraints: dict = {
        **BaseClassConditionalNoise._parameter_constraints,
        "matrix": ["array-like"],
    }

    def __init__(
        self, matrix: ArrayLike, *, exact: bool = False, random_state: Any = None
    ) -> None:
        self.matrix = matrix
        self.exact = exact
        self.random_state = random_state

    def _fit_noise(self, labels: Labels, X: Any) -> None:
        owner = type(self).__name__
        matrix = check_transition_matrix(self.matrix, owner)
        if len(matrix) != len(self.classes_):
            raise ValueError(
                f"{owner} has a matrix for {len(matrix)} classes, but y contains "
                f"{len(self.classes_)}. Pass a matrix with one row and one column for "
                "each class of y, in sorted order."
            )
        self._matrix = matrix
        self._edges = _cumulative_edges(matrix)

    def _flip_rates(self) -> NDArray[np.float64]:
        return 1 - self._matrix.diagonal()

    def _draw_other(self, codes: Codes, rng: np.random.RandomState) -> Codes:
        start = codes.astype(np.float64)
        draws = start + rng.random_sample(len(codes))
        # Rounding must not move a draw into the interval of the next class.
        np.minimum(draws, np.nextafter(start + 1, 0), out=draws)
        place = np.searchsorted(self._edges, draws, side="right")
        return place - codes.astype(np.intp) * len(self.classes_)

    def _transition_matrix(self) -> NDArray[np.float64]:
        return self._matrix.copy()


def _cumulative_edges(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide [i, i + 1) into intervals as long as the flips of class i are likely.

    All classes are in one sorted array, so that one search finds the new class of
    labels of any class.
    """
    flips = matrix.copy()
    np.fill_diagonal(flips, 0)
    reached = flips.cumsum(axis=1)
    total = reached[:, -1:]
    reached /= np.where(total > 0, total, 1)
    reached += np.arange(len(matrix), dtype=np.float64)[:, np.newaxis]
    return reached.ravel()

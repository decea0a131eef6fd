"""Noise by a transition matrix: each class its own distribution of mistakes."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skpresto.noise._class_conditional import BaseClassConditionalNoise
from skpresto.noise._labels import Codes, Labels
from skpresto.noise._stochastic import check_transition_matrix


class TransitionMatrixNoise(BaseClassConditionalNoise):
    """Mistake classes for each other as a transition matrix says.

    The most general noise that depends on the class alone. Noise put on top of noise
    has the product of both matrices.

    Parameters
    ----------
    matrix : array-like of shape (n_classes, n_classes)
        In row i and column j the probability that a label of class i becomes j;
        classes in sorted order. Rows must sum to 1.
    exact : bool, default=False
        Whether to flip exactly as many labels as the matrix makes one expect, rounded,
        and of each class its share to within one label, instead of tossing a coin for
        every label. What a flipped label becomes is drawn either way.
    random_state : int, RandomState instance or None, default=None
        Source of the noise. An int makes every call give the same labels.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes seen in ``fit``, sorted.
    transition_matrix_ : ndarray of shape (n_classes, n_classes)
        The matrix, as float64 and with rows rescaled to sum to 1.
    flipped_mask_ : ndarray of shape (n_samples,), dtype=bool
        Which labels the last ``transform`` changed.
    realized_rate_ : float
        Share of the labels that the last ``transform`` changed.

    See Also
    --------
    estimate_transition_matrix : Find the matrix of noise that is there already.
    noise_rate_from : Share of wrong labels that a matrix amounts to.

    Examples
    --------
    Nurses never miss the ill, but send home one in four of the tired:

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
                f"{owner} has a matrix for {len(matrix)} classes, but y holds "
                f"{len(self.classes_)}. Pass a matrix with one row and one column for "
                "each class of y, in sorted order."
            )
        self._matrix = matrix
        self._edges = _edges_between_others(matrix)

    def _flip_rates(self) -> NDArray[np.float64]:
        return 1 - self._matrix.diagonal()

    def _draw_other(self, codes: Codes, rng: np.random.RandomState) -> Codes:
        start = codes.astype(np.float64)
        draws = start + rng.random_sample(len(codes))
        # rounding must not lift a draw into the interval of the following class
        np.minimum(draws, np.nextafter(start + 1, 0), out=draws)
        place = np.searchsorted(self._edges, draws, side="right")
        return place - codes.astype(np.intp) * len(self.classes_)

    def _transition_matrix(self) -> NDArray[np.float64]:
        return self._matrix.copy()


def _edges_between_others(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cut [i, i + 1) into pieces as long as class i's mistakes are likely.

    One sorted array for all classes, so that one search serves labels of any class.
    """
    mistakes = matrix.copy()
    np.fill_diagonal(mistakes, 0)
    reached = mistakes.cumsum(axis=1)
    total = reached[:, -1:]
    reached /= np.where(total > 0, total, 1)
    reached += np.arange(len(matrix), dtype=np.float64)[:, np.newaxis]
    return reached.ravel()

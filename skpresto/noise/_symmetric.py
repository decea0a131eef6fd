"""Symmetric noise: wrong labels are of any other class, all equally likely."""

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skpresto._labels import Codes, Labels
from skpresto._sklearn import Interval
from skpresto.noise._class_conditional import (
    BaseClassConditionalNoise,
    refuse_noise_in_one_class,
)


class SymmetricNoise(BaseClassConditionalNoise):
    """Replace labels by any other class, all equally likely.

    A label that flips always becomes wrong, so that ``rate=0.4`` makes 40 % of the
    labels wrong. Much published work draws from all classes including the true one;
    there, "50 %" noise on ten classes makes 45 % of the labels wrong.

    Parameters
    ----------
    rate : float, default=0.2
        Fraction of the labels to flip, in [0, 1]. At (n_classes - 1) / n_classes the
        noisy labels are independent of the true ones.
    exact : bool, default=False
        Whether to flip exactly ``round(rate * n_samples)`` labels, and the fraction
        ``rate`` of each class to within one label, instead of flipping each label
        independently.
    random_state : int, RandomState instance or None, default=None
        Source of randomness. With an int, the same labels get the same noise in every
        call, and other labels independent noise.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes seen in ``fit``, sorted.
    transition_matrix_ : ndarray of shape (n_classes, n_classes)
        In row i and column j the probability that a label of class i becomes j:
        ``1 - rate`` on the diagonal, ``rate / (n_classes - 1)`` elsewhere.
    flipped_mask_ : ndarray of shape (n_samples,), dtype=bool
        True where the last ``transform`` changed a label.
    realized_rate_ : float
        Fraction of the labels that the last ``transform`` changed.

    See Also
    --------
    PairNoise : Replace the labels of each class by one other class.
    NoisyTargetClassifier : Train a classifier on noisy labels.

    References
    ----------
    .. [1] D. Angluin and P. Laird, "Learning from noisy examples",
       Machine Learning 2, 1988.

    Examples
    --------
    >>> import numpy as np
    >>> from skpresto.noise import SymmetricNoise
    >>> y = np.repeat(["cat", "dog", "emu"], 100)
    >>> noise = SymmetricNoise(rate=0.4, exact=True, random_state=0)
    >>> y_noisy = noise.fit_transform(y)
    >>> int((y_noisy != y).sum())
    120
    >>> noise.transition_matrix_
    array([[0.6, 0.2, 0.2],
           [0.2, 0.6, 0.2],
           [0.2, 0.2, 0.6]])
    """

    _parameter_constraints: dict = {
        **BaseClassConditionalNoise._parameter_constraints,
        "rate": [Interval(Real, 0, 1, closed="both")],
    }

    def __init__(
        self, rate: float = 0.2, *, exact: bool = False, random_state: Any = None
    ) -> None:
        self.rate = rate
        self.exact = exact
        self.random_state = random_state

    def _fit_noise(self, labels: Labels, X: Any) -> None:
        refuse_noise_in_one_class(type(self).__name__, self.rate, self.classes_)

    def _flip_rates(self) -> NDArray[np.float64]:
        return np.full(len(self.classes_), float(self.rate))

    def _n_exact_flips(self, n_labels: NDArray[np.intp]) -> int:
        return round(self.rate * int(n_labels.sum()))

    def _draw_other(self, codes: Codes, rng: np.random.RandomState) -> Codes:
        # Adding 1 to n_classes - 1, modulo n_classes, gives any class but its own.
        n_classes = len(self.classes_)
        steps = rng.randint(1, n_classes, size=len(codes), dtype=codes.dtype)
        reached = np.add(codes, steps, dtype=np.min_scalar_type(2 * n_classes))
        return np.subtract(reached, n_classes, out=reached, where=reached >= n_classes)

    def _transition_matrix(self) -> NDArray[np.float64]:
        n_classes = len(self.classes_)
        matrix = np.full((n_classes, n_classes), self.rate / max(n_classes - 1, 1))
        np.fill_diagonal(matrix, 1 - self.rate)
        return matrix

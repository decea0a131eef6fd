"""Noise that depends on the features of each sample."""

from collections.abc import Iterator
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import softmax
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.sparsefuncs import mean_variance_axis
from sklearn.utils.validation import check_is_fitted, validate_data

from skpresto._labels import Codes, Labels, encode, parts
from skpresto._numeric import numbers_expected
from skpresto._sklearn import Interval
from skpresto.noise._base import BaseLabelNoise
from skpresto.noise._class_conditional import refuse_noise_in_one_class

_ROWS_AT_A_TIME = 4096


class InstanceDependentNoise(BaseLabelNoise):
    """Flip labels with probabilities that depend on the features of each sample.

    Both the probability to flip and the distribution of the new class are random linear
    projections of the sample: one projection gives the flip probability, and one per
    class the distribution of the new class. Similar samples get similar noise, as with
    human annotators.

    Parameters
    ----------
    rate : float, default=0.2
        Mean of the flip probabilities over the samples seen in ``fit``, in [0, 1].
    spread : float, default=0.1
        Standard deviation of the flip probabilities, before they are clipped. With 0
        every label is equally likely to flip, and only its new class depends on the
        sample.
    exact : bool, default=False
        Whether to flip exactly ``round(rate * n_samples)`` labels, those with a higher
        flip probability more often, instead of flipping each label independently. The
        number of each class is not fixed, because flip probabilities differ between
        classes.
    random_state : int, RandomState instance or None, default=None
        Source of randomness of the projections and of the flips. With an int, the
        projections depend on it alone; the same labels get the same flips in every
        call, and other labels independent flips.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes seen in ``fit``, sorted.
    transition_matrix_ : ndarray of shape (n_classes, n_classes)
        In row i and column j the probability that a label of class i becomes j,
        averaged over the samples of class i seen in ``fit``. The probabilities of a
        single sample can differ much from it.
    flipped_mask_ : ndarray of shape (n_samples,), dtype=bool
        True where the last ``transform`` changed a label.
    realized_rate_ : float
        Fraction of the labels that the last ``transform`` changed.
    n_features_in_ : int
        Number of features seen in ``fit``; images are flattened.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features seen in ``fit``, if they are all strings.

    See Also
    --------
    TransitionMatrixNoise : Noise that depends only on the class.

    Notes
    -----
    This is the part-dependent noise of [1]_ with two changes. First, in [1]_ the flip
    probabilities are drawn, independently of ``X``, from a normal distribution with
    standard deviation 0.1, truncated to [0, 1]. Here they are a standardized projection
    of ``X`` with that standard deviation around ``rate``, clipped symmetrically around
    ``rate``, and shifted so that their mean over the samples seen in ``fit`` is
    ``rate`` (truncated to [0, 1], a mean rate of 0.05 would become 0.1). Second,
    features are standardized, so that their units do not matter.

    The distribution of the new class is as in [1]_: the projection of the sample by the
    matrix of its class, without its own class, through a softmax.

    References
    ----------
    .. [1] X. Xia et al., "Part-dependent label noise: towards instance-dependent label
       noise", NeurIPS 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from skpresto.noise import InstanceDependentNoise
    >>> X, y = load_iris(return_X_y=True)
    >>> noise = InstanceDependentNoise(rate=0.3, exact=True, random_state=0)
    >>> y_noisy = noise.fit_transform(y, X)
    >>> int((y_noisy != y).sum())
    45
    >>> probability = noise.flip_probabilities(X)
    >>> round(float(probability.mean()), 9), len(np.unique(probability)) > 100
    (0.3, True)
    """

    _parameter_constraints: dict = {
        **BaseLabelNoise._parameter_constraints,
        "rate": [Interval(Real, 0, 1, closed="both")],
        "spread": [Interval(Real, 0, 1, closed="both")],
        "exact": ["boolean"],
    }

    def __init__(
        self,
        rate: float = 0.2,
        *,
        spread: float = 0.1,
        exact: bool = False,
        random_state: Any = None,
    ) -> None:
        self.rate = rate
        self.spread = spread
        self.exact = exact
        self.random_state = random_state

    def flip_probabilities(self, X: Any) -> NDArray[np.float64]:
        """Return the probability that the label of each sample flips.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples, with the features of ``fit``.

        Returns
        -------
        probabilities : ndarray of shape (n_samples,)
            Within ``rate`` plus or minus ``min(rate, 1 - rate)``.
        """
        check_is_fitted(self)
        return self._flip_probabilities(self._checked(X, None, reset=False))

    def _fit_noise(self, labels: Labels, X: Any) -> None:
        owner = type(self).__name__
        refuse_noise_in_one_class(owner, self.rate, self.classes_)
        X = self._checked(X, labels, reset=True)
        rng = check_random_state(self.random_state)
        self._mean, self._scale = _mean_and_scale(X)
        # Seeds, because the matrices would take n_features * n_classes**2 floats.
        self._class_seeds = rng.randint(2**31, size=len(self.classes_))
        self._flip_weights = rng.standard_normal((X.shape[1], 1))
        self._fit_shift(self._projected(X, self._flip_weights)[:, 0])
        self._average = self._average_transition(
            encode(labels, self.classes_, owner), X
        )

    def _fit_shift(self, scores: NDArray[np.float64]) -> None:
        """Find the shift at which the mean of the clipped probabilities is the rate."""
        max_deviation = min(self.rate, 1 - self.rate)
        scale = scores.std()
        self._slope = self.spread / scale if scale > 1e-12 else 0.0
        scores = self._slope * scores
        max_shift = float(np.abs(scores).max()) + max_deviation
        self._shift = 0.0
        if max_deviation and self._slope:
            self._shift = brentq(
                lambda s: np.clip(scores + s, -max_deviation, max_deviation).mean(),
                -max_shift,
                max_shift,
                xtol=1e-15,
            )

    def _flip_probabilities(self, X: Any) -> NDArray[np.float64]:
        max_deviation = min(self.rate, 1 - self.rate)
        scores = self._slope * self._projected(X, self._flip_weights)[:, 0]
        clipped = np.clip(scores + self._shift, -max_deviation, max_deviation)
        return self.rate + clipped

    def _draw(self, codes: Codes, X: Any, rng: np.random.RandomState) -> Codes:
        X = self._checked(X, codes, reset=False)
        probability = self._flip_probabilities(X)
        flipped = self._choose_flips(probability, rng)
        noisy = codes.copy()
        for code, rows in self._rows_by_class(codes, np.flatnonzero(flipped)):
            cumulative = self._new_class_proba(X[rows], code).cumsum(axis=1)
            draws = rng.random_sample((len(rows), 1)) * cumulative[:, -1:]
            noisy[rows] = (draws < cumulative).argmax(axis=1)
        return noisy

    def _choose_flips(
        self, probability: NDArray[np.float64], rng: np.random.RandomState
    ) -> NDArray[np.bool_]:
        draws = rng.random_sample(len(probability))
        if not self.exact:
            return draws < probability
        # Pareto sampling: a fixed number, each with approximately its own probability.
        n_possible = int(np.count_nonzero(probability))
        n_flips = min(round(self.rate * len(probability)), n_possible)
        with np.errstate(all="ignore"):  # infinite where the probability is 0
            odds_against = (1 - probability) / probability
            rank_key = draws / (1 - draws) * odds_against
        flipped = np.zeros(len(probability), dtype=bool)
        flipped[np.argsort(rank_key, kind="stable")[:n_flips]] = True
        return flipped

    def _average_transition(self, codes: Codes, X: Any) -> NDArray[np.float64]:
        matrix = np.zeros((len(self.classes_), len(self.classes_)))
        probability = self._flip_probabilities(X)
        for code, rows in self._rows_by_class(codes, np.arange(len(codes))):
            matrix[code] += probability[rows] @ self._new_class_proba(X[rows], code)
        matrix /= np.bincount(codes, minlength=len(matrix))[:, np.newaxis]
        np.fill_diagonal(matrix, 0)
        np.fill_diagonal(matrix, np.maximum(1 - matrix.sum(axis=1), 0))
        return matrix

    def _rows_by_class(
        self, codes: Codes, rows: NDArray[np.intp]
    ) -> Iterator[tuple[int, NDArray[np.intp]]]:
        for code in range(len(self.classes_)):
            of_class = rows[codes[rows] == code]
            for part in parts(len(of_class), _ROWS_AT_A_TIME):
                yield code, of_class[part]

    def _new_class_proba(self, X: Any, code: int) -> NDArray[np.float64]:
        """Return P(new class | sample of class ``code`` whose label flips)."""
        shape = (self.n_features_in_, len(self.classes_))
        rng = np.random.RandomState(self._class_seeds[code])
        logits = self._projected(X, rng.standard_normal(shape))
        logits[:, code] = -np.inf
        if len(self.classes_) == 1:
            return np.zeros_like(logits)
        return softmax(logits, axis=1)

    def _projected(self, X: Any, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Project standardized ``X``; scales the weights, since ``X`` may be sparse."""
        scaled = weights / self._scale[:, np.newaxis]
        return np.asarray(X @ scaled) - self._mean @ scaled

    def _checked(self, X: Any, y: Any, *, reset: bool) -> Any:
        if X is None:
            owner = type(self).__name__
            raise ValueError(
                f"{owner} needs the samples X, because its noise depends on them, but "
                "got only labels. Call fit_transform(y, X), or fit(y, X) and "
                "transform(y, X)."
            )
        X = X if hasattr(X, "shape") else np.asarray(X)
        if len(X.shape) > 2:
            X = np.reshape(X, (len(X), -1))
        settings = {"accept_sparse": "csr", "dtype": np.float64, "reset": reset}
        with numbers_expected(type(self).__name__, X):
            X = validate_data(self, X, **settings)
        check_consistent_length(X, y)
        return X

    def _transition_matrix(self) -> NDArray[np.float64]:
        return self._average.copy()


def _mean_and_scale(X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if hasattr(X, "toarray"):
        mean, variance = mean_variance_axis(X, axis=0)
    else:
        mean, variance = X.mean(axis=0), X.var(axis=0)
    # Dividing a constant feature by its rounding error would make it random.
    scale = np.sqrt(np.where(variance > 1e-15 * (1 + mean**2), variance, 1.0))
    return mean, scale

"""Base class of all label noise: validation, drawing and the record of flips."""

import copy
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from skpresto._labels import (
    Codes,
    Labels,
    classes_of,
    decode,
    encode,
    in_kind_of,
    label_vector,
)
from skpresto._sklearn import _fit_context
from skpresto.noise._draws import random_state_of
from skpresto.noise._sampler import NoiseSampler

# A Pipeline calls fit_transform(X, y), so that the samples arrive as labels.
_HINT_IN_PIPELINE = (
    "If this is the X of a Pipeline, whose steps cannot change y, use "
    "NoisyTargetClassifier instead or, in the Pipeline of imbalanced-learn, the step "
    "noise.as_sampler()."
)


class BaseLabelNoise(  # type: ignore[call-arg]
    TransformerMixin, BaseEstimator, ABC, auto_wrap_output_keys=None
):
    """Base class of all injectors, which add noise to labels and record it.

    A subclass implements two methods: ``_draw``, which draws noisy class numbers, and
    ``_transition_matrix``, which returns the transition matrix of these draws. Labels
    of any type, pandas Series and the record of flips are handled here. The contract of
    an injector is checked by :mod:`skpresto.noise.testing`.

    Parameters
    ----------
    random_state : int, RandomState instance or None, default=None
        Source of randomness. With an int, the same labels get the same noise in every
        call, and other labels independent noise.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes seen in ``fit``, sorted.
    transition_matrix_ : ndarray of shape (n_classes, n_classes)
        In row i and column j the probability that a label of class i becomes j.
    flipped_mask_ : ndarray of shape (n_samples,), dtype=bool
        True where the last ``transform`` changed a label.
    realized_rate_ : float
        Fraction of the labels that the last ``transform`` changed.

    See Also
    --------
    SymmetricNoise : Replace labels by any other class, all equally likely.
    skpresto.noise.testing.check_injector : Check your own injector.

    Examples
    --------
    Noise that replaces the last class by the first:

    >>> import numpy as np
    >>> from skpresto.noise import BaseLabelNoise
    >>> class WithoutLastClass(BaseLabelNoise):
    ...     def __init__(self, random_state=None):
    ...         self.random_state = random_state
    ...
    ...     def _draw(self, codes, X, rng):
    ...         return np.where(codes == len(self.classes_) - 1, 0, codes)
    ...
    ...     def _transition_matrix(self):
    ...         matrix = np.eye(len(self.classes_))
    ...         matrix[-1] = matrix[0]
    ...         return matrix
    >>> WithoutLastClass().fit_transform(["cat", "dog", "emu", "dog"])
    array(['cat', 'dog', 'cat', 'dog'], dtype='<U3')
    """

    _parameter_constraints: dict = {"random_state": ["random_state"]}

    classes_: Labels
    random_state: Any

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, y: Any, X: Any = None) -> Self:
        """Learn the classes that noisy labels are drawn from.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels of any type.
        X : array-like of shape (n_samples, ...), default=None
            The samples. Required only if the noise depends on them.

        Returns
        -------
        self : object
            The fitted injector.
        """
        labels = self._label_vector(y)
        # A copy is fitted, so that a fit that fails leaves this injector unchanged.
        fitting = copy.copy(self)
        fitting.classes_ = classes_of(labels, type(self).__name__)
        fitting._fit_noise(labels, X)
        self.__dict__.update(fitting.__dict__)
        for record in ("flipped_mask_", "realized_rate_"):
            self.__dict__.pop(record, None)
        return self

    def transform(self, y: Any, X: Any = None) -> Any:
        """Return a noisy copy of ``y`` and record which labels changed.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels of classes seen in ``fit``.
        X : array-like of shape (n_samples, ...), default=None
            The samples. Required only if the noise depends on them.

        Returns
        -------
        y_noisy : ndarray or Series of shape (n_samples,)
            Labels among ``classes_``; a pandas Series, with index and name, if ``y``
            is one.
        """
        check_is_fitted(self)
        owner = type(self).__name__
        codes = encode(self._label_vector(y), self.classes_, owner)
        rng = random_state_of(self.random_state, codes, len(self.classes_))
        drawn = self._draw(codes, X, rng)
        y_noisy = in_kind_of(y, decode(drawn, self.classes_), owner)
        self.flipped_mask_ = drawn != codes
        self.realized_rate_ = float(self.flipped_mask_.mean()) if len(codes) else 0.0
        return y_noisy

    def fit_transform(self, y: Any, X: Any = None) -> Any:
        """Fit to ``y``, then return a noisy copy of it.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels of any type.
        X : array-like of shape (n_samples, ...), default=None
            The samples. Required only if the noise depends on them.

        Returns
        -------
        y_noisy : ndarray or Series of shape (n_samples,)
            Labels among ``classes_``; a pandas Series, with index and name, if ``y``
            is one.
        """
        return self.fit(y, X).transform(y, X)

    def as_sampler(self) -> NoiseSampler:
        """Return a sampler, to use this noise in imbalanced-learn's Pipeline.

        Returns
        -------
        sampler : NoiseSampler
            A sampler with this injector as its parameter ``noise``.

        Examples
        --------
        >>> from skpresto.noise import PairNoise
        >>> PairNoise(rate=0.3).as_sampler()
        NoiseSampler(noise=PairNoise(rate=0.3))
        """
        return NoiseSampler(self)

    @property
    def transition_matrix_(self) -> NDArray[np.float64]:
        """Probability that a label of class i (row) becomes class j (column)."""
        check_is_fitted(self)
        return self._transition_matrix()

    def _label_vector(self, y: Any) -> Labels:
        owner = type(self).__name__
        return label_vector(y, owner, hint_if_not_1d=_HINT_IN_PIPELINE)

    def _fit_noise(self, labels: Labels, X: Any) -> None:
        """Fit everything but ``classes_``, which is set before this is called."""

    @abstractmethod
    def _draw(self, codes: Codes, X: Any, rng: np.random.RandomState) -> Codes:
        """Return noisy class numbers for ``codes``, leaving ``codes`` unchanged."""

    @abstractmethod
    def _transition_matrix(self) -> NDArray[np.float64]:
        """Return P(noisy class j | class i) of shape (n_classes, n_classes)."""

    def __sklearn_tags__(self) -> Any:
        """Return tags of a transformer of targets, like those of LabelEncoder."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.target_tags.one_d_labels = True
        return tags

"""What all label noise has in common: classes in, noisy labels out, a record kept."""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import check_is_fitted

from skpresto._sklearn import _fit_context
from skpresto.noise._labels import (
    Codes,
    Labels,
    classes_of,
    decode,
    encode,
    in_kind_of,
    label_vector,
)
from skpresto.noise._sampler_view import hidden_from_imblearn


class BaseLabelNoise(  # type: ignore[call-arg]
    TransformerMixin, BaseEstimator, ABC, auto_wrap_output_keys=None
):
    """Base of all injectors: put noise into labels, and remember where it went.

    A subclass says two things only: how class numbers are drawn (``_draw``) and
    which transition matrix that amounts to (``_transition_matrix``). Labels of any
    type, pandas Series, bookkeeping and ``fit_resample`` are dealt with here. What
    an injector promises is checked by :mod:`skpresto.noise.testing`.

    Parameters
    ----------
    random_state : int, RandomState instance or None, default=None
        Source of the noise. An int makes every call give the same labels.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes seen in ``fit``, sorted.
    transition_matrix_ : ndarray of shape (n_classes, n_classes)
        In row i and column j the probability that a label of class i becomes j.
    flipped_mask_ : ndarray of shape (n_samples,), dtype=bool
        Which labels the last ``transform`` changed.
    realized_rate_ : float
        Share of the labels that the last ``transform`` changed.

    See Also
    --------
    SymmetricNoise : Mistake a class for any other, all alike.
    skpresto.noise.testing.check_injector : Check an injector of one's own.

    Examples
    --------
    Noise that only ever forgets the last class:

    >>> import numpy as np
    >>> from skpresto.noise import BaseLabelNoise
    >>> class ForgetLastClass(BaseLabelNoise):
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
    >>> ForgetLastClass().fit_transform(["cat", "dog", "emu", "dog"])
    array(['cat', 'dog', 'cat', 'dog'], dtype='<U3')
    """

    _parameter_constraints: dict = {"random_state": ["random_state"]}

    classes_: Labels
    random_state: Any

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, y: Any, X: Any = None) -> Self:
        """Learn the classes among which labels will be exchanged.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels of any type.
        X : array-like of shape (n_samples, ...), default=None
            The samples, needed only where noise depends on them.

        Returns
        -------
        self : object
            The fitted injector.
        """
        labels = label_vector(y, type(self).__name__)
        self.classes_ = classes_of(labels, type(self).__name__)
        for record in ("flipped_mask_", "realized_rate_"):
            self.__dict__.pop(record, None)
        self._fit_noise(labels, X)
        return self

    @hidden_from_imblearn
    def transform(self, y: Any, X: Any = None) -> Any:
        """Return a noisy copy of ``y`` and remember which labels changed.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels, all of classes seen in ``fit``.
        X : array-like of shape (n_samples, ...), default=None
            The samples, needed only where noise depends on them.

        Returns
        -------
        y_noisy : ndarray or Series of shape (n_samples,)
            Labels among ``classes_``; a pandas Series, with index and name, if ``y``
            is one.
        """
        check_is_fitted(self)
        owner = type(self).__name__
        codes = encode(label_vector(y, owner), self.classes_, owner)
        drawn = self._draw(codes, X, check_random_state(self.random_state))
        y_noisy = in_kind_of(y, decode(drawn, self.classes_), owner)
        self.flipped_mask_ = drawn != codes
        self.realized_rate_ = float(self.flipped_mask_.mean()) if len(codes) else 0.0
        return y_noisy

    @hidden_from_imblearn
    def fit_transform(self, y: Any, X: Any = None) -> Any:
        """Fit to ``y``, then return a noisy copy of it.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels of any type.
        X : array-like of shape (n_samples, ...), default=None
            The samples, needed only where noise depends on them.

        Returns
        -------
        y_noisy : ndarray or Series of shape (n_samples,)
            Labels among ``classes_``; a pandas Series, with index and name, if ``y``
            is one.
        """
        return self.fit(y, X).transform(y, X)

    def fit_resample(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return ``X`` as it is and a noisy copy of ``y``.

        This is what imbalanced-learn's Pipeline calls, in ``fit`` only: predictions
        and scores never meet the noise.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...)
            The samples.
        y : array-like of shape (n_samples,)
            Labels of any type.

        Returns
        -------
        X : array-like of shape (n_samples, ...)
            The very object that was passed.
        y_noisy : ndarray or Series of shape (n_samples,)
            Labels among ``classes_``.
        """
        check_consistent_length(X, y)
        return X, self.fit_transform(y, X)

    @property
    def transition_matrix_(self) -> NDArray[np.float64]:
        """Probability that a label of class i (row) becomes class j (column)."""
        check_is_fitted(self)
        return self._transition_matrix()

    def _fit_noise(self, labels: Labels, X: Any) -> None:
        """Learn what else the noise needs to know; ``classes_`` is known by now."""

    @abstractmethod
    def _draw(self, codes: Codes, X: Any, rng: np.random.RandomState) -> Codes:
        """Return noisy class numbers for ``codes``, leaving ``codes`` unchanged."""

    @abstractmethod
    def _transition_matrix(self) -> NDArray[np.float64]:
        """Return P(noisy class j | class i) of shape (n_classes, n_classes)."""

    def __sklearn_tags__(self) -> Any:
        """Say, as LabelEncoder does, that what is transformed is a target."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.target_tags.one_d_labels = True
        return tags

"""Pair noise: each class is mistaken for one other."""

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skpresto._sklearn import Interval
from skpresto.noise._class_conditional import (
    BaseClassConditionalNoise,
    refuse_noise_in_one_class,
)
from skpresto.noise._labels import Codes, Labels


class PairNoise(BaseClassConditionalNoise):
    """Mistake each class for one other: the next, or the one a mapping names.

    Harder than symmetric noise of the same rate, as all mistakes of a class agree:
    beyond a rate of one half the wrong label is the more frequent one.

    Parameters
    ----------
    rate : float, default=0.2
        Share of the labels to flip, in [0, 1], of each class that is mistaken at all.
    mapping : dict of {class: class} or None, default=None
        For each class the one it is mistaken for. Classes left out keep their labels,
        so that the share of wrong labels in all is less than ``rate``. By default the
        next class in sorted order, and the first for the last.
    exact : bool, default=False
        Whether to flip exactly ``round(rate * n)`` of the n labels of mistaken
        classes, and of each class its share to within one label, instead of tossing
        a coin for every label.
    random_state : int, RandomState instance or None, default=None
        Source of the noise. An int makes every call give the same labels.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes seen in ``fit``, sorted.
    transition_matrix_ : ndarray of shape (n_classes, n_classes)
        In row i and column j the probability that a label of class i becomes j:
        ``1 - rate`` on the diagonal of each class that is mistaken.
    flipped_mask_ : ndarray of shape (n_samples,), dtype=bool
        Which labels the last ``transform`` changed.
    realized_rate_ : float
        Share of the labels that the last ``transform`` changed.

    See Also
    --------
    SymmetricNoise : Mistake a class for any other, all alike.
    TransitionMatrixNoise : Mistake classes as a matrix says.

    References
    ----------
    .. [1] B. Han et al., "Co-teaching: robust training of deep neural networks with
       extremely noisy labels", NeurIPS 2018 (pair flipping).
    .. [2] G. Patrini et al., "Making deep neural networks robust to label noise: a loss
       correction approach", CVPR 2017 (asymmetric noise by a mapping).

    Examples
    --------
    >>> from skpresto.noise import PairNoise
    >>> y = ["automobile", "cat", "dog", "truck"]
    >>> PairNoise(rate=1.0).fit_transform(y).tolist()
    ['cat', 'dog', 'truck', 'automobile']

    Asymmetric noise: trucks are taken for automobiles, cats and dogs for each other.

    >>> mistaken_for = {"truck": "automobile", "cat": "dog", "dog": "cat"}
    >>> PairNoise(rate=1.0, mapping=mistaken_for).fit_transform(y).tolist()
    ['automobile', 'dog', 'cat', 'automobile']
    """

    _parameter_constraints: dict = {
        **BaseClassConditionalNoise._parameter_constraints,
        "rate": [Interval(Real, 0, 1, closed="both")],
        "mapping": [Mapping, None],
    }

    def __init__(
        self,
        rate: float = 0.2,
        mapping: Mapping[Any, Any] | None = None,
        *,
        exact: bool = False,
        random_state: Any = None,
    ) -> None:
        self.rate = rate
        self.mapping = mapping
        self.exact = exact
        self.random_state = random_state

    def _fit_noise(self, labels: Labels, X: Any) -> None:
        refuse_noise_in_one_class(type(self).__name__, self.rate, self.classes_)
        if self.mapping is None:
            self._mistaken_for = np.roll(np.arange(len(self.classes_)), -1)
        else:
            self._mistaken_for = self._numbered(self.mapping)

    def _numbered(self, mapping: Mapping[Any, Any]) -> NDArray[np.intp]:
        owner, names = type(self).__name__, self.classes_.tolist()
        number = {name: code for code, name in enumerate(names)}
        mistaken_for = np.arange(len(names))
        for source, target in mapping.items():
            for name in (source, target):
                if name not in number:
                    raise ValueError(
                        f"{owner} has a mapping of {source!r} to {target!r}, but "
                        f"{name!r} is not among the classes of y: "
                        f"{', '.join(map(repr, names[:10]))}"
                        f"{', ...' if len(names) > 10 else ''}. Map classes by their "
                        "labels as y has them."
                    )
            if source == target:
                raise ValueError(
                    f"{owner} has a mapping of {source!r} to itself, which is no "
                    "noise. Leave a class out of the mapping to keep its labels."
                )
            mistaken_for[number[source]] = number[target]
        return mistaken_for

    @property
    def _is_mistaken(self) -> NDArray[np.bool_]:
        return self._mistaken_for != np.arange(len(self.classes_))

    def _flip_rates(self) -> NDArray[np.float64]:
        return np.where(self._is_mistaken, float(self.rate), 0.0)

    def _n_exact_flips(self, n_labels: NDArray[np.intp]) -> int:
        return round(self.rate * int(n_labels[self._is_mistaken].sum()))

    def _draw_other(self, codes: Codes, rng: np.random.RandomState) -> Codes:
        return self._mistaken_for[codes]

    def _transition_matrix(self) -> NDArray[np.float64]:
        rates = self._flip_rates()
        matrix = np.diag(1 - rates)
        matrix[np.arange(len(rates)), self._mistaken_for] += rates
        return matrix

"""Pair noise: wrong labels of a class all have the same other class."""

from collections.abc import Hashable, Mapping
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


class PairNoise(BaseClassConditionalNoise):
    """Replace labels of each class by one other class: the next, or as a mapping says.

    It is harder to learn from than symmetric noise of the same rate, because all wrong
    labels of a class agree: beyond a rate of one half they are the majority.

    Parameters
    ----------
    rate : float, default=0.2
        Fraction of the labels to flip, in [0, 1], of each class in the mapping.
    mapping : dict of {class: class} or None, default=None
        For each class the one that its labels flip to. Classes left out keep their
        labels, so that the overall fraction of wrong labels is less than ``rate``. By
        default the next class in sorted order, and the first for the last.
    exact : bool, default=False
        Whether to flip exactly ``round(rate * n)`` of the n labels of classes in the
        mapping, and the fraction ``rate`` of each of these classes to within one label,
        instead of flipping each label independently.
    random_state : int, RandomState instance or None, default=None
        Source of randomness. With an int, the same labels get the same noise in every
        call, and other labels independent noise.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes seen in ``fit``, sorted.
    transition_matrix_ : ndarray of shape (n_classes, n_classes)
        In row i and column j the probability that a label of class i becomes j:
        ``1 - rate`` on the diagonal for each class in the mapping.
    flipped_mask_ : ndarray of shape (n_samples,), dtype=bool
        True where the last ``transform`` changed a label.
    realized_rate_ : float
        Fraction of the labels that the last ``transform`` changed.

    See Also
    --------
    SymmetricNoise : Replace labels by any other class, all equally likely.
    TransitionMatrixNoise : Replace labels according to a transition matrix.

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

    Asymmetric noise: trucks become automobiles, cats become dogs and dogs cats.

    >>> mapping = {"truck": "automobile", "cat": "dog", "dog": "cat"}
    >>> PairNoise(rate=1.0, mapping=mapping).fit_transform(y).tolist()
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
            self._targets = np.roll(np.arange(len(self.classes_)), -1)
        else:
            self._targets = self._target_numbers(self.mapping)

    def _target_numbers(self, mapping: Mapping[Any, Any]) -> NDArray[np.intp]:
        owner, names = type(self).__name__, self.classes_.tolist()
        number = {name: code for code, name in enumerate(names)}
        targets = np.arange(len(names))
        for source, target in mapping.items():
            for name in (source, target):
                if not isinstance(name, Hashable) or name not in number:
                    raise ValueError(
                        f"{owner} has a mapping of {source!r} to {target!r}, but "
                        f"{name!r} is not among the classes of y: "
                        f"{', '.join(map(repr, names[:10]))}"
                        f"{', ...' if len(names) > 10 else ''}. Use the labels of y in "
                        "the mapping."
                    )
            if source == target:
                raise ValueError(
                    f"{owner} has a mapping of {source!r} to itself, but needs another "
                    "class. Leave a class out of the mapping to keep its labels."
                )
            targets[number[source]] = number[target]
        return targets

    @property
    def _is_mapped(self) -> NDArray[np.bool_]:
        return self._targets != np.arange(len(self.classes_))

    def _flip_rates(self) -> NDArray[np.float64]:
        return np.where(self._is_mapped, float(self.rate), 0.0)

    def _n_exact_flips(self, n_labels: NDArray[np.intp]) -> int:
        return round(self.rate * int(n_labels[self._is_mapped].sum()))

    def _draw_other(self, codes: Codes, rng: np.random.RandomState) -> Codes:
        return self._targets[codes]

    def _transition_matrix(self) -> NDArray[np.float64]:
        rates = self._flip_rates()
        matrix = np.diag(1 - rates)
        matrix[np.arange(len(rates)), self._targets] += rates
        return matrix

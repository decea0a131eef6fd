"""What a fit found out about each training label."""

from dataclasses import dataclass, fields, replace
from hashlib import blake2b
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from skpresto._label_quality.likeliest import Likeliest
from skpresto._label_quality.planted import PlantedErrors
from skpresto._labels import Codes

#: What the quality of labels was computed from.
Basis = Literal["in sample", "out of fold", "rounds", "votes"]


@dataclass(frozen=True)
class LabelFindings:
    """What a fit found out about the training labels, one entry per sample.

    Every method returns them; the fitted attributes of the classifiers are read from
    them. Tensors are converted to arrays.

    Parameters
    ----------
    is_safe : array of shape (n_samples,), dtype=bool
        Whether the given label is accepted as correct.
    quality : array of shape (n_samples,)
        Continuous score in [0, 1], higher for labels that are more likely correct. It
        ranks labels, and is not calibrated.
    suggested : array of shape (n_samples,)
        The class that the method considers most likely.
    agreement : array of shape (n_samples,)
        Fraction of the last q predictions that equal the given label.
    corrected : array of shape (n_samples,), default=None
        The corrected label where there is one, the given one elsewhere; None for
        methods that correct no labels.
    is_corrected : array of shape (n_samples,), dtype=bool, default=None
        Where the corrected label differs from the given one.
    transition_matrix : array of shape (n_classes, n_classes), default=None
        Estimated probability of each given label (columns) for each true class (rows).
    noise_rate : float, default=None
        Fraction of wrong labels: as given to the method, or estimated. None means the
        fraction of labels that are not safe.
    basis : {"in sample", "out of fold", "rounds", "votes"}, default="in sample"
        What the quality was computed from: probabilities by networks that were trained
        on the labels, by networks that were not, or by other classifiers in three
        rounds; or a fraction of predictions.
    disagreement : float, default=None
        Fraction of labels that are not the class with the highest out-of-fold
        probability; None for methods without such probabilities.
    likeliest : Likeliest, default=None
        The most probable classes, as class numbers; None where they are not known.
    planted : PlantedErrors, default=None
        What labels that are wrong on purpose tell about the out-of-fold probabilities
        from which the quality was computed.
    fingerprint : str, default=None
        Of the given labels, see :func:`fingerprint_of`, by which the training labels
        are recognized later.

    Notes
    -----
    Inside the package, classes are numbers. :meth:`decoded` replaces them by labels,
    but for those of ``likeliest``, which would be large.
    """

    is_safe: Any
    quality: Any
    suggested: Any
    agreement: Any
    corrected: Any = None
    is_corrected: Any = None
    transition_matrix: Any = None
    noise_rate: float | None = None
    basis: Basis = "in sample"
    disagreement: float | None = None
    likeliest: Likeliest | None = None
    planted: PlantedErrors | None = None
    fingerprint: str | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if hasattr(value, "cpu"):  # a tensor
                object.__setattr__(self, field.name, value.cpu().numpy())
        for name in ("quality", "agreement", "transition_matrix"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, np.asarray(value, dtype=np.float64))
        if self.noise_rate is None:
            object.__setattr__(self, "noise_rate", float(1 - self.is_safe.mean()))

    def decoded(self, classes: ArrayLike) -> "LabelFindings":
        """Return the same findings with labels in the place of class numbers."""
        labels = np.asarray(classes)
        corrected = None if self.corrected is None else labels[self.corrected]
        return replace(
            self,
            suggested=labels[self.suggested],
            corrected=corrected,
        )


def fingerprint_of(codes: Codes) -> str:
    """Return a text that differs for other labels, or another order of them.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,)
        Class numbers, of any integer dtype.

    Examples
    --------
    >>> import numpy as np
    >>> fingerprint_of(np.array([0, 1, 1])) == fingerprint_of(np.array([1, 0, 1]))
    False
    """
    return blake2b(codes.astype("<i8").tobytes(), digest_size=8).hexdigest()

"""Label noise as a sampler for the Pipeline of imbalanced-learn."""

from typing import Any, Self

from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_consistent_length

from skpresto._sklearn import HasMethods, _fit_context


class NoiseSampler(BaseEstimator):
    """Add label noise as a step of imbalanced-learn's Pipeline.

    That Pipeline calls ``fit_resample`` of its samplers in ``fit`` only: the steps that
    follow are trained on noisy labels, while predictions and scores are without noise.
    An injector cannot be a step itself, because the Pipeline would use its
    ``transform``, which is for labels, on samples. ``noise.as_sampler()`` is short for
    ``NoiseSampler(noise)``.

    Parameters
    ----------
    noise : object or None
        An injector such as :class:`SymmetricNoise`. A clone of it is fitted. With None
        labels are not changed, as a baseline in a parameter grid.

    Attributes
    ----------
    noise_ : object or None
        The fitted injector: ``noise_.flipped_mask_`` is True where the last
        ``fit_resample`` changed a label.

    See Also
    --------
    NoisyTargetClassifier : The same without imbalanced-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from skpresto.noise import NoiseSampler, SymmetricNoise
    >>> X, y = np.zeros((100, 2)), np.repeat(["cat", "dog"], 50)
    >>> sampler = NoiseSampler(SymmetricNoise(rate=0.2, exact=True, random_state=0))
    >>> X_same, y_noisy = sampler.fit_resample(X, y)
    >>> X_same is X, int((y_noisy != y).sum())
    (True, 20)

    As a step of a Pipeline, with the noise rate in a grid:

    >>> from imblearn.pipeline import Pipeline  # doctest: +SKIP
    >>> steps = [("sampler", sampler), ("model", classifier)]  # doctest: +SKIP
    >>> grid = {"sampler__noise__rate": [0.0, 0.2, 0.4]}  # doctest: +SKIP
    >>> GridSearchCV(Pipeline(steps), grid).fit(X, y)  # doctest: +SKIP
    """

    _parameter_constraints: dict = {"noise": [HasMethods(["fit_transform"]), None]}

    def __init__(self, noise: Any) -> None:
        self.noise = noise

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the injector, and discard the noisy labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...)
            The samples.
        y : array-like of shape (n_samples,)
            Labels of any type.

        Returns
        -------
        self : object
            The fitted sampler.
        """
        self.fit_resample(X, y)
        return self

    @_fit_context(prefer_skip_nested_validation=False)
    def fit_resample(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return ``X`` unchanged and a noisy copy of ``y``.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...)
            The samples.
        y : array-like of shape (n_samples,)
            Labels of any type.

        Returns
        -------
        X : array-like of shape (n_samples, ...)
            The object that was passed.
        y_noisy : ndarray or Series of shape (n_samples,)
            Noisy labels, or ``y`` itself if ``noise`` is None.
        """
        check_consistent_length(X, y)
        noise = None if self.noise is None else clone(self.noise)
        y_noisy = y if noise is None else noise.fit_transform(y, X)
        self.noise_ = noise
        return X, y_noisy

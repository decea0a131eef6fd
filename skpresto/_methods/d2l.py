"""Dimensionality-driven learning: trust labels less when the representation grows."""

import math
from collections.abc import Callable
from functools import partial
from numbers import Integral
from typing import Any

import torch
from torch import Tensor, nn

from skpresto._data.batch import Batch
from skpresto._methods._dimensionality import N_TOGETHER, mean_dimensionality
from skpresto._methods._epochs import EPOCHS_CONSTRAINT, n_epochs_of
from skpresto._methods._one_stage import OneStageClassifier, losses_of
from skpresto._sklearn import Interval
from skpresto._training.policy import Policy, Selection
from skpresto._training.request import FitRequest
from skpresto._training.trainer import Trainer


class MixLabelsByDimensionality(Policy):
    """Mix labels with predictions from the epoch on in which the LID increases.

    The *turning point* is the first epoch, after a warm-up, whose LID exceeds the mean
    of the ``window`` epochs before by more than two standard deviations. From then on
    the target is ``alpha * label + (1 - alpha) * predicted class``, where
    ``alpha = exp(-e / n_epochs * LID_e / min LID)`` after e epochs.

    Parameters
    ----------
    measure : callable
        Returns the LID of the present representation; called after each epoch.
    losses_of : callable
        Maps logits and class numbers to one loss per sample.
    n_epochs : int
        Number of epochs of the training.
    warm_up : int
        Epochs before those of the first window.
    window : int
        Number of epochs with which an epoch is compared.

    Attributes
    ----------
    dimensionalities : list of float
        The LID after each epoch; that of the epoch before if there is none.
    turning_epoch : int or None
        Number of epochs at the turning point.
    alpha : float
        Weight of the given labels.
    """

    may_select_nothing = False
    _state = ("dimensionalities", "turning_epoch", "alpha", "_n_completed")

    def __init__(
        self,
        measure: Callable[[], float],
        losses_of: Callable[[Tensor, Tensor], Tensor],
        n_epochs: int,
        warm_up: int,
        window: int,
    ) -> None:
        self.measure = measure
        self.losses_of = losses_of
        self.n_epochs = n_epochs
        self.warm_up = warm_up
        self.window = window
        self.dimensionalities: list[float] = []
        self.turning_epoch: int | None = None
        self.alpha = 1.0
        self._n_completed = 0

    def select(self, batch: Batch) -> Selection:
        """Return the whole batch, with mixed targets after the turning point."""
        if self.turning_epoch is None:
            return Selection()
        predicted = batch.logits.argmax(dim=2)

        def mixed(logits: Tensor, losses: Tensor) -> Tensor:
            # The loss of a mixture of two classes, for any criterion.
            other = self.losses_of(logits, predicted).view(losses.shape)
            return self.alpha * losses + (1 - self.alpha) * other

        return Selection(objective=mixed)

    def end_epoch(self) -> dict[str, Any]:
        """Measure the LID after an epoch, and return it for the record."""
        measured = self.measure()
        self._n_completed += 1
        if measured > 0:
            self._add(measured)
        elif self.dimensionalities:
            self._add(self.dimensionalities[-1])
        return {"dimensionality": measured if measured > 0 else None}

    def _add(self, dimensionality: float) -> None:
        self.dimensionalities.append(dimensionality)
        if self.turning_epoch is None and self._is_turning():
            self.turning_epoch = self._n_completed
        if self.turning_epoch is not None:
            growth = dimensionality / min(self.dimensionalities)
            self.alpha = math.exp(-self._n_completed / self.n_epochs * growth)

    def _is_turning(self) -> bool:
        *before, present = self.dimensionalities
        if len(before) < self.warm_up + self.window:
            return False
        recent = torch.tensor(before[-self.window :], dtype=torch.float64)
        threshold = recent.mean() + 2 * recent.std(correction=0)
        return present > threshold.item()


class D2LClassifier(OneStageClassifier):
    """Mix labels with predictions once the representation gains dimensions.

    Dimensionality-driven learning [1]_ measures the local intrinsic dimensionality
    (LID) of the activations before the last layer. It decreases while a network learns
    correct labels, and increases when the network begins to memorize wrong ones. From
    that turning point on, the targets are mixtures of the given label and the predicted
    class, with less weight on the label the higher the LID is. It needs no noise rate.
    The cost is one fit, and a prediction of 1,280 samples per epoch.

    Parameters
    ----------
    module : nn.Module class or instance, default=None
        The network, as in :class:`~skpresto.PrestoppingClassifier`. The activations are
        the input of the ``nn.Linear`` layer that is called last; of modules that call
        none, or call it with more than a vector per sample, the logits are used.
    warm_up : int or float, default=0.1
        Epochs before the search for the turning point begins, as a number or as a
        fraction of ``max_epochs``.
    window : int, default=5
        Number of epochs with which the LID of an epoch is compared. No turning point
        is found in the first ``warm_up + window`` epochs.
    n_neighbors : int, default=20
        Number of nearest neighbors from which the LID is estimated.
    q : int, default=10
        Number of latest predictions stored per sample. It does not affect training,
        only what is recorded.
    class_weight, criterion, optimizer, lr, max_epochs, batch_size, device
    callbacks, n_jobs, random_state, verbose, **net_params
        How the network is trained, as in :class:`~skpresto.PrestoppingClassifier`.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, input_shape_, net_, n_epochs_
        As in :class:`~skpresto.PrestoppingClassifier`.
    history_ : list of EpochRecord
        One record per epoch, with the LID as ``dimensionality``; can be passed to
        ``pandas.DataFrame``.
    turning_epoch_ : int or None
        Number of epochs after which labels are mixed with predictions; None if no
        turning point was found, so that all labels were learned as given.
    safe_mask_ : ndarray of shape (n_samples,), dtype=bool
        Whether the given label is the majority prediction.
    label_quality_ : ndarray of shape (n_samples,)
        As in :class:`~skpresto.PrestoppingClassifier`, from the visits of the first
        half of the epochs.
    label_agreement_, suggested_labels_, label_findings_
        As in :class:`~skpresto.PrestoppingClassifier`.
    noise_rate_ : float
        Fraction of samples outside the safe set.

    See Also
    --------
    skpresto.PrestoppingClassifier : Stop, and go on with a safe set.

    Notes
    -----
    With the distances d_1 <= ... <= d_k of a sample to its k nearest neighbors among
    127 others, its LID is ``-k / sum(log(d_j / d_k))``. The turning point is the first
    epoch whose mean LID exceeds the mean of the ``window`` epochs before by more than
    two standard deviations. After e of E epochs, labels have the weight
    ``exp(-e / E * LID_e / min LID)``. The authors' release learns all labels with the
    symmetric cross-entropy before the turning point, which the paper does not; here it
    is ``criterion`` throughout.

    References
    ----------
    .. [1] X. Ma, Y. Wang, M. E. Houle, S. Zhou, S. Erfani, S.-T. Xia, S. Wijewickrema,
       J. Bailey, "Dimensionality-driven learning with noisy labels", ICML 2018.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from skpresto.baselines import D2LClassifier
    >>> X, y = make_blobs(n_samples=200, random_state=0)
    >>> clf = D2LClassifier(max_epochs=10, random_state=0).fit(X, y)
    >>> clf.history_[-1].dimensionality > 0
    True
    """

    _parameter_constraints = {
        **OneStageClassifier._parameter_constraints,
        "warm_up": EPOCHS_CONSTRAINT,
        "window": [Interval(Integral, 2, None, closed="left")],
        "n_neighbors": [Interval(Integral, 2, N_TOGETHER - 1, closed="both")],
    }

    def __init__(
        self,
        module=None,
        *,
        warm_up=0.1,
        window=5,
        n_neighbors=20,
        q=10,
        class_weight=None,
        criterion=nn.CrossEntropyLoss,
        optimizer=torch.optim.SGD,
        lr=0.1,
        max_epochs=60,
        batch_size=128,
        device="cpu",
        callbacks=None,
        n_jobs=None,
        random_state=None,
        verbose=0,
        **net_params,
    ):
        self._store(locals())

    def _policy(self, trainer: Trainer, request: FitRequest) -> Policy:
        return MixLabelsByDimensionality(
            partial(mean_dimensionality, trainer, self.n_neighbors),
            losses_of(trainer),
            self.max_epochs,
            n_epochs_of(self, "warm_up"),
            self.window,
        )

    def _further(self, policy: Policy) -> dict[str, Any]:
        assert isinstance(policy, MixLabelsByDimensionality)
        return {"turning_epoch_": policy.turning_epoch}

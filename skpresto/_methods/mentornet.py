"""MentorNet with its predefined curriculum."""

from numbers import Real

import numpy as np
import torch
from torch import Tensor, nn

from skpresto._data.batch import Batch
from skpresto._data.features import on_device
from skpresto._methods._epochs import EPOCHS_CONSTRAINT, n_epochs_of
from skpresto._methods._one_stage import OneStageClassifier
from skpresto._methods._small_loss import n_kept
from skpresto._sklearn import Interval
from skpresto._training.policy import Policy, SelectingPolicy, Selection
from skpresto._training.request import FitRequest
from skpresto._training.trainer import Trainer

#: Fraction of the training after which weights decrease linearly beyond the threshold.
_LINEAR_FROM = 0.9


def percentile_of(values: Tensor, percentile: float) -> Tensor:
    """Return a percentile, as ``torch.quantile`` does with six times as many operators.

    Examples
    --------
    >>> percentile_of(torch.tensor([3.0, 1.0, 2.0]), 75)
    tensor(2.5000)
    """
    # In single precision, as there.
    rank = np.float32(percentile / 100) * np.float32(len(values) - 1)
    below, above = int(np.floor(rank)), int(np.ceil(rank))
    ordered = values.sort().values
    return torch.lerp(ordered[below], ordered[above], float(rank - below))


class PredefinedCurriculum(SelectingPolicy):
    """Weight samples by their loss: all at first, then those below a threshold.

    The threshold is a moving average of a percentile of the losses of each batch.
    After the warm-up, samples with a larger loss are left out; in the last tenth of the
    epochs, their weight is ``1 - (loss - threshold)``, at least 0. Besides, some
    samples of each batch are dropped at random. The loss of a batch is the weighted sum
    divided by the number of its samples, whatever their weights.

    Parameters
    ----------
    n_samples, n_epochs : int
        Size of the training set, and length of the training.
    percentile : float in [0, 100]
        Percentile of the losses that the threshold follows.
    decay : float in [0, 1)
        Weight of earlier batches in the threshold.
    warm_up : int
        Number of epochs in which all samples have the same weight.
    dropout : pair of float in [0, 1)
        Fraction of samples to drop in the warm-up, and later.
    seed : int
        Of the samples that are dropped. They are not drawn from torch's random state,
        which differs between processes that train together.
    device : str or torch.device, default="cpu"
        Where the selection is stored.

    Attributes
    ----------
    threshold : Tensor of shape (), or None
        None before the first batch, whose percentile is the first threshold.
    selected : Tensor of shape (n_samples,), dtype=bool
        Whether the loss of the sample was below the threshold at its last visit.
    """

    _state = ("threshold", "_selected", "_n_batches")

    def __init__(
        self,
        n_samples: int,
        n_epochs: int,
        *,
        percentile: float,
        decay: float,
        warm_up: int,
        dropout: tuple[float, float],
        seed: int,
        device: str = "cpu",
    ) -> None:
        super().__init__(n_samples, device)
        self.percentile = percentile
        self.decay = decay
        self.warm_up = warm_up
        self.linear_from = round(_LINEAR_FROM * n_epochs)
        self.dropout = dropout
        self.seed = seed
        self._n_batches = 0
        self.threshold: Tensor | None = None

    def select(self, batch: Batch) -> Selection:
        """Return the weights of the samples, and the loss divided by their number."""
        losses = batch.losses[0].float()
        level = percentile_of(losses, self.percentile)
        before = level if self.threshold is None else self.threshold
        self.threshold = self.decay * before + (1 - self.decay) * level
        excess = losses - self.threshold
        self.remember(batch.index, (excess <= 0).unsqueeze(0))
        is_warm_up = batch.epoch < self.warm_up
        weights = self._weights(excess, batch.epoch)
        weights = weights * self._is_kept(losses, self.dropout[not is_warm_up])
        scale = weights.mean()  # a step divides by the sum of the weights

        def objective(logits: Tensor, losses: Tensor) -> Tensor:
            return losses * scale.to(losses.dtype)

        return Selection(
            weights=weights.to(batch.losses.dtype).unsqueeze(0), objective=objective
        )

    def _weights(self, excess: Tensor, epoch: int) -> Tensor:
        if epoch < self.warm_up:
            return torch.ones_like(excess)
        if epoch < self.linear_from:
            return (excess <= 0).to(excess.dtype)
        return (1 - excess).clamp(0, 1)

    def _is_kept(self, losses: Tensor, rate: float) -> Tensor:
        """Return a random part of the batch."""
        self._n_batches += 1
        draws = torch.Generator().manual_seed(self.seed + self._n_batches)
        rank = torch.randperm(len(losses), generator=draws)
        return on_device(rank < n_kept(len(losses), rate), losses.device)


class MentorNetClassifier(OneStageClassifier):
    """Train on samples whose loss is below a moving threshold.

    MentorNet [1]_ weights samples by a curriculum. This is its predefined one
    (MentorNet-PD): after a warm-up on all labels, samples with a loss above a moving
    percentile of the losses are left out; towards the end their weight decreases
    linearly with the loss instead. Besides, some samples of each batch are dropped at
    random. The default percentile leaves out 30 % of the samples: set it to
    ``100 * (1 - noise_rate)`` if you know the rate. The cost is one fit.

    Parameters
    ----------
    module : nn.Module class or instance, default=None
        The network, as in :class:`~skpresto.PrestoppingClassifier`.
    percentile : float in [0, 100], default=70
        Percentile of the losses of a batch that the threshold follows.
    decay : float in [0, 1), default=0.5
        Weight of earlier batches in the threshold.
    warm_up : int or float, default=0.18
        Epochs at the start in which all samples have the same weight, as a number or as
        a fraction of ``max_epochs``.
    warm_up_dropout : float in [0, 1), default=0.5
        Fraction of the samples of a batch that is dropped at random in the warm-up.
    dropout : float in [0, 1), default=0.05
        The same after the warm-up.
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
        One record per epoch; can be passed to ``pandas.DataFrame``.
    safe_mask_ : ndarray of shape (n_samples,), dtype=bool
        Whether the loss of the sample was below the threshold in the last epoch.
    label_quality_ : ndarray of shape (n_samples,)
        As in :class:`~skpresto.CoTeachingClassifier`.
    label_agreement_, suggested_labels_, label_findings_
        As in :class:`~skpresto.PrestoppingClassifier`.
    noise_rate_ : float
        Fraction of samples outside the safe set.

    See Also
    --------
    skpresto.CoTeachingClassifier : Two networks, each on small losses of the other.

    Notes
    -----
    The threshold ``s`` begins with the percentile of the first batch, and each batch
    changes it to ``decay * s + (1 - decay) * percentile``. The weight of a loss l is 1
    if ``l <= s``; otherwise it is 0, and ``max(0, 1 - (l - s))`` in the last tenth of
    the epochs. The loss of a batch is the weighted sum of losses, divided by the size
    of the batch, so that steps are smaller the more samples are left out. The release
    trains a small network to imitate these weights; here they are used as they are. Its
    data-driven curriculum needs correct labels and is not included.

    References
    ----------
    .. [1] L. Jiang, Z. Zhou, T. Leung, L.-J. Li, L. Fei-Fei, "MentorNet: learning
       data-driven curriculum for very deep neural networks on corrupted labels", ICML
       2018.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from skpresto.baselines import MentorNetClassifier
    >>> X, y = make_blobs(n_samples=200, random_state=0)
    >>> clf = MentorNetClassifier(max_epochs=10, random_state=0).fit(X, y)
    >>> clf.predict(X).shape
    (200,)
    """

    _parameter_constraints = {
        **OneStageClassifier._parameter_constraints,
        "percentile": [Interval(Real, 0, 100, closed="both")],
        "decay": [Interval(Real, 0, 1, closed="left")],
        "warm_up": EPOCHS_CONSTRAINT,
        "warm_up_dropout": [Interval(Real, 0, 1, closed="left")],
        "dropout": [Interval(Real, 0, 1, closed="left")],
    }

    def __init__(
        self,
        module=None,
        *,
        percentile=70,
        decay=0.5,
        warm_up=0.18,
        warm_up_dropout=0.5,
        dropout=0.05,
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
        return PredefinedCurriculum(
            len(trainer.labels),
            self.max_epochs,
            percentile=self.percentile,
            decay=self.decay,
            warm_up=n_epochs_of(self, "warm_up"),
            dropout=(self.warm_up_dropout, self.dropout),
            seed=trainer.rng.randint(np.iinfo(np.int32).max),
            device=trainer.net.device,
        )

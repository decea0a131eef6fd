"""Co-teaching: two networks that choose for each other."""

from numbers import Real

import numpy as np
import torch
from torch import Tensor, nn

from skpresto._base import BaseNoisyLabelClassifier
from skpresto._noise_rate import NOISE_RATE_CONSTRAINT, noise_rate_of
from skpresto._sklearn import Interval
from skpresto._training.batch import Batch, Selection
from skpresto._training.policy import SelectionPolicy
from skpresto._training.small_loss import forget_rate, is_small_loss, n_kept
from skpresto._training.trainer import Trainer, TrainingData
from skpresto._warm_up import EPOCHS_CONSTRAINT, as_epochs


class ExchangeSmallLoss(SelectionPolicy):
    """Let each network learn the samples whose loss is small for the other.

    Attributes
    ----------
    is_selected : Tensor of shape (n_samples,), dtype=bool
        Whether a network learnt from the sample at its last visit.
    """

    def __init__(
        self,
        n_samples: int,
        noise_rate: float,
        ramp_epochs: int,
        exponent: float = 1.0,
        device: str = "cpu",
    ) -> None:
        self.noise_rate = noise_rate
        self.ramp_epochs = max(1, ramp_epochs)
        self.exponent = exponent
        self.is_selected = torch.zeros(n_samples, dtype=torch.bool, device=device)

    def select(self, batch: Batch) -> Selection:
        """Return for each network what the other one chooses."""
        return self._exchange(batch, self._small_losses(batch.losses, batch.epoch))

    def _small_losses(self, losses: Tensor, epoch: int) -> Tensor:
        rate = forget_rate(epoch, self.noise_rate, self.ramp_epochs, self.exponent)
        return is_small_loss(losses, n_kept(losses.shape[1], rate))

    def _exchange(self, batch: Batch, is_chosen: Tensor) -> Selection:
        self.is_selected.index_copy_(0, batch.index, is_chosen.any(dim=0))
        return Selection(weights=is_chosen.flip(0).to(batch.losses.dtype))


class CoTeachingClassifier(BaseNoisyLabelClassifier):
    """Train two networks, each on the samples with a small loss for the other.

    Co-teaching [1]_ takes a small loss for a sign of a correct label. Each network
    chooses the share of a batch that should be correct, and its peer learns it, so
    that one network's mistakes are not simply fed back to it. It works well on noise
    that looks random, and less so where one class is often taken for a certain other.

    Parameters
    ----------
    module : nn.Module class or instance, default=None
        The network, as in :class:`PrestoppingClassifier`; two are made. Of an instance,
        the second copy is initialized anew.
    noise_rate : float in [0, 1), default=None
        Share of wrong labels. ``None`` estimates it: one network is first trained as
        in :class:`PrestoppingClassifier`, with the same recipe, and the share of
        samples outside its safe set is taken. That about doubles the time, and reads
        high where many correct labels are too hard to learn; pass the rate if you
        know it.
    ramp_epochs : int or float, default=10
        Epochs until the full noise rate is left out of a batch, T_k in the paper, as
        a number or as a share of ``max_epochs``.
    exponent : float, default=1.0
        Shape of that ramp, c in the paper; above 1, more is left out earlier.
    q : int, default=10
        Number of latest predictions remembered for each sample; they are recorded,
        and do not change the training.
    criterion, optimizer, lr, max_epochs, batch_size, device, callbacks
    n_jobs, random_state, verbose, **net_params
        How the network is trained, as in :class:`PrestoppingClassifier`.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, input_shape_, net_, n_epochs_
        As in :class:`PrestoppingClassifier`.
    history_ : list of EpochRecord
        One record an epoch; goes straight into a ``DataFrame``.
    safe_mask_ : ndarray of shape (n_samples,), dtype=bool
        Whether a network learnt from the sample in the last epoch.
    label_agreement_, suggested_labels_ : ndarray of shape (n_samples,)
        As in :class:`PrestoppingClassifier`.
    noise_rate_ : float
        The noise rate used: as given, or estimated.

    See Also
    --------
    CoTeachingPlusClassifier : Chooses among samples on which the two disagree.

    Notes
    -----
    Of a batch of b samples, ``floor((1 - rate) * b)`` are kept, at least one; of
    equal losses, the first in the batch is kept. Predictions are the mean of both
    networks.

    References
    ----------
    .. [1] B. Han et al., "Co-teaching: robust training of deep neural networks with
       extremely noisy labels", NeurIPS 2018.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from skpresto import CoTeachingClassifier
    >>> X, y = make_blobs(n_samples=200, random_state=0)
    >>> clf = CoTeachingClassifier(noise_rate=0.1, ramp_epochs=4, max_epochs=10)
    >>> clf = clf.set_params(random_state=0).fit(X, y)
    >>> clf.predict(X).shape
    (200,)
    """

    _parameter_constraints = {
        **BaseNoisyLabelClassifier._parameter_constraints,
        "noise_rate": NOISE_RATE_CONSTRAINT,
        "ramp_epochs": EPOCHS_CONSTRAINT,
        "exponent": [Interval(Real, 0, None, closed="neither")],
    }
    _n_networks = 2

    def __init__(
        self,
        module=None,
        *,
        noise_rate=None,
        ramp_epochs=10,
        exponent=1.0,
        q=10,
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
        self.noise_rate = noise_rate
        self.ramp_epochs = ramp_epochs
        self.exponent = exponent
        super().__init__(
            module,
            q=q,
            criterion=criterion,
            optimizer=optimizer,
            lr=lr,
            max_epochs=max_epochs,
            batch_size=batch_size,
            device=device,
            callbacks=callbacks,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            **net_params,
        )

    def _before_training(self, data: TrainingData, rng: np.random.RandomState) -> None:
        self.noise_rate_ = noise_rate_of(self, data, rng)

    def _policy(self, trainer: Trainer) -> ExchangeSmallLoss:
        return ExchangeSmallLoss(
            len(trainer.labels),
            self.noise_rate_,
            self._ramp(),
            self.exponent,
            device=self.device,
        )

    def _ramp(self) -> int:
        """Return the length of the ramp, which may well outlast the training."""
        return as_epochs(self.ramp_epochs, self.max_epochs)

    def _train(self, trainer: Trainer, rng: np.random.RandomState) -> ExchangeSmallLoss:
        policy = self._policy(trainer)
        trainer.run(policy, self.max_epochs)
        return policy

    def _safe_mask(self, trainer: Trainer, outcome: ExchangeSmallLoss) -> Tensor:
        return outcome.is_selected

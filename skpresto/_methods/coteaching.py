"""Co-teaching: two networks that select samples for each other."""

from numbers import Real

import torch
from torch import Tensor, nn

from skpresto._data.batch import Batch
from skpresto._methods._epochs import EPOCHS_CONSTRAINT, as_epochs
from skpresto._methods._noise_rate import (
    NOISE_RATE_CONSTRAINT,
    given_or_estimated_noise_rate,
)
from skpresto._methods._one_stage import OneStageClassifier
from skpresto._methods._small_loss import forget_rate, is_small_loss, n_kept
from skpresto._sklearn import Interval
from skpresto._training.policy import Policy, SelectingPolicy, Selection
from skpresto._training.request import FitRequest
from skpresto._training.trainer import Trainer


class ExchangeSmallLoss(SelectingPolicy):
    """Train each network on the samples with a small loss for the other network.

    Attributes
    ----------
    selected : Tensor of shape (n_samples,), dtype=bool
        Whether a network selected the sample at its last visit.
    """

    may_select_nothing = False  # at least one sample of each batch
    noise_rate: float

    def __init__(
        self,
        n_samples: int,
        noise_rate: float,
        ramp_epochs: int,
        exponent: float = 1.0,
        device: str = "cpu",
    ) -> None:
        super().__init__(n_samples, device)
        self.noise_rate = noise_rate
        self.ramp_epochs = max(1, ramp_epochs)
        self.exponent = exponent

    def select(self, batch: Batch) -> Selection:
        """Return for each network the selection of the other one."""
        return self._exchange(batch, self._small_losses(batch.losses, batch.epoch))

    def _small_losses(self, losses: Tensor, epoch: int) -> Tensor:
        return is_small_loss(losses, n_kept(losses.shape[1], self._forget_rate(epoch)))

    def _forget_rate(self, epoch: int) -> float:
        return forget_rate(epoch, self.noise_rate, self.ramp_epochs, self.exponent)

    def _exchange(self, batch: Batch, is_chosen: Tensor) -> Selection:
        self.remember(batch.index, is_chosen)
        return Selection(weights=is_chosen.flip(0).to(batch.losses.dtype))


class CoTeachingClassifier(OneStageClassifier):
    """Train two networks, each on the samples with a small loss for the other.

    Co-teaching [1]_ treats a small loss as a sign of a correct label. Each network
    selects the fraction of a batch that should be correct, and the other one is trained
    on it, so that selection errors of a network are not fed back to itself. It works
    well on symmetric noise, and less so where one class is often mislabeled as one
    certain other. The cost is two fits, and one more if the noise rate is estimated.

    Parameters
    ----------
    module : nn.Module class or instance, default=None
        The network, as in :class:`PrestoppingClassifier`; two are built. If it is an
        instance, the trainable weights of the second copy get noise of one percent,
        so that the networks differ.
    noise_rate : float in [0, 1), default=None
        Fraction of wrong labels. ``None`` estimates it: one network is first trained
        as in :class:`PrestoppingClassifier`, with the same parameters, and the fraction
        of samples outside its safe set is used. That takes about one more fit, and the
        estimate is too high where many correct labels are too hard to learn; pass the
        rate if you know it.
    ramp_epochs : int or float, default=10
        Epochs until the full noise rate is left out of a batch, T_k in the paper, as
        a number or as a fraction of ``max_epochs``.
    exponent : float, default=1.0
        Shape of that ramp, c in the paper; above 1, more is left out in early epochs.
    q : int, default=10
        Number of latest predictions stored per sample. It does not affect training if
        ``noise_rate`` is given; the estimate of the noise rate depends on it.
    class_weight, criterion, optimizer, lr, max_epochs, batch_size, device
    callbacks, n_jobs, random_state, verbose, **net_params
        How the network is trained, as in :class:`PrestoppingClassifier`.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, input_shape_, net_, n_epochs_
        As in :class:`PrestoppingClassifier`.
    history_ : list of EpochRecord
        One record per epoch, with the name of its stage; can be passed to
        ``pandas.DataFrame``.
    safe_mask_ : ndarray of shape (n_samples,), dtype=bool
        Whether a network selected the sample in the last epoch.
    label_quality_ : ndarray of shape (n_samples,)
        As in :class:`PrestoppingClassifier`, from the visits of the first half of the
        epochs: later ones predict wrong labels that are memorized.
    label_agreement_, suggested_labels_, label_findings_
        As in :class:`PrestoppingClassifier`.
    noise_rate_ : float
        The noise rate used: as given, or estimated.

    See Also
    --------
    CoTeachingPlusClassifier : Select among samples on which the two disagree.

    Notes
    -----
    Of a batch of b samples, ``floor((1 - rate) * b)`` are kept, at least one; of
    equal losses, the first in the batch is kept. Predicted probabilities are the mean
    of both networks.

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

    _n_networks = 2
    _parameter_constraints = {
        **OneStageClassifier._parameter_constraints,
        "noise_rate": NOISE_RATE_CONSTRAINT,
        "ramp_epochs": EPOCHS_CONSTRAINT,
        "exponent": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        module=None,
        *,
        noise_rate=None,
        ramp_epochs=10,
        exponent=1.0,
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
        return ExchangeSmallLoss(
            len(trainer.labels),
            given_or_estimated_noise_rate(self, trainer),
            as_epochs(self.ramp_epochs, self.max_epochs),
            self.exponent,
            device=trainer.net.device,
        )

"""JoCoR: joint training of two networks with co-regularization."""

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
from skpresto._training.policy import Policy, Selection
from skpresto._training.request import FitRequest
from skpresto._training.trainer import Trainer

#: Smallest logarithm of a probability, so that differences are finite.
_LOWEST_LOG = -1e30


class JointSmallLoss(Policy):
    """Train two networks on the samples with a small joint loss.

    The joint loss of a sample is ``(1 - w) * (l1 + l2) + w * (KL(p1, p2) + KL(p2,
    p1))``, with the losses l and the probabilities p of both networks. It selects the
    samples, and it is minimized.

    Parameters
    ----------
    n_samples : int
        Number of training samples.
    noise_rate : float
        Fraction of wrong labels.
    ramp_epochs : int
        Epochs until that fraction is left out.
    co_regularization : float in [0, 1]
        The weight w of disagreement, lambda in the paper.
    device : str or torch.device, default="cpu"
        Where the selection is stored.

    Attributes
    ----------
    selected : Tensor of shape (n_samples,), dtype=bool
        Whether the sample was selected at its last visit.
    """

    may_select_nothing = False
    selected: Tensor
    noise_rate: float
    _state = ("selected",)

    def __init__(
        self,
        n_samples: int,
        noise_rate: float,
        ramp_epochs: int,
        co_regularization: float,
        device: str = "cpu",
    ) -> None:
        self.noise_rate = noise_rate
        self.ramp_epochs = max(1, ramp_epochs)
        self.co_regularization = co_regularization
        self.selected = torch.zeros(n_samples, dtype=torch.bool, device=device)

    def select(self, batch: Batch) -> Selection:
        """Return the samples with a small joint loss, the same for both networks."""
        rate = forget_rate(batch.epoch, self.noise_rate, self.ramp_epochs)
        joint = self._joint_losses(batch.logits, batch.losses)
        is_kept = is_small_loss(joint, n_kept(len(batch.index), rate))
        self.selected.index_copy_(0, batch.index, is_kept[0])
        return Selection(
            weights=is_kept.to(batch.losses.dtype), objective=self._joint_losses
        )

    def _joint_losses(self, logits: Tensor, losses: Tensor) -> Tensor:
        """Return half of the joint loss for each network, so that both make one."""
        log_p = torch.log_softmax(logits, dim=2).clamp(min=_LOWEST_LOG)
        p = log_p.exp()
        # The sum of both divergences.
        divergence = ((p[0] - p[1]) * (log_p[0] - log_p[1])).sum(dim=1)
        w = self.co_regularization
        joint = (1 - w) * losses.sum(dim=0) + w * divergence
        return (joint / 2).expand(2, -1)


class JoCoRClassifier(OneStageClassifier):
    """Train two networks that agree, on the samples with a small joint loss.

    JoCoR [1]_ trains two networks with one loss: the cross-entropy of both, and the
    divergence of their predictions. As in Co-teaching, samples with a large loss are
    left out of each batch, here the same ones for both networks: a wrong label
    is where two networks tend to disagree. The cost is two fits, and one more if the
    noise rate is estimated.

    Parameters
    ----------
    module : nn.Module class or instance, default=None
        The network, as in :class:`~skpresto.CoTeachingClassifier`; two are built.
    noise_rate : float in [0, 1), default=None
        Fraction of wrong labels. ``None`` estimates it as in
        :class:`~skpresto.CoTeachingClassifier`.
    ramp_epochs : int or float, default=10
        Epochs until the full noise rate is left out of a batch, T_k in the paper, as
        a number or as a fraction of ``max_epochs``.
    co_regularization : float in [0, 1], default=0.5
        Weight of the divergence, lambda in the paper; the losses have the weight
        ``1 - co_regularization``. The paper uses 0.9 for CIFAR-10 and 0.85 for
        CIFAR-100, in trainings of 200 epochs; in shorter ones of smaller data, networks
        learn too little with it, with SGD as well as with Adam.
    q : int, default=10
        Number of latest predictions stored per sample. It does not affect training if
        ``noise_rate`` is given; the estimate of the noise rate depends on it.
    class_weight, criterion, optimizer, lr, max_epochs, batch_size, device
    callbacks, n_jobs, random_state, verbose, **net_params
        How the network is trained, as in :class:`~skpresto.PrestoppingClassifier`.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, input_shape_, net_, n_epochs_
        As in :class:`~skpresto.PrestoppingClassifier`.
    history_ : list of EpochRecord
        One record per epoch, with the name of its stage; can be passed to
        ``pandas.DataFrame``.
    safe_mask_ : ndarray of shape (n_samples,), dtype=bool
        Whether the sample was selected in the last epoch.
    label_quality_ : ndarray of shape (n_samples,)
        As in :class:`~skpresto.CoTeachingClassifier`.
    label_agreement_, suggested_labels_, label_findings_
        As in :class:`~skpresto.PrestoppingClassifier`.
    noise_rate_ : float
        The noise rate used: as given, or estimated.

    See Also
    --------
    skpresto.CoTeachingClassifier : Each network selects for the other one.

    Notes
    -----
    The loss of a sample is ``(1 - w) * (l1 + l2) + w * (KL(p1, p2) + KL(p2, p1))``
    with the losses l and the probabilities p of both networks and
    ``w = co_regularization``. Of a batch of b samples, ``floor((1 - rate) * b)`` are
    kept, at least one. The official release leaves out half of the given rate if noise
    is asymmetric; here the rate is used as it is. Predicted probabilities are the mean
    of both networks.

    References
    ----------
    .. [1] H. Wei, L. Feng, X. Chen, B. An, "Combating noisy labels by agreement: a
       joint training method with co-regularization", CVPR 2020.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from skpresto.baselines import JoCoRClassifier
    >>> X, y = make_blobs(n_samples=200, random_state=0)
    >>> clf = JoCoRClassifier(noise_rate=0.1, ramp_epochs=4, max_epochs=10)
    >>> clf = clf.set_params(random_state=0).fit(X, y)
    >>> clf.predict(X).shape
    (200,)
    """

    _n_networks = 2
    _parameter_constraints = {
        **OneStageClassifier._parameter_constraints,
        "noise_rate": NOISE_RATE_CONSTRAINT,
        "ramp_epochs": EPOCHS_CONSTRAINT,
        "co_regularization": [Interval(Real, 0, 1, closed="both")],
    }

    def __init__(
        self,
        module=None,
        *,
        noise_rate=None,
        ramp_epochs=10,
        co_regularization=0.5,
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
        return JointSmallLoss(
            len(trainer.labels),
            given_or_estimated_noise_rate(self, trainer),
            as_epochs(self.ramp_epochs, self.max_epochs),
            self.co_regularization,
            trainer.net.device,
        )

"""CORES: confident predictions are rewarded, and samples below average are sieved."""

from numbers import Real
from typing import Any

import torch
from torch import Tensor, nn

from skpresto._data.batch import Batch
from skpresto._methods._epochs import EPOCHS_CONSTRAINT, as_epochs, n_epochs_of
from skpresto._methods._one_stage import OneStageClassifier
from skpresto._sklearn import Interval
from skpresto._training.policy import Policy, SelectingPolicy, Selection
from skpresto._training.request import FitRequest
from skpresto._training.trainer import Trainer

#: Added to probabilities before their logarithm, which limits the reward.
_SMALL = 1e-8


class ConfidenceRegularization(SelectingPolicy):
    """Subtract the mean loss of all classes, and leave out labels worse than that.

    The loss is ``(loss - beta * sum_k prior[k] * l[k]) / (1 + beta)`` with ``l[k] =
    -log p[k]``. After ``sieve_from`` epochs, a sample is learned if the loss l of its
    label is at most the mean of l over the classes. The prior is the frequency of
    labels among those that were not sieved in the epoch before.

    Parameters
    ----------
    labels : Tensor of shape (n_samples,)
        Given labels.
    n_classes : int
        Number of classes.
    rows : Tensor of positions, or None
        The samples to train on; None means all.
    beta : float
        Weight of the regularizer in the end.
    warm_up : int
        Number of epochs without it.
    ramp_epochs : int
        Number of epochs after these over which the weight grows.
    sieve_from : int
        Number of epochs in which all samples are learned.

    Attributes
    ----------
    prior : Tensor of shape (n_classes,)
        Frequency of each class.
    selected : Tensor of shape (n_samples,), dtype=bool
        Whether the sample was not sieved at its last visit.
    """

    _state = ("_selected", "prior")

    def __init__(
        self,
        labels: Tensor,
        n_classes: int,
        rows: Tensor | None,
        *,
        beta: float,
        warm_up: int,
        ramp_epochs: int,
        sieve_from: int,
    ) -> None:
        super().__init__(len(labels), labels.device)
        self.labels = labels
        self.beta = beta
        self.warm_up = warm_up
        self.ramp_epochs = ramp_epochs
        self.sieve_from = sieve_from
        used = labels if rows is None else labels[rows.to(labels.device)]
        self.prior = _frequencies(used, n_classes)

    def weight_at(self, epoch: int) -> float:
        """Return the weight of the regularizer after a number of epochs."""
        n_steps = max(1, self.ramp_epochs - 1)
        return self.beta * min(max(0.0, (epoch - self.warm_up) / n_steps), 1.0)

    def select(self, batch: Batch) -> Selection:
        """Return the samples that are not sieved, with the regularized loss."""
        own = _class_losses(batch.logits[0])
        of_label = own.gather(1, batch.labels.unsqueeze(1)).squeeze(1)
        is_kept = of_label <= own.mean(dim=1)
        if batch.epoch < self.sieve_from:
            is_kept = torch.ones_like(is_kept)
        self.remember(batch.index, is_kept.unsqueeze(0))
        beta = self.weight_at(batch.epoch)

        def objective(logits: Tensor, losses: Tensor) -> Tensor:
            reward = _class_losses(logits) @ self.prior
            # As the learning rate is divided in the release.
            return (losses - beta * reward.to(losses.dtype)) / (1 + beta)

        weights = is_kept.to(batch.losses.dtype).unsqueeze(0)
        return Selection(weights=weights, objective=objective if beta else None)

    def end_epoch(self) -> dict[str, Any]:
        """Set the prior to the frequency of labels that were not sieved."""
        super().end_epoch()
        if self._selected.any():
            self.prior = _frequencies(self.labels[self._selected], len(self.prior))
        return {}


def _frequencies(labels: Tensor, n_classes: int) -> Tensor:
    counts = torch.bincount(labels, minlength=n_classes).to(torch.float32)
    return counts / counts.sum()


def _class_losses(logits: Tensor) -> Tensor:
    """Return the cross-entropy of each class, at most 18.4."""
    return -(torch.softmax(logits.float(), dim=-1) + _SMALL).log()


class CORESClassifier(OneStageClassifier):
    """Reward confident predictions, and sieve labels that are worse than average.

    CORES [1]_ (confidence-regularized sample sieve, also written CORES²) subtracts
    a multiple of the mean of the losses that all classes would have from the loss of
    the label: the network is rewarded for predictions that are confident, and has no
    gain from wrong labels that it cannot learn without doubt. Later, samples whose
    label has a larger loss than the classes have on average are left out. It needs no
    noise rate. The cost is one fit.

    Parameters
    ----------
    module : nn.Module class or instance, default=None
        The network, as in :class:`~skpresto.PrestoppingClassifier`.
    regularization : float, default=2.0
        Weight of the regularizer in the end, beta in the paper.
    warm_up : int or float, default=0.1
        Epochs without the regularizer, as a number or as a fraction of ``max_epochs``.
    ramp_epochs : int or float, default=0.3
        Epochs after the warm-up over which its weight grows.
    sieve_from : int or float, default=0.31
        Epochs before the first in which samples are left out.
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
        One record per epoch; can be passed to ``pandas.DataFrame``. ``train_loss`` is
        that of the samples not sieved, with the regularizer, and can be negative.
    safe_mask_ : ndarray of shape (n_samples,), dtype=bool
        Whether the sample was not sieved in the last epoch.
    label_quality_ : ndarray of shape (n_samples,)
        As in :class:`~skpresto.PrestoppingClassifier`, from the visits of the first
        half of the epochs.
    label_agreement_, suggested_labels_, label_findings_
        As in :class:`~skpresto.PrestoppingClassifier`.
    noise_rate_ : float
        Fraction of samples outside the safe set.

    See Also
    --------
    ELRClassifier : Another regularizer that needs no noise rate.

    Notes
    -----
    With ``l[k] = -log(p[k] + 1e-8)``, the loss is ``(criterion - beta * sum_k
    prior[k] * l[k]) / (1 + beta)``; in the release it is the learning rate that is
    divided. The weight beta is 0 in the warm-up and then grows linearly. The
    prior is the frequency of the given labels, without those sieved in the epoch
    before. A sample is sieved if the loss l of its label exceeds the mean of l over the
    classes. The defaults are the schedule of the release, as fractions of its 100
    epochs. Its second phase, consistency training on what was sieved, is not included.

    References
    ----------
    .. [1] H. Cheng, Z. Zhu, X. Li, Y. Gong, X. Sun, Y. Liu, "Learning with
       instance-dependent label noise: a sample sieve approach", ICLR 2021.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from skpresto.baselines import CORESClassifier
    >>> X, y = make_blobs(n_samples=200, random_state=0)
    >>> clf = CORESClassifier(max_epochs=10, random_state=0).fit(X, y)
    >>> clf.predict(X).shape
    (200,)
    """

    _parameter_constraints = {
        **OneStageClassifier._parameter_constraints,
        "regularization": [Interval(Real, 0, None, closed="left")],
        "warm_up": EPOCHS_CONSTRAINT,
        "ramp_epochs": EPOCHS_CONSTRAINT,
        "sieve_from": EPOCHS_CONSTRAINT,
    }

    def __init__(
        self,
        module=None,
        *,
        regularization=2.0,
        warm_up=0.1,
        ramp_epochs=0.3,
        sieve_from=0.31,
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
        return ConfidenceRegularization(
            trainer.labels,
            trainer.data.n_classes,
            trainer.data.rows_with_weight,
            beta=self.regularization,
            warm_up=n_epochs_of(self, "warm_up"),
            ramp_epochs=as_epochs(self.ramp_epochs, self.max_epochs),
            sieve_from=as_epochs(self.sieve_from, self.max_epochs),
        )

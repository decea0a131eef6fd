"""Co-teaching+: selection among samples on which two networks disagree."""

from functools import lru_cache
from typing import Any

import torch
from torch import Tensor, nn

from skpresto._data.batch import Batch
from skpresto._data.features import on_device
from skpresto._methods._epochs import EPOCHS_CONSTRAINT, as_epochs, n_epochs_of
from skpresto._methods._noise_rate import given_or_estimated_noise_rate
from skpresto._methods._small_loss import is_small_loss, n_kept
from skpresto._methods.coteaching import CoTeachingClassifier, ExchangeSmallLoss
from skpresto._training.policy import Policy, RunningFraction, Selection
from skpresto._training.request import FitRequest
from skpresto._training.trainer import Trainer


class ExchangeSmallLossOnDisagreement(ExchangeSmallLoss):
    """After a warm-up, exchange only samples on which the two networks disagree."""

    may_select_nothing = True

    def __init__(self, *args: Any, warm_up: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.warm_up = warm_up
        self._disagreed = RunningFraction()

    def select(self, batch: Batch) -> Selection:
        """Return the selection of the other network; nothing if both always agree."""
        predicted = batch.logits.argmax(dim=2)
        disagree = predicted[0] != predicted[1]
        self._disagreed.add(disagree)
        if batch.epoch < self.warm_up:
            return super().select(batch)
        # All samples are sorted, so that nobody has to know how many disagree.
        among = batch.losses.masked_fill(~disagree, torch.inf)
        rate = self._forget_rate(batch.epoch)
        numbers = _numbers_kept(len(disagree), rate, disagree.device)
        n_kept = numbers.index_select(0, disagree.sum().view(1))
        return self._exchange(batch, is_small_loss(among, n_kept) & disagree)

    def end_epoch(self) -> dict[str, float]:
        """Return the fraction of samples on which the networks disagreed."""
        fraction = {"disagreement_fraction": self._disagreed.take()}
        return super().end_epoch() | fraction


@lru_cache(maxsize=4)
def _numbers_kept(n_samples: int, rate: float, device: torch.device) -> Tensor:
    """Return :func:`n_kept` for 0 to ``n_samples`` samples."""
    numbers = [n_kept(n, rate) for n in range(n_samples + 1)]
    return on_device(torch.tensor(numbers), device)


class CoTeachingPlusClassifier(CoTeachingClassifier):
    """Train two networks on small losses among the samples they disagree on.

    Co-teaching+ [1]_ prevents the two networks of Co-teaching from becoming equal:
    after a warm-up, each selects small losses for the other only among samples on which
    their predictions differ. As the networks come to agree, few samples are left to
    train on, so it can be less accurate than Co-teaching. The cost is two fits, and one
    more if the noise rate is estimated.

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
    warm_up : int or float, default=0.1
        Epochs of plain Co-teaching at the start, as a number or as a fraction of
        ``max_epochs``. The official code uses 20 of 200 epochs on CIFAR-10.
    ramp_epochs : int or float, default=10
        Epochs until the full noise rate is left out of a batch, as a number or as a
        fraction of ``max_epochs``.
    exponent : float, default=1.0
        Shape of that ramp; above 1, more is left out in early epochs.
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
        Whether a network selected the sample in the last epoch. Late in training these
        are few, since the networks agree on most samples.
    label_quality_ : ndarray of shape (n_samples,)
        As in :class:`PrestoppingClassifier`, from the visits of the first half of the
        epochs: later ones predict wrong labels that are memorized.
    label_agreement_, suggested_labels_, label_findings_
        As in :class:`PrestoppingClassifier`.
    noise_rate_ : float
        The noise rate used: as given, or estimated.

    See Also
    --------
    CoTeachingClassifier : Select among all samples.

    Notes
    -----
    Of d samples on which the networks disagree, ``floor((1 - rate) * d)`` are kept, at
    least one. A batch on which they agree everywhere is skipped, which is counted in
    ``n_skipped_batches`` of the records; these also hold ``disagreement_fraction``.

    References
    ----------
    .. [1] X. Yu et al., "How does disagreement help generalization against label
       corruption?", ICML 2019.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from skpresto import CoTeachingPlusClassifier
    >>> X, y = make_blobs(n_samples=200, random_state=0)
    >>> clf = CoTeachingPlusClassifier(noise_rate=0.1, ramp_epochs=4, max_epochs=10)
    >>> clf = clf.set_params(random_state=0).fit(X, y)
    >>> clf.predict(X).shape
    (200,)
    """

    _parameter_constraints = {
        **CoTeachingClassifier._parameter_constraints,
        "warm_up": EPOCHS_CONSTRAINT,
    }

    def __init__(
        self,
        module=None,
        *,
        noise_rate=None,
        warm_up=0.1,
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
        warm_up = n_epochs_of(self, "warm_up")
        return ExchangeSmallLossOnDisagreement(
            len(trainer.labels),
            given_or_estimated_noise_rate(self, trainer),
            as_epochs(self.ramp_epochs, self.max_epochs),
            self.exponent,
            device=trainer.net.device,
            warm_up=warm_up,
        )

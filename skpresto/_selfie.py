"""SELFIE: small losses, and samples refurbished with what is always predicted."""

from numbers import Integral, Real

import numpy as np
import torch
from torch import Tensor, nn

from skpresto._base import BaseNoisyLabelClassifier
from skpresto._noise_rate import NOISE_RATE_CONSTRAINT, noise_rate_of
from skpresto._sklearn import Interval
from skpresto._training.batch import Batch, Selection
from skpresto._training.policy import CorrectingPolicy
from skpresto._training.refurbishment import Refurbisher
from skpresto._training.small_loss import is_small_loss
from skpresto._training.trainer import Trainer, TrainingData
from skpresto._warm_up import (
    EPOCHS_CONSTRAINT,
    n_epochs_of,
    warn_if_nothing_is_corrected,
)


class RefurbishAndSelect(CorrectingPolicy):
    """Learn from refurbished samples, and from the small losses among the others.

    Attributes
    ----------
    is_trusted : Tensor of shape (n_samples,), dtype=bool
        Whether the sample was last learnt from under its given label.
    """

    def __init__(
        self, refurbisher: Refurbisher, noise_rate: float, warm_up: int
    ) -> None:
        super().__init__()
        self.refurbisher = refurbisher
        self.noise_rate = noise_rate
        self.warm_up = warm_up
        self.is_trusted = torch.ones_like(refurbisher.corrected, dtype=torch.bool)

    def select(self, batch: Batch) -> Selection:
        """Return everything in the warm-up, later what SELFIE trusts or corrects."""
        if batch.epoch < self.warm_up:
            return Selection()
        corrected = self.refurbisher.labels_of_batch(batch)
        is_corrected = corrected >= 0
        n_clean = int(np.ceil((1 - self.noise_rate) * len(corrected) - 1e-9))
        is_clean = is_small_loss(batch.losses, n_clean)[0]
        labels = torch.where(is_corrected, corrected, batch.labels)
        weights = (is_clean | is_corrected).to(batch.losses.dtype).unsqueeze(0)
        is_given = labels == batch.labels
        self.count_corrected(is_corrected & ~is_given)
        self.is_trusted.index_copy_(0, batch.index, (weights[0] > 0) & is_given)
        return Selection(weights=weights, labels=labels)


class SelfieClassifier(BaseNoisyLabelClassifier):
    """Learn from small losses and from samples whose label could be corrected.

    SELFIE [1]_ warms up on everything; then, in each batch, it corrects
    ("refurbishes") the samples for which the network has predicted the same class
    again and again, whatever their label, and adds the small losses among the rest.
    Training is then repeated from a new network, keeping the corrected labels.

    Parameters
    ----------
    module : nn.Module class or instance, default=None
        The network, as in :class:`PrestoppingClassifier`.
    noise_rate : float in [0, 1), default=None
        Share of wrong labels. ``None`` estimates it: one network is first trained as
        in :class:`PrestoppingClassifier`, with the same recipe, and the share of
        samples outside its safe set is taken. That about doubles the time, and reads
        high where many correct labels are too hard to learn; pass the rate if you
        know it.
    q : int, default=15
        Number of latest predictions that must agree before a label is corrected.
    epsilon : float in [0, 1], default=0.05
        Largest uncertainty (entropy of the history, divided by its greatest possible
        value) at which a label is corrected. With the default, only labels that all q
        predictions agree on are, up to about a hundred classes.
    warm_up : int or float, default=0.25
        Epochs of plain training at the start of each run, as a number or as a share
        of ``max_epochs``; 25 of 100 in the paper. A sample with fewer than ``q``
        predictions is not corrected yet.
    restarts : int, default=2
        Further runs of ``max_epochs`` each, from a new network; corrected labels are
        kept.
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
        Whether the sample was learnt from under its given label in the last epoch.
    label_agreement_, suggested_labels_ : ndarray of shape (n_samples,)
        As in :class:`PrestoppingClassifier`.
    noise_rate_ : float
        The noise rate used: as given, or estimated.
    corrected_labels_ : ndarray of shape (n_samples,)
        The corrected label where there is one, the given one elsewhere.
    corrected_mask_ : ndarray of shape (n_samples,), dtype=bool
        Where the two differ.

    See Also
    --------
    PrestoppingPlusClassifier : Corrects labels outside a safe set.

    Notes
    -----
    A refurbished sample is learnt under its corrected label even if its loss is small.
    ``ceil((1 - noise_rate) * b)`` small losses of a batch of b are taken.

    References
    ----------
    .. [1] H. Song, M. Kim, J.-G. Lee, "SELFIE: refurbishing unclean samples for robust
       deep learning", ICML 2019.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from skpresto import SelfieClassifier
    >>> X, y = make_blobs(n_samples=200, random_state=0)
    >>> clf = SelfieClassifier(noise_rate=0.1, q=4, restarts=0, max_epochs=10)
    >>> clf = clf.set_params(random_state=0).fit(X, y)
    >>> clf.predict(X).shape
    (200,)
    """

    _parameter_constraints = {
        **BaseNoisyLabelClassifier._parameter_constraints,
        "noise_rate": NOISE_RATE_CONSTRAINT,
        "epsilon": [Interval(Real, 0, 1, closed="both")],
        "warm_up": EPOCHS_CONSTRAINT,
        "restarts": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        module=None,
        *,
        noise_rate=None,
        q=15,
        epsilon=0.05,
        warm_up=0.25,
        restarts=2,
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
        self.epsilon = epsilon
        self.warm_up = warm_up
        self.restarts = restarts
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

    def _train(
        self, trainer: Trainer, rng: np.random.RandomState
    ) -> RefurbishAndSelect:
        refurbisher = Refurbisher.for_trainer(trainer, self.epsilon)
        warm_up = n_epochs_of(self, "warm_up")
        warn_if_nothing_is_corrected(self)
        for run in range(self.restarts + 1):
            if run:
                trainer.restart()
            policy = RefurbishAndSelect(refurbisher, self.noise_rate_, warm_up)
            trainer.run(policy, self.max_epochs, phase=run + 1)
        return policy

    def _safe_mask(self, trainer: Trainer, outcome: RefurbishAndSelect) -> Tensor:
        return outcome.is_trusted

    def _publish(self, trainer: Trainer, outcome: RefurbishAndSelect) -> None:
        super()._publish(trainer, outcome)
        labels = outcome.refurbisher.corrected_or(trainer.labels)
        self.corrected_labels_ = self.classes_[labels.cpu().numpy()]
        self.corrected_mask_ = (labels != trainer.labels).cpu().numpy()

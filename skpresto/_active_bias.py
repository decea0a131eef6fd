"""Active Bias: learn more from what the network is unsure of."""

from numbers import Real

import numpy as np
import torch
from torch import nn

from skpresto._base import BaseNoisyLabelClassifier
from skpresto._sklearn import Interval
from skpresto._training.batch import Batch, Selection
from skpresto._training.policy import SelectionPolicy
from skpresto._training.trainer import Trainer
from skpresto._warm_up import EPOCHS_CONSTRAINT, n_epochs_of


class EmphasiseUncertain(SelectionPolicy):
    """Weigh a sample by how much the probability of its label has varied.

    The variance over all visits so far is kept as a running mean and a running sum of
    squared deviations (Welford's way), so a sample costs three numbers however long
    the training.
    """

    may_select_nothing = False

    def __init__(
        self, n_samples: int, smoothness: float, warm_up: int, device: str = "cpu"
    ) -> None:
        self.smoothness = smoothness
        self.warm_up = warm_up
        self._n_visits = torch.zeros(n_samples, device=device)
        self._mean = torch.zeros(n_samples, device=device)
        self._squares = torch.zeros(n_samples, device=device)

    def select(self, batch: Batch) -> Selection:
        """Return all samples, weighted by what was known before this visit."""
        weights = self._weights(batch)
        self._record(batch)
        if batch.epoch < self.warm_up:
            return Selection()
        return Selection(weights=weights.to(batch.losses.dtype).unsqueeze(0))

    def _weights(self, batch: Batch) -> torch.Tensor:
        n_visits = self._n_visits[batch.index]
        variance = self._squares[batch.index] / n_visits.clamp(min=1)
        # The second term is the variance of the variance's estimate; with fewer than
        # two visits nothing has varied yet, and the weight is the smoothness alone.
        spread = (variance + variance**2 / (n_visits - 1).clamp(min=1)).sqrt()
        return spread + self.smoothness

    def _record(self, batch: Batch) -> None:
        probabilities = torch.softmax(batch.logits[0], dim=1)
        given = probabilities.gather(1, batch.labels.unsqueeze(1)).squeeze(1).float()
        n_visits = self._n_visits[batch.index] + 1
        mean = self._mean[batch.index]
        new_mean = mean + (given - mean) / n_visits
        self._squares[batch.index] += (given - mean) * (given - new_mean)
        self._mean[batch.index] = new_mean
        self._n_visits[batch.index] = n_visits


class ActiveBiasClassifier(BaseNoisyLabelClassifier):
    """Learn more from samples whose label's probability has varied most.

    Active Bias [1]_ weighs the loss of each sample by the spread, over the epochs, of
    the probability that the network gives to its label. Samples that are always right
    or always wrong count less. It needs no noise rate; it emphasises, and does not
    select, so it helps little against noise that the network is confident about.

    Parameters
    ----------
    module : nn.Module class or instance, default=None
        The network, as in :class:`PrestoppingClassifier`.
    q : int, default=10
        Number of latest predictions remembered for each sample; they are recorded,
        and do not change the training.
    warm_up : int or float, default=0.25
        Epochs in which all samples weigh the same, as a number or as a share of
        ``max_epochs``. The paper that compares these methods uses 25 epochs of about
        100.
    smoothness : float, default=0.2
        Added to every weight, so that certain samples still count. Larger values make
        the weights more alike. The value is that of the method's re-implementations
        by the authors of Prestopping.
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
        Whether the label of each sample is what was predicted most often for it.
    label_agreement_, suggested_labels_ : ndarray of shape (n_samples,)
        As in :class:`PrestoppingClassifier`.
    noise_rate_ : float
        Share of the labels for which that is not so.

    See Also
    --------
    PrestoppingClassifier : Selects samples instead of weighing them.

    Notes
    -----
    The weight of a sample with n visits whose label's probabilities have the
    (population) variance v is ``sqrt(v + v**2 / (n - 1)) + smoothness``, divided by
    the mean weight of the batch. The present visit does not count yet.

    References
    ----------
    .. [1] H.-S. Chang, E. Learned-Miller, A. McCallum, "Active Bias: training more
       accurate neural networks by emphasizing high variance samples", NeurIPS 2017.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from skpresto import ActiveBiasClassifier
    >>> X, y = make_blobs(n_samples=200, random_state=0)
    >>> clf = ActiveBiasClassifier(max_epochs=10, random_state=0).fit(X, y)
    >>> clf.predict(X).shape
    (200,)
    """

    _parameter_constraints = {
        **BaseNoisyLabelClassifier._parameter_constraints,
        "warm_up": EPOCHS_CONSTRAINT,
        "smoothness": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        module=None,
        *,
        q=10,
        warm_up=0.25,
        smoothness=0.2,
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
        self.warm_up = warm_up
        self.smoothness = smoothness
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

    def _train(self, trainer: Trainer, rng: np.random.RandomState) -> None:
        policy = EmphasiseUncertain(
            len(trainer.labels),
            self.smoothness,
            n_epochs_of(self, "warm_up"),
            self.device,
        )
        trainer.run(policy, self.max_epochs)

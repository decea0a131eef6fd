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
        The network; it must return one logit a class. A class is built in ``fit`` and
        is passed the size of the data if its constructor asks for it by name:
        ``n_features`` (or ``n_features_in``, ``in_features``), ``input_shape``,
        ``n_classes`` (or ``n_outputs``, ``out_features``). An instance is copied, and
        its present weights are where training starts. ``None`` builds
        :class:`~skpresto.modules.MLP` for tables and
        :class:`~skpresto.modules.SmallCNN` for images.
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
    criterion : class or instance, default=torch.nn.CrossEntropyLoss
        Loss on logits and class numbers. It must be able to return one loss a sample
        (``reduction='none'``, which is set here).
    optimizer : torch.optim.Optimizer class, default=torch.optim.SGD
        Anything but LBFGS. SGD gets a momentum of 0.9 unless
        ``optimizer__momentum`` says otherwise.
    lr : float, default=0.1
        Learning rate. It is divided by 5 after 50 % and after 75 % of ``max_epochs``,
        unless ``callbacks`` contain an ``LRScheduler`` of your own.
    max_epochs : int, default=60
        Number of epochs that the final network has behind it.
    batch_size : int, default=128
        Samples in a mini-batch.
    device : str, default="cpu"
        Where to train, such as ``"cuda"``.
    callbacks : list of skorch callbacks, default=None
        They are copied, and hear of every epoch and batch as in skorch.
    n_jobs : int, default=None
        CPU threads for torch. ``None`` means 1, which is fastest for small networks
        and gives the same results in every worker process; -1 means all, which pays
        for convolutional networks.
    random_state : int, RandomState instance or None, default=None
        Seeds the network, the batches and any rows held out, and nothing outside.
    verbose : int, default=0
        0 is silent, 1 shows a progress bar, 2 prints a line an epoch.
    **net_params : dict
        Parameters of the parts of the net by skorch's prefixes: ``module__*``,
        ``optimizer__*``, ``criterion__*``, ``iterator_train__*``,
        ``iterator_valid__*``, ``callbacks__*``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_features_in_ : int
        Number of columns (or channels) seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if ``X`` had any.
    input_shape_ : tuple of int
        Shape of one sample.
    net_ : skorch.NeuralNet
        The trained net; ``net_.module_`` is the network.
    n_epochs_ : int
        Epochs that the network has behind it.
    history_ : list of EpochRecord
        One record an epoch; goes straight into a ``DataFrame``.
    safe_mask_ : ndarray of shape (n_samples,), dtype=bool
        Whether the label of each sample is what was predicted most often for it.
    label_agreement_ : ndarray of shape (n_samples,)
        Share of the last ``q`` predictions of each sample that equal its given label.
    suggested_labels_ : ndarray of shape (n_samples,)
        Class predicted most often in the last ``q`` visits.
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

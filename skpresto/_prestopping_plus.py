"""Prestopping+: a fresh network, the safe set, and corrected labels for the rest."""

from numbers import Integral, Real

import numpy as np
import torch
from torch import Tensor, nn

from skpresto._prestopping import PrestoppingClassifier
from skpresto._sklearn import Interval
from skpresto._training.batch import Batch, Selection
from skpresto._training.policy import SelectionPolicy
from skpresto._training.refurbishment import Refurbisher
from skpresto._training.trainer import Trainer
from skpresto._warm_up import (
    EPOCHS_CONSTRAINT,
    n_epochs_of,
    warn_if_nothing_is_corrected,
)


class LearnSafeAndRefurbished(SelectionPolicy):
    """Learn the safe samples as given and others once their label is corrected."""

    def __init__(self, refurbisher: Refurbisher, is_safe: Tensor, warm_up: int) -> None:
        self.refurbisher = refurbisher
        self.is_safe = is_safe
        self.warm_up = warm_up
        self._n_corrected: Tensor | int = 0
        self._n_visited = 0

    def select(self, batch: Batch) -> Selection:
        """Return the safe samples, and after the warm-up the corrected ones too."""
        self._n_visited += len(batch.index)
        is_safe = self.is_safe.index_select(0, batch.index)
        if batch.epoch < self.warm_up:
            return Selection(weights=is_safe.to(batch.losses.dtype).unsqueeze(0))
        corrected = self.refurbisher.labels_of_batch(batch)
        is_corrected = (corrected >= 0) & ~is_safe
        labels = torch.where(is_corrected, corrected, batch.labels)
        weights = (is_safe | is_corrected).to(batch.losses.dtype).unsqueeze(0)
        self._n_corrected = self._n_corrected + (labels != batch.labels).sum()
        return Selection(weights=weights, labels=labels)

    def epoch_summary(self) -> dict[str, float]:
        """Return which share was learnt from under another label."""
        share = float(self._n_corrected) / max(1, self._n_visited)
        self._n_corrected = self._n_visited = 0
        return {"corrected_fraction": share}


class PrestoppingPlusClassifier(PrestoppingClassifier):
    """Prestopping, then a fresh network on its safe set and on corrected labels.

    After a whole run of :class:`PrestoppingClassifier`, its safe set is frozen and a
    new network is trained on it; samples outside join as soon as the network keeps
    predicting one class for them, under that class as their corrected label [1]_.
    Labels of safe samples are never changed. The paper found it better than
    Prestopping on random noise and with few classes.

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
        Number of latest predictions remembered for each sample: they vote on the safe
        set, and must agree before a label is corrected.
    stop : StopRule, default=None
        Chooses the end of phase I. ``None`` means
        :class:`~skpresto.stopping.ValidationStop` if ``fit`` is given ``X_val``, and
        :class:`~skpresto.stopping.AgreementStop` otherwise.
    epsilon : float in [0, 1], default=0.05
        Largest uncertainty (entropy of the history, divided by its greatest possible
        value) at which a label is corrected. With the default, only labels that all q
        predictions agree on are, up to about a hundred classes.
    warm_up : int or float, default=0.25
        Epochs in which the fresh network learns from the safe set alone, as a number
        or as a share of ``max_epochs``.
    restarts : int, default=0
        Further runs of the fresh network; corrected labels are kept.
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
        The trained net; ``net_.module_`` is the network of the last run.
    n_epochs_ : int
        Epochs that the network has behind it.
    history_ : list of EpochRecord
        One record an epoch and phase, phases 3 and up being those of the fresh network;
        goes straight into a ``DataFrame``.
    safe_mask_ : ndarray of shape (n_samples,), dtype=bool
        The frozen safe set: whether the label of each sample is trusted.
    label_agreement_ : ndarray of shape (n_samples,)
        Share of the last ``q`` predictions of each sample that equal its given label.
    suggested_labels_ : ndarray of shape (n_samples,)
        Class predicted most often in the last ``q`` visits.
    noise_rate_ : float
        Estimated share of wrong labels: the share of samples outside the safe set.
    corrected_labels_ : ndarray of shape (n_samples,)
        The corrected label where there is one, the given one elsewhere.
    corrected_mask_ : ndarray of shape (n_samples,), dtype=bool
        Where the two differ.
    stop_epoch_ : int
        Number of epochs of phase I whose result was kept.
    stop_rule_ : StopRule
        The rule that was used.

    See Also
    --------
    PrestoppingClassifier : The first run alone.

    Notes
    -----
    The loss is the mean over all samples learnt from in a batch; the denominator of
    the paper's Eq. 5 names the wrong set. The paper does not speak of a warm-up: while
    no label is corrected, Eq. 5 is training on the safe set, which is done here.

    References
    ----------
    .. [1] H. Song, M. Kim, D. Park, J.-G. Lee, "How does early stopping help
       generalization against label noise?", arXiv:1911.08059, 2019.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from skpresto import PrestoppingPlusClassifier
    >>> from skpresto.stopping import NoiseRateStop
    >>> X, y = make_blobs(n_samples=200, random_state=0)
    >>> clf = PrestoppingPlusClassifier(stop=NoiseRateStop(0.2), max_epochs=20)
    >>> clf = clf.set_params(random_state=0).fit(X, y)
    >>> clf.corrected_labels_.shape
    (200,)
    """

    _parameter_constraints = {
        **PrestoppingClassifier._parameter_constraints,
        "epsilon": [Interval(Real, 0, 1, closed="both")],
        "warm_up": EPOCHS_CONSTRAINT,
        "restarts": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        module=None,
        *,
        q=10,
        stop=None,
        epsilon=0.05,
        warm_up=0.25,
        restarts=0,
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
        self.epsilon = epsilon
        self.warm_up = warm_up
        self.restarts = restarts
        super().__init__(
            module,
            q=q,
            stop=stop,
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

    def _train(
        self, trainer: Trainer, rng: np.random.RandomState
    ) -> LearnSafeAndRefurbished:
        warm_up = n_epochs_of(self, "warm_up")
        warn_if_nothing_is_corrected(self)
        super()._train(trainer, rng)
        trainer.visit_the_unvisited()
        is_safe = trainer.label_history.vote() == trainer.labels
        refurbisher = Refurbisher.for_trainer(trainer, self.epsilon)
        for run in range(self.restarts + 1):
            trainer.restart()
            policy = LearnSafeAndRefurbished(refurbisher, is_safe, warm_up)
            trainer.run(policy, self.max_epochs, phase=3 + run)
        return policy

    def _safe_mask(self, trainer: Trainer, outcome: LearnSafeAndRefurbished) -> Tensor:
        return outcome.is_safe

    def _publish(self, trainer: Trainer, outcome: LearnSafeAndRefurbished) -> None:
        super()._publish(trainer, outcome)
        corrected = outcome.refurbisher.corrected_or(trainer.labels)
        labels = torch.where(outcome.is_safe, trainer.labels, corrected)
        self.corrected_labels_ = self.classes_[labels.cpu().numpy()]
        self.corrected_mask_ = (labels != trainer.labels).cpu().numpy()

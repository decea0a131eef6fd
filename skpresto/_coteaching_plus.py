"""Co-teaching+: two networks that choose where they disagree."""

import torch
from torch import Tensor, nn

from skpresto._coteaching import CoTeachingClassifier, ExchangeSmallLoss
from skpresto._training.batch import Batch, Selection
from skpresto._training.trainer import Trainer
from skpresto._warm_up import EPOCHS_CONSTRAINT, n_epochs_of


class ExchangeSmallLossWhereTheyDisagree(ExchangeSmallLoss):
    """After a warm-up, choose only among samples that the networks see differently."""

    def __init__(self, *args, warm_up: int, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.warm_up = warm_up
        self._n_disagreed: Tensor | int = 0
        self._n_visited = 0

    def select(self, batch: Batch) -> Selection:
        """Return what the other network chooses; nothing if they agree everywhere."""
        predicted = batch.logits.argmax(dim=2)
        disagree = predicted[0] != predicted[1]
        self._n_disagreed = self._n_disagreed + disagree.sum()
        self._n_visited += len(disagree)
        if batch.epoch < self.warm_up:
            return super().select(batch)
        is_chosen = torch.zeros_like(batch.losses, dtype=torch.bool)
        if disagree.any():
            among = batch.losses[:, disagree]
            is_chosen[:, disagree] = self._small_losses(among, batch.epoch)
        return self._exchange(batch, is_chosen)

    def epoch_summary(self) -> dict[str, float]:
        """Return on what share of the samples the networks disagreed."""
        share = float(self._n_disagreed) / max(1, self._n_visited)
        self._n_disagreed = self._n_visited = 0
        return {"disagreement_fraction": share}


class CoTeachingPlusClassifier(CoTeachingClassifier):
    """Train two networks on small losses among the samples they disagree on.

    Co-teaching+ [1]_ keeps the two networks of Co-teaching from becoming one: after a
    warm-up, each chooses small losses for the other only among samples on which their
    predictions differ. As the networks come to agree, few samples are left to learn
    from, so on noise that is not random it can do worse than Co-teaching.

    Parameters
    ----------
    module : nn.Module class or instance, default=None
        The network; it must return one logit a class. A class is built in ``fit`` and
        is passed the size of the data if its constructor asks for it by name:
        ``n_features`` (or ``n_features_in``, ``in_features``), ``input_shape``,
        ``n_classes`` (or ``n_outputs``, ``out_features``). An instance is copied twice,
        and the second copy is initialized anew. ``None`` builds
        :class:`~skpresto.modules.MLP` for tables and
        :class:`~skpresto.modules.SmallCNN` for images.
    noise_rate : float in [0, 1), default=None
        Share of wrong labels. ``None`` estimates it: one network is first trained as
        in :class:`PrestoppingClassifier`, with the same recipe, and the share of
        samples outside its safe set is taken. That about doubles the time, and reads
        high where many correct labels are too hard to learn; pass the rate if you
        know it.
    warm_up : int or float, default=0.1
        Epochs of plain Co-teaching at the start, as a number or as a share of
        ``max_epochs``. The official code uses 20 of 200 epochs on CIFAR-10.
    ramp_epochs : int or float, default=10
        Epochs until the full noise rate is left out of a batch, as a number or as a
        share of ``max_epochs``.
    exponent : float, default=1.0
        Shape of that ramp; above 1, more is left out earlier.
    q : int, default=10
        Number of latest predictions remembered for each sample; they are recorded,
        and do not change the training.
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
        The trained net; ``net_.module_`` is both networks.
    n_epochs_ : int
        Epochs that the network has behind it.
    history_ : list of EpochRecord
        One record an epoch; goes straight into a ``DataFrame``.
    safe_mask_ : ndarray of shape (n_samples,), dtype=bool
        Whether a network learnt from the sample in the last epoch. Late in the
        training that are few, since the networks agree on most.
    label_agreement_ : ndarray of shape (n_samples,)
        Share of the last ``q`` predictions of each sample that equal its given label.
    suggested_labels_ : ndarray of shape (n_samples,)
        Class predicted most often in the last ``q`` visits.
    noise_rate_ : float
        The noise rate used: as given, or estimated.

    See Also
    --------
    CoTeachingClassifier : Chooses among all samples.

    Notes
    -----
    Of d samples on which the networks disagree, ``floor((1 - rate) * d)`` are kept, at
    least one. From a batch on which they agree everywhere nothing is learnt, which is
    counted in ``n_skipped_batches``; ``disagreement_fraction`` is in the records too.

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
        super().__init__(
            module,
            noise_rate=noise_rate,
            ramp_epochs=ramp_epochs,
            exponent=exponent,
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

    def _policy(self, trainer: Trainer) -> ExchangeSmallLossWhereTheyDisagree:
        return ExchangeSmallLossWhereTheyDisagree(
            len(trainer.labels),
            self.noise_rate_,
            self._ramp(),
            self.exponent,
            device=self.device,
            warm_up=n_epochs_of(self, "warm_up"),
        )

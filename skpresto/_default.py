"""Plain training: the baseline that every method is compared with."""

import numpy as np
import torch
from torch import nn

from skpresto._base import BaseNoisyLabelClassifier
from skpresto._training.policy import LearnFromAll
from skpresto._training.trainer import Trainer


class DefaultClassifier(BaseNoisyLabelClassifier):
    """Train on all labels as they are given, whatever is wrong with them.

    The paper's "Default": the same network and recipe as the other classifiers, and
    nothing done about label noise. Use it as the baseline that shows what a method
    gains, and to watch a network memorize.

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
        Number of latest predictions remembered for each sample. It does not change
        the training, only what is recorded of it.
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
        One record an epoch and phase; goes straight into a ``DataFrame``.
    safe_mask_ : ndarray of shape (n_samples,), dtype=bool
        Whether the label of each training sample is memorized at the end. Without any
        defence against noise, wrong labels are memorized too.
    label_agreement_ : ndarray of shape (n_samples,)
        Share of the last ``q`` predictions of each sample that equal its given label.
    suggested_labels_ : ndarray of shape (n_samples,)
        Class predicted most often in the last ``q`` visits.
    noise_rate_ : float
        Share of the labels that are not memorized.

    See Also
    --------
    PrestoppingClassifier : Stops before wrong labels are memorized.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from skpresto import DefaultClassifier
    >>> X, y = make_blobs(n_samples=200, random_state=0)
    >>> clf = DefaultClassifier(max_epochs=5, random_state=0).fit(X, y)
    >>> clf.predict(X).shape
    (200,)
    """

    def __init__(
        self,
        module=None,
        *,
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
        trainer.run(LearnFromAll(), self.max_epochs)

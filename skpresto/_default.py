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
        The network, as in :class:`PrestoppingClassifier`.
    q : int, default=10
        Number of latest predictions remembered for each sample. It does not change
        the training, only what is recorded of it.
    criterion, optimizer, lr, max_epochs, batch_size, device, callbacks
    n_jobs, random_state, verbose, **net_params
        How the network is trained, as in :class:`PrestoppingClassifier`.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, input_shape_, net_, n_epochs_
        As in :class:`PrestoppingClassifier`.
    history_ : list of EpochRecord
        One record an epoch and phase; goes straight into a ``DataFrame``.
    safe_mask_ : ndarray of shape (n_samples,), dtype=bool
        Whether the label of each training sample is memorized at the end. Without any
        defence against noise, wrong labels are memorized too.
    label_agreement_, suggested_labels_ : ndarray of shape (n_samples,)
        As in :class:`PrestoppingClassifier`.
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

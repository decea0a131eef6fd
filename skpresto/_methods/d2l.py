"""Dimensionality-driven learning: trust labels less when the representation grows."""

from functools import partial
from numbers import Integral

import numpy as np
import torch
from torch import nn

from skpresto._classifier.base import BaseNoisyLabelClassifier
from skpresto._data.training_data import PredictionRows
from skpresto._label_quality.findings import LabelFindings
from skpresto._methods._epochs import EPOCHS_CONSTRAINT, n_epochs_of
from skpresto._methods._report import early_visits, report_labels
from skpresto._networks.activations import penultimate_activations
from skpresto._networks.losses import sample_losses
from skpresto._selection.dimensionality import (
    MixLabelsByDimensionality,
    local_dimensionality,
)
from skpresto._sklearn import Interval
from skpresto._training.trainer import Trainer

# Samples drawn after each epoch, and those among which neighbors are searched.
_N_SAMPLES = 1280
_N_TOGETHER = 128


class D2LClassifier(BaseNoisyLabelClassifier):
    """Mix labels with predictions once the representation gains dimensions.

    Dimensionality-driven learning [1]_ measures the local intrinsic dimensionality
    (LID) of the activations before the last layer. It decreases while a network learns
    correct labels, and increases when the network begins to memorize wrong ones. From
    that turning point on, the targets are mixtures of the given label and the predicted
    class, with less weight on the label the higher the LID is. It needs no noise rate.
    The cost is one fit, and a prediction of 1,280 samples per epoch.

    Parameters
    ----------
    module : nn.Module class or instance, default=None
        The network, as in :class:`~skpresto.PrestoppingClassifier`. The activations are
        the input of the ``nn.Linear`` layer that is called last; of modules that call
        none, or call it with more than a vector per sample, the logits are used.
    warm_up : int or float, default=0.1
        Epochs before the search for the turning point begins, as a number or as a
        fraction of ``max_epochs``.
    window : int, default=5
        Number of epochs with which the LID of an epoch is compared. No turning point
        is found in the first ``warm_up + window`` epochs.
    n_neighbors : int, default=20
        Number of nearest neighbors from which the LID is estimated.
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
        One record per epoch, with the LID as ``dimensionality``; can be passed to
        ``pandas.DataFrame``.
    turning_epoch_ : int or None
        Number of epochs after which labels are mixed with predictions; None if no
        turning point was found, so that all labels were learned as given.
    safe_mask_ : ndarray of shape (n_samples,), dtype=bool
        Whether the given label is the majority prediction.
    label_quality_ : ndarray of shape (n_samples,)
        As in :class:`~skpresto.PrestoppingClassifier`, from the visits of the first
        half of the epochs.
    label_agreement_, suggested_labels_, label_findings_
        As in :class:`~skpresto.PrestoppingClassifier`.
    noise_rate_ : float
        Fraction of samples outside the safe set.

    See Also
    --------
    skpresto.PrestoppingClassifier : Stop, and go on with a safe set.

    Notes
    -----
    With the distances d_1 <= ... <= d_k of a sample to its k nearest neighbors among
    127 others, its LID is ``-k / sum(log(d_j / d_k))``. The turning point is the first
    epoch whose mean LID exceeds the mean of the ``window`` epochs before by more than
    two standard deviations. After e of E epochs, labels have the weight
    ``exp(-e / E * LID_e / min LID)``. The authors' release learns all labels with the
    symmetric cross-entropy before the turning point, which the paper does not; here it
    is ``criterion`` throughout.

    References
    ----------
    .. [1] X. Ma, Y. Wang, M. E. Houle, S. Zhou, S. Erfani, S.-T. Xia, S. Wijewickrema,
       J. Bailey, "Dimensionality-driven learning with noisy labels", ICML 2018.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from skpresto.baselines import D2LClassifier
    >>> X, y = make_blobs(n_samples=200, random_state=0)
    >>> clf = D2LClassifier(max_epochs=10, random_state=0).fit(X, y)
    >>> clf.history_[-1].dimensionality > 0
    True
    """

    _parameter_constraints = {
        **BaseNoisyLabelClassifier._parameter_constraints,
        "warm_up": EPOCHS_CONSTRAINT,
        "window": [Interval(Integral, 2, None, closed="left")],
        "n_neighbors": [Interval(Integral, 2, _N_TOGETHER - 1, closed="both")],
    }

    def __init__(
        self,
        module=None,
        *,
        warm_up=0.1,
        window=5,
        n_neighbors=20,
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
        self.warm_up = warm_up
        self.window = window
        self.n_neighbors = n_neighbors
        super().__init__(
            module,
            q=q,
            class_weight=class_weight,
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

    def _train(self, trainer: Trainer, rng: np.random.RandomState) -> LabelFindings:
        warm_up = n_epochs_of(self, "warm_up")
        visits = early_visits(trainer, self.max_epochs)
        trainer.start()
        policy = MixLabelsByDimensionality(
            partial(mean_dimensionality, trainer, self.n_neighbors),
            partial(sample_losses, trainer.net.criterion_),
            self.max_epochs,
            warm_up,
            self.window,
        )
        trainer.run(policy, self.max_epochs, stage="train", observe=visits.add)
        self.turning_epoch_ = policy.turning_epoch
        return report_labels(trainer, visits)


def mean_dimensionality(trainer: Trainer, n_neighbors: int) -> float:
    """Return the mean LID of samples drawn at random, in groups of 128.

    A last group too small for that many neighbors is left out, unless it is the only
    one.
    """
    rows = trainer.data.training_rows(None)
    drawn = torch.randperm(len(rows))[:_N_SAMPLES]
    index = drawn if rows.rows is None else rows.rows[drawn]
    activations = penultimate_activations(
        trainer.net, PredictionRows(trainer.data.X, index)
    )
    first, *others = activations.split(_N_TOGETHER)
    groups = [first, *(group for group in others if len(group) > n_neighbors)]
    means = [local_dimensionality(group, n_neighbors) for group in groups]
    return float(np.average(means, weights=[len(group) for group in groups]))

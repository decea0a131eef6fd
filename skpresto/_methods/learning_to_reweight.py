"""Learning to Reweight: samples are weighted by what they do for clean ones."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from skpresto._classifier.base import BaseNoisyLabelClassifier
from skpresto._classifier.weights import validation_weights
from skpresto._data.training_data import PredictionRows, TrainingData
from skpresto._label_quality.findings import LabelFindings
from skpresto._methods._report import early_visits, report_labels
from skpresto._networks.clean_gradient import CleanGradient
from skpresto._selection.reweighting import ReweightByCleanGradient
from skpresto._training.trainer import Trainer


class LearningToReweightClassifier(BaseNoisyLabelClassifier):
    """Weight samples by how much a step on them reduces the loss of clean samples.

    Learning to Reweight [1]_ needs some samples with correct labels, which are passed
    as ``X_val`` and ``y_val`` to ``fit``. In each batch, a sample gets a weight if its
    gradient points in the direction of the gradient of clean samples, in proportion to
    their scalar product, and is left out otherwise. It needs no noise rate. The cost is
    three to four fits: each step takes a pass over clean samples, and the product of
    the gradients of all samples with a vector takes about two backward passes.

    Parameters
    ----------
    module : nn.Module class or instance, default=None
        The network, as in :class:`~skpresto.PrestoppingClassifier`. Its operations need
        second derivatives, which those of torch have with few exceptions, such as the
        fused kernels of ``scaled_dot_product_attention`` (in
        ``nn.TransformerEncoderLayer``) and of recurrent layers on CUDA. There, with a
        :class:`~skpresto.exceptions.FallbackWarning`, one backward pass per sample is
        made instead, which takes many times as long.
    q : int, default=10
        Number of latest predictions stored per sample. It does not affect training,
        only what is recorded.
    lr : float, default=0.05
        Learning rate. It is half of that of the other classifiers, see the notes.
    class_weight, criterion, optimizer, max_epochs, batch_size, device
    callbacks, n_jobs, random_state, verbose, **net_params
        How the network is trained, as in :class:`~skpresto.PrestoppingClassifier`.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, input_shape_, net_, n_epochs_
        As in :class:`~skpresto.PrestoppingClassifier`.
    history_ : list of EpochRecord
        One record per epoch, with the name of its stage; can be passed to
        ``pandas.DataFrame``.
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
    skpresto.PrestoppingClassifier : Use clean samples to choose a stop point.

    Notes
    -----
    A step has ``batch_size`` training samples and as many clean ones, drawn anew, or
    all of ``X_val`` if there are fewer. The clean pass is in training mode and does not
    change running statistics. A batch without a positive scalar product is skipped.
    Samples with large gradients get large weights, so that few of them decide on a
    step. With a learning rate of 0.1, training failed on one of three data sets with
    symmetric noise; lower it further where losses increase.
    ``sample_weight`` and ``class_weight`` multiply the weights, and ``class_weight``
    those of the clean samples in their mean loss. In modules with
    BatchNorm, the gradient of a sample includes its effect on the others in the batch.

    References
    ----------
    .. [1] M. Ren, W. Zeng, B. Yang, R. Urtasun, "Learning to reweight examples for
       robust deep learning", ICML 2018.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from skpresto.baselines import LearningToReweightClassifier
    >>> X, y = make_blobs(n_samples=200, random_state=0)
    >>> clf = LearningToReweightClassifier(max_epochs=5, random_state=0)
    >>> clf = clf.fit(X[50:], y[50:], X_val=X[:50], y_val=y[:50])
    >>> clf.predict(X).shape
    (200,)
    """

    def __init__(
        self,
        module=None,
        *,
        q=10,
        class_weight=None,
        criterion=nn.CrossEntropyLoss,
        optimizer=torch.optim.SGD,
        lr=0.05,
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

    def _check_fit_requirements(self, given: dict[str, Any]) -> None:
        name, X_val = type(self).__name__, given["X_val"]
        if X_val is None:
            raise ValueError(
                f"{name} needs X_val and y_val, samples with correct labels by which "
                "the others are weighted, but fit() was called without. Pass "
                "fit(X, y, X_val=..., y_val=...), or use a classifier that needs none, "
                "such as CoTeachingClassifier."
            )
        if len(X_val) < 2:
            raise ValueError(
                f"{name} needs at least 2 samples in X_val, got 1. Add samples with "
                "correct labels, of every class if possible."
            )

    def _clean_rows(self, data: TrainingData) -> tuple[PredictionRows, Tensor | None]:
        """Return the samples with correct labels, and their weights."""
        rows = data.validation_rows()
        assert rows is not None
        assert rows.labels is not None
        return rows, validation_weights(self, rows.labels.numpy())

    def _train(self, trainer: Trainer, rng: np.random.RandomState) -> LabelFindings:
        visits = early_visits(trainer, self.max_epochs)
        trainer.start()
        clean_gradient = CleanGradient(trainer.net, *self._clean_rows(trainer.data))
        policy = ReweightByCleanGradient(clean_gradient)
        trainer.run(policy, self.max_epochs, stage="train", observe=visits.add)
        return report_labels(trainer, visits)

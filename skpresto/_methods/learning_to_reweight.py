"""Learning to Reweight: samples are weighted by what they do for clean ones."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from skpresto._classifier.weights import validation_weights
from skpresto._data.batch import Batch
from skpresto._data.training_data import PredictionRows
from skpresto._methods._clean_gradient import CleanGradient
from skpresto._methods._one_stage import OneStageClassifier
from skpresto._methods._sample_gradients import (
    check_gradients,
    derivatives_along,
    derivatives_one_by_one,
    missing_derivatives,
)
from skpresto._training.policy import Policy, Selection
from skpresto._training.request import FitRequest
from skpresto._training.trainer import Trainer
from skpresto._warn import warn_caller
from skpresto.exceptions import FallbackWarning


class ReweightByCleanGradient(Policy):
    """Weigh each sample by how well its gradient agrees with that of clean samples.

    With the gradient g of the mean loss of clean samples, the weight of a sample is
    proportional to max(u, 0), u being the scalar product of g with the gradient of its
    loss. Weights of a batch add up to one; if none is positive, nothing is learned.

    Parameters
    ----------
    clean_gradient : callable
        Returns the parameters and the gradient g for each of them.
    """

    needs_gradients = True
    refusal = (
        "Learning to Reweight cannot be used in data_parallel: it needs the gradient "
        "of each sample, and a process has only those of its part of a batch. Leave "
        "the block, or choose another method."
    )
    _state = ("_has_second_derivatives",)

    def __init__(
        self, clean_gradient: Callable[[], tuple[list[Tensor], list[Tensor]]]
    ) -> None:
        self.clean_gradient = clean_gradient
        self._has_second_derivatives: bool | None = None  # not known before a batch

    def select(self, batch: Batch) -> Selection:
        """Return the samples of the batch with their weights."""
        parameters, gradient = self.clean_gradient()
        derivatives = self._derivatives(batch.losses[0], parameters, gradient)
        # What is not a number is learned, so that the divergence is noticed.
        positive = derivatives.clamp(min=0).nan_to_num(nan=1.0, posinf=1.0)
        total = positive.sum()
        return Selection(weights=(positive / (total + (total == 0))).unsqueeze(0))

    def _derivatives(
        self, losses: Tensor, parameters: list[Tensor], direction: list[Tensor]
    ) -> Tensor:
        if self._has_second_derivatives is None:
            reason = missing_derivatives(losses, parameters, direction)
            self._has_second_derivatives = reason is None
            if reason is not None:
                check_gradients(losses, parameters)
                warn_caller(
                    "Some operation of the module has no second derivatives in torch "
                    f"({reason}), so the gradient of each sample is computed by "
                    "itself, which takes many times as long. A module of other layers "
                    "avoids this.",
                    FallbackWarning,
                )
        if self._has_second_derivatives:
            return derivatives_along(losses, parameters, direction)
        return derivatives_one_by_one(losses, parameters, direction)


class LearningToReweightClassifier(OneStageClassifier):
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
        self._store(locals())

    def _check_request(self, given: dict[str, Any]) -> None:
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

    def _policy(self, trainer: Trainer, request: FitRequest) -> Policy:
        clean_rows = self._clean_rows(request)
        return ReweightByCleanGradient(CleanGradient(trainer.net, *clean_rows))

    def _clean_rows(self, request: FitRequest) -> tuple[PredictionRows, Tensor | None]:
        """Return the samples with correct labels, and their weights."""
        rows = request.data.validation_rows()
        assert rows is not None
        assert rows.labels is not None
        return rows, validation_weights(self, rows.labels.numpy(), request.classes)

"""Forward correction with an estimated transition matrix."""

from numbers import Real
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from skpresto._data.batch import Batch
from skpresto._label_quality.anchors import anchor_transition_matrix
from skpresto._label_quality.findings import LabelFindings
from skpresto._label_quality.mean_probabilities import MeanProbabilities
from skpresto._methods._one_stage import OneStageClassifier
from skpresto._methods._report import report_labels
from skpresto._methods._two_phases import can_hold_out, held_out_rows
from skpresto._sklearn import Interval
from skpresto._training.policy import LearnFromAll, Policy, Selection
from skpresto._training.request import FitRequest
from skpresto._training.stage import Stage
from skpresto._training.trainer import Trainer
from skpresto.losses import ForwardCorrectionLoss
from skpresto.stopping import HoldoutStop


class LearnForwardCorrected(Policy):
    """Learn every given label as one that noise has produced from the true class.

    Parameters
    ----------
    loss : ForwardCorrectionLoss
        Knows the transition matrix; it takes the place of the criterion.
    """

    may_select_nothing = False

    def __init__(self, loss: ForwardCorrectionLoss) -> None:
        self.loss = loss

    def select(self, batch: Batch) -> Selection:
        """Return all samples, with the corrected loss."""
        labels = batch.labels.expand(batch.losses.shape).flatten()

        def objective(logits: Tensor, losses: Tensor) -> Tensor:
            return self.loss(logits.flatten(0, 1), labels).view(losses.shape)

        return Selection(objective=objective)


class ForwardCorrectionClassifier(OneStageClassifier):
    """Train with a loss that contains the transition matrix of the label noise.

    Forward correction [1]_ learns to predict the true class, from which label noise
    makes the given label with known probabilities. They are estimated by a first
    network: trained on the noisy labels, it predicts how often each label is given to a
    typical sample of a class. It works if noise depends on the class only, and if that
    network predicts label probabilities well. The cost is up to two fits; one if the
    matrix is given.

    Parameters
    ----------
    module : nn.Module class or instance, default=None
        The network, as in :class:`~skpresto.PrestoppingClassifier`.
    transition_matrix : array-like of shape (n_classes, n_classes), default=None
        Probability of each given label (columns) for each true class (rows), in the
        order of ``classes_``. ``None`` estimates it.
    outlier_fraction : float in [0, 1), default=0.2
        How many of the samples with the highest probability of a class do not stand
        for it, as a fraction of the labels of the class. The official release leaves
        out 3 % of all samples, which is 0.3 for ten classes of equal size. The estimate
        depends strongly on it: if it is too high, anchors are samples at the border of
        the class; too low, they are samples whose label is memorized.
    q : int, default=10
        Number of latest predictions stored per sample. It does not affect training,
        only what is recorded.
    class_weight, criterion, optimizer, lr, max_epochs, batch_size, device
    callbacks, n_jobs, random_state, verbose, **net_params
        How the network is trained, as in :class:`~skpresto.PrestoppingClassifier`;
        ``criterion`` is used for the estimate only.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, input_shape_, net_, n_epochs_
        As in :class:`~skpresto.PrestoppingClassifier`.
    history_ : list of EpochRecord
        One record per epoch, of the stage ``"estimate"`` or ``"train"``; can be passed
        to ``pandas.DataFrame``.
    transition_matrix_ : ndarray of shape (n_classes, n_classes)
        The matrix used: as given, or estimated.
    safe_mask_ : ndarray of shape (n_samples,), dtype=bool
        Whether the given label is the majority prediction in the end.
    label_quality_ : ndarray of shape (n_samples,)
        As in :class:`~skpresto.CoTeachingClassifier`.
    label_agreement_, suggested_labels_, label_findings_
        As in :class:`~skpresto.PrestoppingClassifier`.
    noise_rate_ : float
        Fraction of samples outside the safe set.

    See Also
    --------
    skpresto.losses.ForwardCorrectionLoss : The loss, for a known matrix.
    skpresto.noise.estimate_transition_matrix : Estimate from predicted probabilities.

    Notes
    -----
    The first network is the one with the lowest error on a tenth of the noisy rows that
    are held out, since a network that has memorized the labels predicts no label noise.
    If none can be held out, it is the network after the last epoch. The final network
    is trained on all rows for ``max_epochs``.

    References
    ----------
    .. [1] G. Patrini, A. Rozza, A. K. Menon, R. Nock, L. Qu, "Making deep neural
       networks robust to label noise: a loss correction approach", CVPR 2017.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from skpresto.baselines import ForwardCorrectionClassifier
    >>> X, y = make_blobs(n_samples=200, random_state=0)
    >>> clf = ForwardCorrectionClassifier(max_epochs=10, random_state=0).fit(X, y)
    >>> clf.transition_matrix_.shape
    (3, 3)
    """

    _parameter_constraints = {
        **OneStageClassifier._parameter_constraints,
        "transition_matrix": ["array-like", None],
        "outlier_fraction": [Interval(Real, 0, 1, closed="left")],
    }

    def __init__(
        self,
        module=None,
        *,
        transition_matrix=None,
        outlier_fraction=0.2,
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
        self._store(locals())

    def _policy(self, trainer: Trainer, request: FitRequest) -> Policy:
        matrix = self.transition_matrix
        if matrix is None:
            matrix = self._estimate(trainer)
        loss = _corrected_loss(matrix, request.classes)
        return LearnForwardCorrected(loss.to(trainer.net.device))

    def _report(
        self, trainer: Trainer, visits: MeanProbabilities, policy: Policy
    ) -> LabelFindings:
        assert isinstance(policy, LearnForwardCorrected)
        matrix = policy.loss.transition_matrix
        return report_labels(trainer, visits, transition_matrix=matrix)

    def _estimate(self, trainer: Trainer) -> Tensor:
        """Return the matrix that a network trained on the noisy labels predicts."""
        rule, data = HoldoutStop(tolerance=0.0), trainer.data
        trainer.start()
        if not can_hold_out(data):
            trainer.run(Stage("estimate", LearnFromAll(), self.max_epochs))
        else:
            stage = Stage(
                "estimate",
                LearnFromAll(),
                self.max_epochs,
                rule=rule,
                holdout=held_out_rows(trainer, rule),
            )
            trainer.search(stage)
        rows = data.rows_with_weight
        rows = torch.arange(len(data.labels)) if rows is None else rows
        return anchor_transition_matrix(
            trainer.predicted_probabilities(rows),
            data.labels[rows],
            self.outlier_fraction,
        )


def _corrected_loss(matrix: Any, classes: np.ndarray) -> ForwardCorrectionLoss:
    """Return the loss, one number per sample; raise if the matrix does not fit."""
    loss = ForwardCorrectionLoss(matrix, reduction="none")
    n_rows = len(loss.transition_matrix)
    if n_rows != len(classes):
        raise ValueError(
            "ForwardCorrectionClassifier needs a row and a column of transition_matrix "
            f"for each of the {len(classes)} classes in y, got a matrix of {n_rows}. "
            "Its order is that of the sorted labels."
        )
    return loss

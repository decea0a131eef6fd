"""PES: the last layers stop earlier than the first ones."""

from collections.abc import Callable
from functools import partial
from numbers import Integral, Real
from typing import Any

import torch
from torch import Tensor, nn

from skpresto._classifier.base import BaseNoisyLabelClassifier
from skpresto._classifier.outcome import Outcome
from skpresto._classifier.warnings import warn_of_lost_classes
from skpresto._data.batch import Batch
from skpresto._data.training_data import PredictionRows
from skpresto._methods._epochs import ROUND_CONSTRAINT, as_epochs
from skpresto._methods._last_layers import last_layers, trained_alone
from skpresto._methods._report import early_visits, has_weight, report_labels
from skpresto._sklearn import Interval
from skpresto._training.policy import LearnFromAll, Policy, Selection
from skpresto._training.request import FitRequest
from skpresto._training.stage import Stage
from skpresto._training.trainer import Trainer


class LearnConfident(Policy):
    """Learn samples whose label is predicted, all classes with the same weight.

    Predictions are made after each epoch, in evaluation mode.

    Parameters
    ----------
    labels : Tensor of shape (n_samples,)
        Given labels.
    n_classes : int
        Number of classes.
    counts : Tensor of shape (n_samples,), dtype=bool
        Which samples are counted in the weights of the classes.
    predicts_labels : callable
        Returns for which samples the given label is predicted.

    Attributes
    ----------
    is_confident : Tensor of shape (n_samples,), dtype=bool
        Whether the label was predicted after the last epoch.
    class_weight : Tensor of shape (n_classes,)
        Weights by which all classes have the same share in the confident samples; 0 for
        a class without any.
    """

    _state = ("is_confident", "class_weight")

    def __init__(
        self,
        labels: Tensor,
        n_classes: int,
        counts: Tensor,
        predicts_labels: Callable[[], Tensor],
    ) -> None:
        self.labels = labels
        self.counts = counts
        self.predicts_labels = predicts_labels
        self.is_confident = torch.zeros_like(labels, dtype=torch.bool)
        self.class_weight = torch.zeros(n_classes, device=labels.device)
        self.end_epoch()

    def select(self, batch: Batch) -> Selection:
        """Return the confident samples, weighted by class."""
        is_learned = self.is_confident.index_select(0, batch.index)
        weights = is_learned * self.class_weight.index_select(0, batch.labels)
        return Selection(weights=weights.to(batch.losses.dtype).unsqueeze(0))

    def is_safe(self) -> Tensor:
        """Return the confident samples."""
        return self.is_confident

    def end_epoch(self) -> dict[str, Any]:
        """Predict all samples."""
        self.is_confident = self.predicts_labels()
        counted = self.labels[self.is_confident & self.counts]
        n_labels = torch.bincount(counted, minlength=len(self.class_weight)).float()
        mean = n_labels.sum() / (n_labels > 0).sum().clamp(min=1)
        self.class_weight = torch.where(n_labels > 0, mean / n_labels, 0)
        return {}


def predicts_labels(trainer: Trainer) -> Tensor:
    """Return for which samples the given label is predicted, in evaluation mode."""
    data = trainer.data
    rows = PredictionRows(data.X, labels=data.labels)
    differs = trainer.net.disagrees(rows, trainer.machinery.predict)
    if differs is None:  # without finite logits
        return torch.zeros_like(trainer.labels, dtype=torch.bool)
    return ~differs.to(trainer.labels.device)


class PESClassifier(BaseNoisyLabelClassifier):
    """Stop the training of the last layers early, and that of the first ones later.

    Progressive early stopping [1]_ rests on the observation that the last layers of a
    network memorize wrong labels first. It trains the network on all labels for a few
    epochs; then it initializes the last block anew and trains it alone for few epochs,
    and so the last layer. From then on it learns the samples whose given label is
    predicted, all classes with the same weight. Neither clean labels nor a noise rate
    are needed. The cost is 1.1 to 1.4 fits: all samples are predicted after each epoch.

    Parameters
    ----------
    module : nn.Module class or instance, default=None
        The network, as in :class:`~skpresto.PrestoppingClassifier`. Layers that are
        initialized anew need a method ``reset_parameters()``, as those of torch have.
    block : int or str, default=2
        Layers that are initialized anew first: a number of last modules that have
        trained parameters themselves, in the order in which they are defined; or a
        regular expression that is searched in the names of parameters, such as
        ``"layer4|fc"``. Modules that normalize are not counted, and belong to the one
        before. The first layer keeps what it learned, unless it is the only one.
    head : int or str, default=1
        Layers that are initialized anew after these.
    early_epochs : int or float, default=0.125
        Epochs on all labels, T_1 in the paper, as a number or as a fraction of
        ``max_epochs``.
    block_epochs : int or float, default=0.1
        Epochs in which ``block`` is trained alone, T_2 in the paper.
    head_epochs : int or float, default=0.075
        Epochs in which ``head`` is trained alone, T_3 in the paper.
    refine_lr : float, default=0.01
        Learning rate of Adam, which trains ``block`` and ``head``; 0.0001 in the paper,
        see the notes.
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
        One record per epoch, with the name of its stage: "train", "last block", "last
        layer", "confident". Can be passed to ``pandas.DataFrame``.
    safe_mask_ : ndarray of shape (n_samples,), dtype=bool
        Whether the given label is predicted in the end.
    label_quality_ : ndarray of shape (n_samples,)
        As in :class:`~skpresto.PrestoppingClassifier`, from the visits after the last
        layer was trained alone.
    label_agreement_, suggested_labels_, label_findings_
        As in :class:`~skpresto.PrestoppingClassifier`.
    noise_rate_ : float
        Fraction of samples outside the safe set.

    See Also
    --------
    skpresto.PrestoppingClassifier : One stop point for all layers.

    Notes
    -----
    All epochs add up to ``max_epochs``. While some layers are trained alone, the
    running statistics of BatchNorm change in all of them, as in the release. There, the
    optimizer has no part in the new layers afterwards, since it was made before them;
    here all layers learn from confident samples. Its stages take 25, 7 and 5 of about
    200 epochs, of 350 steps each, with a learning rate of 0.0001. In the few steps of a
    small data set, that leaves new layers as they were drawn: then few classes are
    predicted, whose samples alone are learned. The release decides by the mean
    prediction for two views of a sample, as which it is learned; here samples are
    learned and predicted as they are. It uses the epoch with the lowest error on
    held-out noisy rows, here the last epoch counts.

    References
    ----------
    .. [1] Y. Bai, E. Yang, B. Han, Y. Yang, J. Li, Y. Mao, G. Niu, T. Liu,
       "Understanding and improving early stopping for learning with noisy labels",
       NeurIPS 2021.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from skpresto.baselines import PESClassifier
    >>> X, y = make_blobs(n_samples=200, random_state=0)
    >>> clf = PESClassifier(max_epochs=20, random_state=0).fit(X, y)
    >>> list(dict.fromkeys(record.stage for record in clf.history_))
    ['train', 'last block', 'last layer', 'confident']
    """

    _parameter_constraints = {
        **BaseNoisyLabelClassifier._parameter_constraints,
        "block": [Interval(Integral, 1, None, closed="left"), str],
        "head": [Interval(Integral, 1, None, closed="left"), str],
        "early_epochs": ROUND_CONSTRAINT,
        "block_epochs": ROUND_CONSTRAINT,
        "head_epochs": ROUND_CONSTRAINT,
        "refine_lr": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        module=None,
        *,
        block=2,
        head=1,
        early_epochs=0.125,
        block_epochs=0.1,
        head_epochs=0.075,
        refine_lr=0.01,
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

    def _train(self, trainer: Trainer, request: FitRequest) -> Outcome:
        n_early, n_block, n_head, n_left = self._n_epochs()
        visits = early_visits(trainer, self.max_epochs)
        trainer.start()
        (network,) = trainer.net.networks
        block = last_layers(network, self.block, "block")
        head = last_layers(network, self.head, "head")
        trainer.run(Stage("train", LearnFromAll(), n_early))
        for name, layers, n_epochs in (
            ("last block", block, n_block),
            ("last layer", head, n_head),
        ):
            if n_epochs:
                with trained_alone(trainer.net, layers, self.refine_lr):
                    trainer.run(Stage(name, LearnFromAll(), n_epochs))
        policy = LearnConfident(
            trainer.labels,
            trainer.data.n_classes,
            has_weight(trainer),
            partial(predicts_labels, trainer),
        )
        trainer.run(Stage("confident", policy, n_left, recorders=[visits]))
        findings = report_labels(trainer, visits, is_safe=policy.is_confident)
        warn_of_lost_classes(self, request, findings.is_safe)
        return Outcome(findings)

    def _n_epochs(self) -> list[int]:
        """Return the epochs of all stages; the last ones have none in short fits."""
        given = self.early_epochs, self.block_epochs, self.head_epochs
        wanted = [max(1, as_epochs(n, self.max_epochs)) for n in given]
        if sum(wanted) >= self.max_epochs > len(wanted):
            raise ValueError(
                f"PESClassifier with early_epochs={self.early_epochs}, block_epochs="
                f"{self.block_epochs} and head_epochs={self.head_epochs} takes "
                f"{wanted} of max_epochs={self.max_epochs} epochs, so that none is "
                "left to learn confident samples. Lower these, or raise max_epochs."
            )
        left, found = self.max_epochs, []
        for n_epochs in [*wanted, self.max_epochs]:
            found.append(min(n_epochs, left))
            left -= found[-1]
        return found

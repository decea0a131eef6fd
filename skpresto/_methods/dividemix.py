"""DivideMix: labels with a large loss are replaced by guesses of two networks."""

from collections.abc import Callable
from functools import partial
from numbers import Real

import torch
from torch import Tensor, nn

from skpresto._data.augment import AUGMENT_CONSTRAINT, augment_of
from skpresto._data.batch import Batch
from skpresto._data.features import on_device
from skpresto._data.mixup import Mixup
from skpresto._methods._clean_mixture import clean_probabilities, losses_of_networks
from skpresto._methods._epochs import EPOCHS_CONSTRAINT, as_epochs, n_epochs_of
from skpresto._methods._one_stage import OneStageClassifier, losses_of
from skpresto._methods._report import selected_or_predicted
from skpresto._methods._semi_supervised import (
    CLEAN,
    class_frequencies,
    divided_targets,
    semi_supervised_losses,
)
from skpresto._networks.probe import learns_probabilities
from skpresto._sklearn import Interval, StrOptions
from skpresto._training.policy import Policy, Selection
from skpresto._training.request import FitRequest
from skpresto._training.trainer import Trainer


class DivideAndMix(Policy):
    """Train two networks, each on labels that the losses of the other one divide.

    Parameters
    ----------
    measure : callable
        Returns positions of samples, and their losses for each network at present.
    losses_of : callable
        Maps logits and targets to one loss per sample.
    mixup : Mixup
        Mixes samples.
    n_samples : int
        Number of training samples.
    prior : Tensor of shape (n_classes,)
        Frequency of each class, from which mean predictions are not to diverge.
    warm_up : int
        Number of epochs of plain training.
    ramp_epochs : int
        Number of epochs after it in which ``lambda_u`` increases from 0.
    lambda_u : float
        Weight of the loss of guessed labels.
    is_asymmetric : bool
        Whether confident predictions have a penalty while training is plain.

    Attributes
    ----------
    probabilities : Tensor of shape (2, n_samples)
        Of each label to be correct, by the losses of each network.
    takes_probabilities : bool
        Whether the criterion takes class probabilities as targets. If not, the most
        probable class is learned.
    """

    needs_views = True
    may_select_nothing = False
    refusal = (
        "DivideMix cannot be used in data_parallel: it mixes the samples of a batch "
        "with each other, and a process has only a part of them. Leave the block, or "
        "choose another method."
    )
    takes_probabilities = True
    _state = ("probabilities", "_n_completed")

    def __init__(
        self,
        measure: Callable[[], tuple[Tensor, Tensor]],
        losses_of: Callable[[Tensor, Tensor], Tensor],
        mixup: Mixup,
        n_samples: int,
        prior: Tensor,
        warm_up: int,
        ramp_epochs: int,
        lambda_u: float,
        is_asymmetric: bool,
    ) -> None:
        self.measure = measure
        self.losses_of = losses_of
        self.mixup = mixup
        self.prior = prior
        self.warm_up = warm_up
        self.ramp_epochs = max(1, ramp_epochs)
        self.lambda_u = lambda_u
        self.is_asymmetric = is_asymmetric
        shape = 2, n_samples
        self.probabilities = torch.ones(shape, dtype=torch.float32, device=prior.device)
        self._n_completed = 0

    @property
    def selected(self) -> Tensor:  # type: ignore[override]
        """Which labels either network takes for correct."""
        return (self.probabilities > CLEAN).any(dim=0)

    def end_epoch(self) -> dict[str, float]:
        """Divide the labels anew, if the next epoch is not one of plain training."""
        self._n_completed += 1
        if self._n_completed >= self.warm_up:
            index, losses = self.measure()
            found = torch.stack([clean_probabilities(own) for own in losses])
            self.probabilities.zero_().index_copy_(1, index, found.to(torch.float32))
        return {}

    def select(self, batch: Batch) -> Selection:
        """Return all samples, with the loss of mixed samples after the warm-up."""
        if batch.epoch >= self.warm_up:
            return Selection(objective=partial(self._mixed, batch))
        return Selection(objective=_with_penalty if self.is_asymmetric else None)

    def _mixed(self, batch: Batch, logits: Tensor, losses: Tensor) -> Tensor:
        """Return the loss of each sample, the mean over its views."""
        assert batch.view is not None
        n_views, (n_networks, n_rows) = self.mixup.n_views, losses.shape
        views, predicted = self.mixup.kept_views(), batch.logits
        if n_views > 1:
            with torch.no_grad():
                predicted = batch.view(views)
        p = torch.softmax(predicted.float(), dim=2)
        p = p.view(n_networks, n_views, n_rows, -1).mean(dim=1)
        # Each network learns what the losses of the other one divide.
        told = self.probabilities.index_select(1, batch.index).flip(0)
        targets = divided_targets(p, batch.labels, told).repeat(1, n_views, 1)
        partners = on_device(torch.randperm(n_views * n_rows), targets.device)
        mixed = self.mixup.outputs(batch.view, partners, views)
        factor = self.lambda_u * min((batch.epoch - self.warm_up) / self.ramp_epochs, 1)
        return semi_supervised_losses(
            self._losses_of, mixed, targets, told > CLEAN, factor, self.prior
        )

    def _losses_of(self, logits: Tensor, targets: Tensor) -> Tensor:
        if not self.takes_probabilities:
            targets = targets.argmax(dim=2)
        return self.losses_of(logits, targets)


def _with_penalty(logits: Tensor, losses: Tensor) -> Tensor:
    """Add the negative entropy of predictions to the losses."""
    logarithms = torch.log_softmax(logits.float(), dim=2)
    return losses + (logarithms.exp() * logarithms).sum(dim=2)


class DivideMixClassifier(OneStageClassifier):
    """Train two networks on labels with small losses, and on guesses for the others.

    DivideMix [1]_ fits a mixture of two groups to the losses of all samples before each
    epoch, and keeps the labels in the group of small losses, for each network by the
    losses of the other one. Labels that are kept are refined by predictions, the others
    are replaced by what both networks predict, and pairs of samples are mixed (mixup).
    It is the method of the field with the best published results on images, with
    augmentation and hundreds of epochs. The rule needs no noise rate, but the paper
    chooses ``lambda_u`` by it. The cost is three fits, and about twice that with views.

    Parameters
    ----------
    module : nn.Module class or instance, default=None
        The network, as in :class:`~skpresto.CoTeachingClassifier`; two are built.
    warm_up : int or float, default=0.2
        Epochs of plain training at the start, as a number or as a fraction of
        ``max_epochs``. The paper has 10 of 300 for 10 classes, and 30 for 100.
    lambda_u : float, default=0.0
        Weight of the loss of guessed labels. The paper chooses it by the noise: 0 for
        little or asymmetric noise and for human labels, 25 for symmetric noise of half
        of the labels and more, up to 150 for 100 classes. With 0, samples without a
        label are only learned as the smaller part of mixed ones.
    ramp_epochs : int or float, default=16
        Epochs after the warm-up until it has that weight, as a number or as a fraction
        of ``max_epochs``.
    noise_pattern : {"symmetric", "asymmetric"}, default="symmetric"
        With asymmetric noise, confident predictions have a penalty in the warm-up, as
        they soon fit such noise.
    augment : {"auto"}, callable or None, default="auto"
        Makes two views of the samples of a batch, by which labels are guessed and which
        are learned: a function of the features, as the module gets them, that returns
        features of the same shape. "auto" mirrors and moves images, and has no views
        of other samples.
    q : int, default=10
        Number of latest predictions stored per sample. It does not affect training,
        only what is recorded.
    class_weight, criterion, optimizer, lr, max_epochs, batch_size, device
    callbacks, n_jobs, random_state, verbose, **net_params
        How the network is trained, as in :class:`~skpresto.PrestoppingClassifier`. Of a
        ``criterion`` that takes no class probabilities, the most probable class is
        learned.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, input_shape_, net_, n_epochs_
        As in :class:`~skpresto.PrestoppingClassifier`.
    history_ : list of EpochRecord
        One record per epoch; can be passed to ``pandas.DataFrame``.
    safe_mask_ : ndarray of shape (n_samples,), dtype=bool
        Whether the losses of a network say in the end that the label is correct. A
        sample of weight 0 is safe if its label is predicted.
    label_quality_ : ndarray of shape (n_samples,)
        As in :class:`~skpresto.PrestoppingClassifier`, from the visits of all epochs.
    label_agreement_, suggested_labels_, label_findings_
        As in :class:`~skpresto.PrestoppingClassifier`.
    noise_rate_ : float
        Fraction of samples outside the safe set.

    See Also
    --------
    SSRClassifier : One network, and neighbors instead of losses.
    skpresto.CoTeachingClassifier : Two networks that only select.

    Notes
    -----
    With the probability w that a label y is correct and predictions p, what is learned
    is proportional to ``(w y + (1 - w) p) ** 2`` if w exceeds one half, with the p of
    the network itself, and to ``p ** 2`` otherwise, with the mean p of both networks.
    The loss is the criterion for the former, ``lambda_u`` times the squared distance
    for the latter, each a mean over its samples, and the divergence of mean predictions
    from the frequencies of given labels (in the paper, of equal classes, from uniform
    ones). The authors' release trains the networks one after the other
    on batches with as many labels that are kept as others; here both have the same
    batches of all samples, and the same pairs are mixed. Predictions of both are those
    of training mode. Samples are mixed if they are tensors of floating-point numbers;
    others, such as numbers of words, are learned as they are.

    References
    ----------
    .. [1] J. Li, R. Socher, S. C. H. Hoi, "DivideMix: learning with noisy labels as
       semi-supervised learning", ICLR 2020.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from skpresto.baselines import DivideMixClassifier
    >>> X, y = make_blobs(n_samples=200, random_state=0)
    >>> clf = DivideMixClassifier(max_epochs=10, random_state=0).fit(X, y)
    >>> clf.predict(X).shape
    (200,)
    """

    _n_networks = 2
    _counts_late_visits = True
    _parameter_constraints = {
        **OneStageClassifier._parameter_constraints,
        "warm_up": EPOCHS_CONSTRAINT,
        "lambda_u": [Interval(Real, 0, None, closed="left")],
        "ramp_epochs": EPOCHS_CONSTRAINT,
        "noise_pattern": [StrOptions({"symmetric", "asymmetric"})],
        "augment": AUGMENT_CONSTRAINT,
    }

    def __init__(
        self,
        module=None,
        *,
        warm_up=0.2,
        lambda_u=0.0,
        ramp_epochs=16,
        noise_pattern="symmetric",
        augment="auto",
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

    def _policy(self, trainer: Trainer, request: FitRequest) -> DivideAndMix:
        return DivideAndMix(
            partial(losses_of_networks, trainer),
            losses_of(trainer),
            Mixup(augment_of(self.augment, request.input_shape)),
            len(trainer.labels),
            class_frequencies(trainer),
            n_epochs_of(self, "warm_up"),
            as_epochs(self.ramp_epochs, self.max_epochs),
            self.lambda_u,
            self.noise_pattern == "asymmetric",
        )

    def _begin(self, trainer: Trainer, policy: Policy) -> None:
        assert isinstance(policy, DivideAndMix)
        net, n_classes = trainer.net, trainer.data.n_classes
        policy.takes_probabilities = learns_probabilities(net, n_classes)

    def _is_safe(self, trainer: Trainer, policy: Policy) -> Tensor | None:
        assert policy.selected is not None
        return selected_or_predicted(trainer, policy.selected)

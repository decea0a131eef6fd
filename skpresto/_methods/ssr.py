"""SSR: samples are selected by their neighbors, and relabelled by the network."""

from collections.abc import Callable
from functools import partial
from numbers import Integral, Real

import torch
from torch import Tensor, nn

from skpresto._data.augment import AUGMENT_CONSTRAINT, augment_of
from skpresto._data.batch import Batch
from skpresto._data.mixup import Mixup, drawn_partners
from skpresto._label_quality.findings import LabelFindings
from skpresto._label_quality.mean_probabilities import MeanProbabilities
from skpresto._methods._neighbor_division import (
    NeighborDivision,
    balancing_weights,
    represented,
)
from skpresto._methods._one_stage import OneStageClassifier, losses_of
from skpresto._methods._report import report_labels, selected_or_predicted
from skpresto._sklearn import Interval
from skpresto._training.policy import CorrectingPolicy, Policy, Selection
from skpresto._training.request import FitRequest
from skpresto._training.trainer import Trainer


class SelectByNeighbors(CorrectingPolicy):
    """Learn from samples whose label is the one of most of their neighbors.

    Labels are replaced, and samples selected, before each epoch. Clean samples are
    mixed with each other, and learned with weights that balance their classes.

    Parameters
    ----------
    labels : Tensor of shape (n_samples,)
        Given labels.
    represent : callable
        Returns positions of samples, their representation and their logits at present.
    losses_of : callable
        Maps logits and class numbers to one loss per sample.
    division : callable
        Maps given labels, representation and logits to the labels to learn, and to
        which samples are clean.
    mixup : Mixup
        Mixes samples.

    Attributes
    ----------
    learned_labels : Tensor of shape (n_samples,)
        Labels with confident predictions in the place of given ones.
    is_clean : Tensor of shape (n_samples,), dtype=bool
        Whether the sample is learned.
    """

    needs_views = True
    refusal = (
        "SSR cannot be used in data_parallel: it mixes the samples of a batch with "
        "each other, and a process has only a part of them. Leave the block, or choose "
        "another method."
    )
    _state = ("learned_labels", "is_clean", "_weights")

    def __init__(
        self,
        labels: Tensor,
        represent: Callable[[], tuple[Tensor, Tensor, Tensor]],
        losses_of: Callable[[Tensor, Tensor], Tensor],
        division: Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]],
        mixup: Mixup,
    ) -> None:
        super().__init__()
        self.labels = labels
        self.represent = represent
        self.losses_of = losses_of
        self.division = division
        self.mixup = mixup
        self.learned_labels = labels.clone()
        self.is_clean = torch.ones_like(labels, dtype=torch.bool)
        self._weights = torch.ones(len(labels), device=labels.device)

    @property
    def selected(self) -> Tensor:  # type: ignore[override]
        """Which samples are clean with their given label."""
        return self.is_clean & (self.learned_labels == self.labels)

    def divide(self) -> None:
        """Replace and select labels by the present network."""
        index, features, logits = self.represent()
        labels, is_clean = self.division(self.labels[index], features, logits)
        self.learned_labels.copy_(self.labels).index_copy_(0, index, labels)
        self.is_clean.zero_().index_copy_(0, index, is_clean)
        self._weights.index_copy_(0, index, balancing_weights(labels, is_clean))

    def select(self, batch: Batch) -> Selection:
        """Return the clean samples with their labels, as the loss of mixed samples."""
        is_clean = self.is_clean.index_select(0, batch.index)
        labels = self.learned_labels.index_select(0, batch.index)
        weights = self._weights.index_select(0, batch.index).to(batch.losses.dtype)
        self.count_corrected(is_clean & (labels != batch.labels))
        assert batch.view is not None
        view, n_views = batch.view, self.mixup.n_views

        def mixed(logits: Tensor, losses: Tensor) -> Tensor:
            partners = drawn_partners(is_clean.repeat(n_views))
            outputs = self.mixup.outputs(view, partners)
            both = outputs.losses(self.losses_of, labels.repeat(n_views))
            return both.view(n_views, -1).mean(dim=0, keepdim=True)

        return Selection(weights=(weights * is_clean).unsqueeze(0), objective=mixed)

    def end_epoch(self) -> dict[str, float]:
        """Select anew; return the fraction of samples learned with another label."""
        corrected = super().end_epoch()
        self.divide()
        return corrected


class SSRClassifier(OneStageClassifier):
    """Select samples by the labels of their neighbors, and relabel confident ones.

    Sample selection and relabelling [1]_ looks at all training samples before each
    epoch. Where the network is confident, its prediction takes the place of the label.
    A sample is then learned if its label is the most frequent one among its nearest
    neighbors in the representation of the network. What is learned is mixed in pairs
    (mixup), with classes of equal weight. It needs no noise rate. This is SSR; SSR+ of
    the paper adds a loss by which representations of two views agree. The cost is two
    fits, four with views, and the search for neighbors, which takes time in proportion
    to the square of the number of samples up to ``n_references``.

    Parameters
    ----------
    module : nn.Module class or instance, default=None
        The network, as in :class:`~skpresto.PrestoppingClassifier`. The representation
        is the input of the ``nn.Linear`` layer that is called last; of modules that
        call none, or call it with more than a vector per sample, it is the logits.
    relabel_threshold : float in [0, 1], default=0.9
        A predicted class takes the place of the label if its probability exceeds this,
        theta_r in the paper, which uses 0.9 and, for heavy noise, 0.8. With 1, no label
        is replaced.
    select_threshold : float in [0, 1], default=1.0
        A sample is selected if its label has at least this share of the votes of the
        most frequent label among its neighbors, theta_s in the paper.
    n_neighbors : int, default=200
        Number of nearest neighbors, the sample itself included; at most half of the
        mean number of samples per class.
    n_references : int or None, default=10000
        Largest number of samples among which neighbors are searched. Of more training
        samples, as many are drawn before each epoch, and proportionately fewer
        neighbors vote. None searches among all, as in the paper.
    augment : {"auto"}, callable or None, default="auto"
        Makes two views of the samples of a batch, both of which are learned: a function
        of the features, as the module gets them, that returns features of the same
        shape. "auto" mirrors and moves images, and has no views of other samples.
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
        One record per epoch, with the fraction of samples learned with another label;
        can be passed to ``pandas.DataFrame``.
    safe_mask_ : ndarray of shape (n_samples,), dtype=bool
        Whether the sample is selected in the end with its given label. A sample of
        weight 0 is safe if its label is predicted.
    corrected_labels_ : ndarray of shape (n_samples,)
        Labels after the last epoch, confident predictions in the place of given ones.
    corrected_mask_ : ndarray of shape (n_samples,), dtype=bool
        Where they differ.
    label_quality_ : ndarray of shape (n_samples,)
        As in :class:`~skpresto.PrestoppingClassifier`, from the visits of all epochs.
    label_agreement_, suggested_labels_, label_findings_
        As in :class:`~skpresto.PrestoppingClassifier`.
    noise_rate_ : float
        Fraction of samples outside the safe set.

    See Also
    --------
    DivideMixClassifier : Learn without labels from what is not selected.

    Notes
    -----
    Votes of neighbors are divided by the frequency of their label among all samples.
    Neighbors have the largest cosine similarity. The authors' release draws batches of
    clean samples in which all classes are equally frequent; here batches are of all
    samples, and weights balance the classes. Samples are mixed if they are tensors of
    floating-point numbers; others, such as numbers of words, are learned as they are.

    References
    ----------
    .. [1] C. Feng, G. Tzimiropoulos, I. Patras, "SSR: an efficient and robust framework
       for learning with unknown label noise", BMVC 2022.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from skpresto.baselines import SSRClassifier
    >>> X, y = make_blobs(n_samples=200, random_state=0)
    >>> clf = SSRClassifier(max_epochs=10, random_state=0).fit(X, y)
    >>> clf.predict(X).shape
    (200,)
    """

    _counts_late_visits = True
    _parameter_constraints = {
        **OneStageClassifier._parameter_constraints,
        "relabel_threshold": [Interval(Real, 0, 1, closed="both")],
        "select_threshold": [Interval(Real, 0, 1, closed="both")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "n_references": [Interval(Integral, 1, None, closed="left"), None],
        "augment": AUGMENT_CONSTRAINT,
    }

    def __init__(
        self,
        module=None,
        *,
        relabel_threshold=0.9,
        select_threshold=1.0,
        n_neighbors=200,
        n_references=10_000,
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

    def _policy(self, trainer: Trainer, request: FitRequest) -> SelectByNeighbors:
        names = "relabel_threshold select_threshold n_neighbors n_references"
        return SelectByNeighbors(
            trainer.labels,
            partial(represented, trainer),
            losses_of(trainer),
            NeighborDivision(*(getattr(self, name) for name in names.split())),
            Mixup(augment_of(self.augment, request.input_shape)),
        )

    def _begin(self, trainer: Trainer, policy: Policy) -> None:
        assert isinstance(policy, SelectByNeighbors)
        policy.divide()

    def _report(
        self, trainer: Trainer, visits: MeanProbabilities, policy: Policy
    ) -> LabelFindings:
        assert isinstance(policy, SelectByNeighbors)
        return report_labels(
            trainer,
            visits,
            is_safe=selected_or_predicted(trainer, policy.selected),
            corrected=policy.learned_labels,
        )

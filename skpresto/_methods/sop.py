"""SOP: label noise as a sparse, over-parameterized term of every sample."""

from collections.abc import Callable
from numbers import Real

import torch
from torch import Tensor, nn

from skpresto._data.batch import Batch
from skpresto._methods._one_stage import OneStageClassifier, losses_of
from skpresto._sklearn import Interval
from skpresto._training.policy import Policy, Selection
from skpresto._training.request import FitRequest
from skpresto._training.trainer import Trainer

#: Standard deviation of u and v at first. Steps multiply them, so that they stay small
#: where nothing makes them grow again and again.
_INITIAL = 1e-8
#: Smallest probability that is left after the noise is added.
_LEAST = 1e-4


class SparseOverparameterization(Policy):
    """Learn the noise of each label beside the network.

    The noise of a sample is ``u ** 2`` at its given label and ``-v ** 2`` at the other
    classes, both limited to 1. It is added to the predicted probabilities before the
    loss, so that a wrong label can be explained by it. u and v take steps of gradient
    descent on that loss and on the squared distance between the label and the predicted
    class plus noise.

    Parameters
    ----------
    n_samples, n_classes : int
        Size of the training set.
    lr_u, lr_v : float
        Learning rates of u and v.
    losses_of : callable
        Maps logits and class numbers to one loss per sample.
    device : str or torch.device, default="cpu"
        Where u and v are stored.

    Attributes
    ----------
    u : Tensor of shape (n_samples, 1)
        Noise at the given label, before it is squared.
    v : Tensor of shape (n_samples, n_classes)
        Noise at the other classes, before it is squared.
    """

    may_select_nothing = False
    _state = ("u", "v")

    def __init__(
        self,
        n_samples: int,
        n_classes: int,
        lr_u: float,
        lr_v: float,
        losses_of: Callable[[Tensor, Tensor], Tensor],
        device: str = "cpu",
    ) -> None:
        self.lr_u = lr_u
        self.lr_v = lr_v
        self.losses_of = losses_of
        # On the CPU, to be the same on all devices, and from a generator of their own,
        # so that networks begin with the weights that they have in other methods.
        generator = torch.Generator().manual_seed(torch.initial_seed() % (1 << 63))
        shapes = (n_samples, 1), (n_samples, n_classes)
        drawn = [torch.randn(shape, generator=generator) for shape in shapes]
        self.u, self.v = [_INITIAL * noise.to(device) for noise in drawn]

    def select(self, batch: Batch) -> Selection:
        """Return all samples, with the loss of their probabilities plus noise."""
        p = torch.softmax(batch.logits[0].float(), dim=1)
        is_given = nn.functional.one_hot(batch.labels, p.shape[1]).to(p.dtype)
        u = self.u.index_select(0, batch.index)
        v = self.v.index_select(0, batch.index)
        at_given = u.square().clamp_(max=1) * is_given
        at_others = v.square().clamp_(max=1) * (1 - is_given)
        noise = at_given - at_others
        slope_u, slope_v = _slopes(p, is_given, at_given, at_others)
        step = 2 / len(p)  # of the mean; twice u is the slope of its square
        u_next = u - self.lr_u * step * u * slope_u * (u.square() <= 1)
        v_next = v - self.lr_v * step * v * slope_v * (v.square() <= 1)
        self.u.index_copy_(0, batch.index, u_next)
        self.v.index_copy_(0, batch.index, v_next)

        def objective(logits: Tensor, losses: Tensor) -> Tensor:
            p = torch.softmax(logits.float(), dim=2)
            explained = (p + noise).clamp(min=_LEAST)
            logarithm = explained.log() - explained.sum(dim=2, keepdim=True).log()
            return self.losses_of(logarithm, batch.labels).view(losses.shape)

        return Selection(objective=objective)


def _slopes(
    p: Tensor, is_given: Tensor, at_given: Tensor, at_others: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the derivatives by the squares of u, (b, 1), and of v, (b, n_classes).

    Of the two terms of the loss, that of v is only in the second.
    """
    total = p + at_given - at_others
    explained = total.clamp(min=_LEAST)
    by_noise = 1 / explained.sum(dim=1, keepdim=True) - 1 / explained
    by_noise = by_noise * (total >= _LEAST)
    predicted = nn.functional.one_hot(p.argmax(dim=1), p.shape[1])
    distance = predicted + at_given - at_others - is_given
    slope_u = ((by_noise + 2 * distance) * is_given).sum(dim=1, keepdim=True)
    return slope_u, -2 * distance * (1 - is_given)


class SOPClassifier(OneStageClassifier):
    """Learn beside the network which part of each label is noise.

    Sparse over-parameterization [1]_ gives each sample variables of its own for the
    noise in its label, which is added to the predicted probabilities in the loss. They
    begin at nearly zero, and grow only if the label is contradicted by the prediction
    at visit after visit; a wrong label is then explained by its noise and no longer has
    to be memorized. It needs no noise rate. This is SOP alone: SOP+ of the paper adds
    two terms that compare strongly augmented images. The cost is one fit; a number per
    sample and class is stored.

    Parameters
    ----------
    module : nn.Module class or instance, default=None
        The network, as in :class:`~skpresto.PrestoppingClassifier`.
    lr_u, lr_v : float, default=10.0
        Learning rates of the noise at the given label, and at the other classes. The
        paper uses 10 and 10 for 10 classes; 1 and 10 for 100, and 1 and 100 there if
        the noise is asymmetric. With 0, training is plain.
    q : int, default=10
        Number of latest predictions stored per sample. It does not affect training,
        only what is recorded.
    class_weight, criterion, optimizer, lr, max_epochs, batch_size, device
    callbacks, n_jobs, random_state, verbose, **net_params
        How the network is trained, as in :class:`~skpresto.PrestoppingClassifier`.
        ``criterion`` gets the logarithms of the probabilities with noise as logits.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, input_shape_, net_, n_epochs_
        As in :class:`~skpresto.PrestoppingClassifier`.
    history_ : list of EpochRecord
        One record per epoch; can be passed to ``pandas.DataFrame``. ``train_loss`` is
        that of probabilities with noise.
    safe_mask_ : ndarray of shape (n_samples,), dtype=bool
        Whether the given label is the majority prediction in the end.
    label_quality_ : ndarray of shape (n_samples,)
        As in :class:`~skpresto.PrestoppingClassifier`, from the visits of all epochs.
    label_agreement_, suggested_labels_, label_findings_
        As in :class:`~skpresto.PrestoppingClassifier`.
    noise_rate_ : float
        Fraction of samples outside the safe set.

    See Also
    --------
    ELRClassifier : Keep predictions where early learning has put them.

    Notes
    -----
    With predicted probabilities p, the given label y as a vector of 0 and 1,
    ``U = min(u ** 2, 1) * y`` and ``V = min(v ** 2, 1) * (1 - y)``, the loss is the
    criterion of ``max(p + U - V, 0.0001)``, normalized. u and v take steps of gradient
    descent on the mean of that and of the squared distance between y and
    ``predicted class + U - V``; v on the second term alone. In the paper, u is in the
    first term alone; the authors' release, which is followed here, has it in both.
    Sample weights do not enter the steps of u and v.

    References
    ----------
    .. [1] S. Liu, Z. Zhu, Q. Qu, C. You, "Robust training under label noise by
       over-parameterization", ICML 2022.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from skpresto.baselines import SOPClassifier
    >>> X, y = make_blobs(n_samples=200, random_state=0)
    >>> clf = SOPClassifier(max_epochs=10, random_state=0).fit(X, y)
    >>> clf.predict(X).shape
    (200,)
    """

    _counts_late_visits = True
    _parameter_constraints = {
        **OneStageClassifier._parameter_constraints,
        "lr_u": [Interval(Real, 0, None, closed="left")],
        "lr_v": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        module=None,
        *,
        lr_u=10.0,
        lr_v=10.0,
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
        return SparseOverparameterization(
            len(trainer.labels),
            trainer.data.n_classes,
            self.lr_u,
            self.lr_v,
            losses_of(trainer),
            trainer.net.device,
        )

"""Decouple: two networks that learn where they disagree."""

import torch
from torch import Tensor, nn

from skpresto._data.batch import Batch
from skpresto._methods._epochs import EPOCHS_CONSTRAINT, n_epochs_of
from skpresto._methods._one_stage import OneStageClassifier
from skpresto._training.policy import Policy, RunningFraction, Selection
from skpresto._training.request import FitRequest
from skpresto._training.trainer import Trainer

#: The loss is divided by at least this fraction of the batch.
_SMALLEST_FRACTION = 0.1


class UpdateOnDisagreement(Policy):
    """Train both networks on the samples for which they predict different classes.

    The sum of their losses is divided by their number, or by a tenth of the batch if
    that is more: with few samples, steps become smaller.

    Parameters
    ----------
    warm_up : int
        Number of epochs in which all samples are learned.
    """

    def __init__(self, warm_up: int) -> None:
        self.warm_up = warm_up
        self._disagreed = RunningFraction()

    def select(self, batch: Batch) -> Selection:
        """Return the samples on which the networks disagree."""
        predicted = batch.logits.argmax(dim=2)
        disagree = predicted[0] != predicted[1]
        self._disagreed.add(disagree)
        if batch.epoch < self.warm_up:
            return Selection()
        # The step divides by the number of samples.
        n_samples, n_disagree = len(disagree), disagree.sum()
        scale = (n_disagree / (_SMALLEST_FRACTION * n_samples)).clamp(max=1)

        def objective(logits: Tensor, losses: Tensor) -> Tensor:
            return losses * scale.to(losses.dtype)

        weights = disagree.to(batch.losses.dtype).expand(2, -1)
        return Selection(weights=weights, objective=objective)

    def end_epoch(self) -> dict[str, float]:
        """Return the fraction of samples on which the networks disagreed."""
        return {"disagreement_fraction": self._disagreed.take()}


class DecoupleClassifier(OneStageClassifier):
    """Train two networks on the samples for which they predict different classes.

    Decoupling [1]_ separates "when to update" from "how to update": two networks are
    trained side by side, but only on samples on which they disagree. The fewer of them
    there are, the smaller are the steps, so that networks stop to learn before they
    memorize every label. It needs no noise rate. Samples on which networks
    disagree have wrong labels no less often than others, so that it slows memorization
    down rather than preventing it. The cost is two fits.

    Parameters
    ----------
    module : nn.Module class or instance, default=None
        The network, as in :class:`~skpresto.CoTeachingClassifier`; two are built.
    warm_up : int or float, default=0.1
        Epochs of plain training at the start, as a number or as a fraction of
        ``max_epochs``. The official release has none by default, but then both networks
        now and then come to predict the same class for every sample in their first
        steps, and never learn again.
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
        One record per epoch, with the fraction of samples on which the networks
        disagreed; can be passed to ``pandas.DataFrame``.
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
    skpresto.CoTeachingPlusClassifier : Small losses among samples of disagreement.

    Notes
    -----
    The loss of a batch of b samples is the sum over the m samples of disagreement,
    divided by ``max(0.1 * b, m)``. Without any, nothing is changed. Predicted
    probabilities are the mean of both networks.

    References
    ----------
    .. [1] E. Malach, S. Shalev-Shwartz, "Decoupling 'when to update' from 'how to
       update'", NeurIPS 2017.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from skpresto.baselines import DecoupleClassifier
    >>> X, y = make_blobs(n_samples=200, random_state=0)
    >>> clf = DecoupleClassifier(max_epochs=10, random_state=0).fit(X, y)
    >>> clf.predict(X).shape
    (200,)
    """

    _n_networks = 2
    _parameter_constraints = {
        **OneStageClassifier._parameter_constraints,
        "warm_up": EPOCHS_CONSTRAINT,
    }

    def __init__(
        self,
        module=None,
        *,
        warm_up=0.1,
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
        return UpdateOnDisagreement(n_epochs_of(self, "warm_up"))

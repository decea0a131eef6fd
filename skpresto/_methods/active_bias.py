"""Active Bias: weight samples by the variance of their predictions."""

from numbers import Real
from typing import Any

import torch
from torch import Tensor, nn

from skpresto._data.batch import Batch
from skpresto._methods._epochs import EPOCHS_CONSTRAINT, n_epochs_of
from skpresto._methods._one_stage import OneStageClassifier
from skpresto._sklearn import Interval
from skpresto._training.policy import Policy, Selection
from skpresto._training.request import FitRequest
from skpresto._training.trainer import Trainer


class EmphasizeUncertain(Policy):
    """Weight a sample by how much the probability of its given label has varied.

    Mean and variance over all visits are computed by Welford's online algorithm, so
    three numbers per sample are stored.

    Parameters
    ----------
    n_samples : int
        Number of training samples.
    smoothness : float
        Added to every weight.
    warm_up : int
        Number of epochs with equal weights.
    device : str or torch.device, default="cpu"
        Where the statistics are stored.
    """

    may_select_nothing = False
    _state = ("_n_visits", "_mean", "_squares")
    #: Weights in the present epoch, from the visits before it.
    _weights: Tensor | None = None

    def __init__(
        self, n_samples: int, smoothness: float, warm_up: int, device: str = "cpu"
    ) -> None:
        self.smoothness = smoothness
        self.warm_up = warm_up
        self._n_visits = torch.zeros(n_samples, device=device)
        self._mean = torch.zeros(n_samples, device=device)
        self._squares = torch.zeros(n_samples, device=device)
        self._visits: list[tuple[Tensor, Tensor]] = []

    def select(self, batch: Batch) -> Selection:
        """Return all samples, weighted by their visits in earlier epochs."""
        probabilities = torch.softmax(batch.logits[0], dim=1)
        given = probabilities.gather(1, batch.labels.unsqueeze(1)).squeeze(1).float()
        self._visits.append((batch.index, given))
        if batch.epoch < self.warm_up:
            return Selection()
        if self._weights is None:  # once for all samples, which takes less time
            self._weights = self._weights_of_all()
        weights = self._weights.index_select(0, batch.index)
        return Selection(weights=weights.to(batch.losses.dtype).unsqueeze(0))

    def end_epoch(self) -> dict[str, Any]:
        """Add the visits of the epoch."""
        visits, self._visits, self._weights = self._visits, [], None
        index, given = (torch.cat(parts) for parts in zip(*visits, strict=True))
        n_most = torch.bincount(index).amax()
        if n_most > 1:  # a sampler of the user may draw a sample several times
            for one in visits:
                self._record(*one)
        else:
            self._record(index, given)
        return {}

    def _weights_of_all(self) -> Tensor:
        n_visits = self._n_visits
        variance = self._squares / n_visits.clamp(min=1)
        # The second term is the variance of the variance estimate. With fewer than two
        # visits the variance is zero, and the weight is the smoothness alone.
        spread = (variance + variance**2 / (n_visits - 1).clamp(min=1)).sqrt()
        return spread + self.smoothness

    def _record(self, index: Tensor, given: Tensor) -> None:
        n_visits = self._n_visits[index] + 1
        mean = self._mean[index]
        new_mean = mean + (given - mean) / n_visits
        self._squares[index] += (given - mean) * (given - new_mean)
        self._mean[index] = new_mean
        self._n_visits[index] = n_visits


class ActiveBiasClassifier(OneStageClassifier):
    """Give more weight to samples whose predicted probability varies over epochs.

    Active Bias [1]_ weights the loss of each sample by the spread, over the epochs, of
    the predicted probability of its given label. Samples that are always predicted
    correctly, or always incorrectly, get less weight. It needs no noise rate. It
    weights samples and excludes none, so it helps little against label noise that the
    network predicts with confidence. The cost is one fit.

    Parameters
    ----------
    module : nn.Module class or instance, default=None
        The network, as in :class:`PrestoppingClassifier`.
    q : int, default=10
        Number of latest predictions stored per sample. It does not affect training,
        only what is recorded.
    warm_up : int or float, default=0.25
        Epochs with equal weights at the start, as a number or as a fraction of
        ``max_epochs``. The Prestopping paper uses 25 epochs of about 100.
    smoothness : float, default=0.2
        Added to every weight, so that no sample is ignored. Larger values make the
        weights more similar. The default is that of the re-implementation by the
        authors of Prestopping.
    class_weight, criterion, optimizer, lr, max_epochs, batch_size, device
    callbacks, n_jobs, random_state, verbose, **net_params
        How the network is trained, as in :class:`PrestoppingClassifier`.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, input_shape_, net_, n_epochs_
        As in :class:`PrestoppingClassifier`.
    history_ : list of EpochRecord
        One record per epoch, with the name of its stage; can be passed to
        ``pandas.DataFrame``.
    safe_mask_ : ndarray of shape (n_samples,), dtype=bool
        Whether the given label is the majority prediction.
    label_quality_ : ndarray of shape (n_samples,)
        As in :class:`PrestoppingClassifier`, from the visits of the first half of the
        epochs: later ones predict wrong labels that are memorized.
    label_agreement_, suggested_labels_, label_findings_
        As in :class:`PrestoppingClassifier`.
    noise_rate_ : float
        Fraction of samples outside the safe set.

    See Also
    --------
    PrestoppingClassifier : Select samples instead of weighting them.

    Notes
    -----
    With n visits and a population variance v of the probabilities of the given label,
    the weight of a sample is ``sqrt(v + v**2 / (n - 1)) + smoothness``, divided by
    the mean weight of the batch. The current visit is not included.

    References
    ----------
    .. [1] H.-S. Chang, E. Learned-Miller, A. McCallum, "Active Bias: training more
       accurate neural networks by emphasizing high variance samples", NeurIPS 2017.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from skpresto import ActiveBiasClassifier
    >>> X, y = make_blobs(n_samples=200, random_state=0)
    >>> clf = ActiveBiasClassifier(max_epochs=10, random_state=0).fit(X, y)
    >>> clf.predict(X).shape
    (200,)
    """

    _parameter_constraints = {
        **OneStageClassifier._parameter_constraints,
        "warm_up": EPOCHS_CONSTRAINT,
        "smoothness": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        module=None,
        *,
        q=10,
        warm_up=0.25,
        smoothness=0.2,
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
        warm_up = n_epochs_of(self, "warm_up")
        n_samples = len(trainer.labels)
        return EmphasizeUncertain(
            n_samples, self.smoothness, warm_up, trainer.net.device
        )

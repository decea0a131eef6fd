"""SELFIE: small-loss selection, and correction of consistently predicted labels."""

from numbers import Integral, Real

import numpy as np
import torch
from torch import Tensor, nn

from skpresto._classifier.base import BaseNoisyLabelClassifier
from skpresto._classifier.outcome import Outcome
from skpresto._data.batch import Batch
from skpresto._methods._epochs import (
    EPOCHS_CONSTRAINT,
    n_epochs_of,
    warn_if_nothing_is_corrected,
)
from skpresto._methods._noise_rate import (
    NOISE_RATE_CONSTRAINT,
    given_or_estimated_noise_rate,
)
from skpresto._methods._refurbishment import Refurbisher
from skpresto._methods._report import early_visits, report_labels
from skpresto._methods._small_loss import is_small_loss
from skpresto._sklearn import Interval
from skpresto._training.policy import CorrectingPolicy, Selection
from skpresto._training.request import FitRequest
from skpresto._training.stage import Stage
from skpresto._training.trainer import Trainer


class RefurbishAndSelect(CorrectingPolicy):
    """SELFIE: learn from corrected samples, and from small losses among the others.

    Attributes
    ----------
    selected : Tensor of shape (n_samples,), dtype=bool
        Whether the sample was learned with its given label at its last visit.
    """

    selected: Tensor
    noise_rate: float
    _state = ("refurbisher", "selected")

    def __init__(
        self, refurbisher: Refurbisher, noise_rate: float, warm_up: int
    ) -> None:
        super().__init__()
        self.refurbisher = refurbisher
        self.noise_rate = noise_rate
        self.warm_up = warm_up
        self.selected = torch.ones_like(refurbisher.corrected, dtype=torch.bool)

    def select(self, batch: Batch) -> Selection:
        """Return all in the warm-up, later corrected samples and small losses."""
        if batch.epoch < self.warm_up:
            return Selection()
        corrected = self.refurbisher.labels_of_batch(batch)
        is_corrected = corrected >= 0
        n_clean = int(np.ceil((1 - self.noise_rate) * len(corrected) - 1e-9))
        is_clean = is_small_loss(batch.losses, n_clean)[0]
        labels = torch.where(is_corrected, corrected, batch.labels)
        weights = (is_clean | is_corrected).to(batch.losses.dtype).unsqueeze(0)
        is_given = labels == batch.labels
        self.count_corrected(is_corrected & ~is_given)
        self.selected.index_copy_(0, batch.index, (weights[0] > 0) & is_given)
        return Selection(weights=weights, targets=labels)


class SelfieClassifier(BaseNoisyLabelClassifier):
    """Train on samples with small losses and on samples with corrected labels.

    SELFIE [1]_ warms up on all labels; then, in each batch, it corrects
    ("refurbishes") the labels of samples for which the network has consistently
    predicted the same class, and adds the samples with small losses among the others.
    Training is then repeated with new networks, keeping the corrected labels. The cost
    is ``restarts + 1`` fits, and one more if the noise rate is estimated.

    Parameters
    ----------
    module : nn.Module class or instance, default=None
        The network, as in :class:`PrestoppingClassifier`.
    noise_rate : float in [0, 1), default=None
        Fraction of wrong labels. ``None`` estimates it: one network is first trained
        as in :class:`PrestoppingClassifier`, with the same parameters, and the fraction
        of samples outside its safe set is used. That takes about one more fit, and the
        estimate is too high where many correct labels are too hard to learn; pass the
        rate if you know it.
    q : int, default=15
        Number of latest predictions that must agree before a label is corrected.
    epsilon : float in [0, 1], default=0.05
        Largest uncertainty (entropy of the last q predictions, divided by its maximum)
        at which a label is corrected. With the default and up to about a hundred
        classes, all q predictions must be the same.
    warm_up : int or float, default=0.25
        Epochs of plain training at the start of each run, as a number or as a fraction
        of ``max_epochs``; 25 of 100 in the paper. Labels of samples with fewer than
        ``q`` predictions are not corrected.
    restarts : int, default=2
        Further runs of ``max_epochs`` each with a new network; corrected labels are
        kept.
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
        Whether the sample was trained on with its given label in the last epoch.
    label_quality_ : ndarray of shape (n_samples,)
        As in :class:`PrestoppingClassifier`, from the visits of the first half of the
        epochs: later ones predict wrong labels that are memorized.
    label_agreement_, suggested_labels_, label_findings_
        As in :class:`PrestoppingClassifier`.
    noise_rate_ : float
        The noise rate used: as given, or estimated.
    corrected_labels_ : ndarray of shape (n_samples,)
        The corrected label where there is one, the given one elsewhere.
    corrected_mask_ : ndarray of shape (n_samples,), dtype=bool
        Where the two differ.

    See Also
    --------
    PrestoppingPlusClassifier : Correct labels outside a safe set.

    Notes
    -----
    A refurbished sample is trained on with its corrected label even if its loss is
    small. ``ceil((1 - noise_rate) * b)`` small losses of a batch of b are selected.

    References
    ----------
    .. [1] H. Song, M. Kim, J.-G. Lee, "SELFIE: refurbishing unclean samples for robust
       deep learning", ICML 2019.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from skpresto import SelfieClassifier
    >>> X, y = make_blobs(n_samples=200, random_state=0)
    >>> clf = SelfieClassifier(noise_rate=0.1, q=4, restarts=0, max_epochs=10)
    >>> clf = clf.set_params(random_state=0).fit(X, y)
    >>> clf.predict(X).shape
    (200,)
    """

    _parameter_constraints = {
        **BaseNoisyLabelClassifier._parameter_constraints,
        "noise_rate": NOISE_RATE_CONSTRAINT,
        "epsilon": [Interval(Real, 0, 1, closed="both")],
        "warm_up": EPOCHS_CONSTRAINT,
        "restarts": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        module=None,
        *,
        noise_rate=None,
        q=15,
        epsilon=0.05,
        warm_up=0.25,
        restarts=2,
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
        warm_up = n_epochs_of(self, "warm_up")
        warn_if_nothing_is_corrected(self)
        noise_rate = given_or_estimated_noise_rate(self, trainer)
        refurbisher = Refurbisher(trainer.history, trainer.labels, self.epsilon)
        for number in range(self.restarts + 1):
            visits = early_visits(trainer, self.max_epochs)
            policy = RefurbishAndSelect(refurbisher, noise_rate, warm_up)
            name = f"restart {number}" if number else "train"
            trainer.start()
            trainer.run(Stage(name, policy, self.max_epochs, recorders=[visits]))
        findings = report_labels(
            trainer,
            visits,
            is_safe=policy.selected,
            corrected=refurbisher.corrected_or(trainer.labels),
            noise_rate=noise_rate,
        )
        return Outcome(findings)

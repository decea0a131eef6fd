"""SELFIE: small-loss selection, and correction of consistently predicted labels."""

from numbers import Integral, Real

import numpy as np
import torch
from torch import nn

from skpresto._classifier.base import BaseNoisyLabelClassifier
from skpresto._label_quality.findings import LabelFindings
from skpresto._methods._epochs import (
    EPOCHS_CONSTRAINT,
    n_epochs_of,
    warn_if_nothing_is_corrected,
)
from skpresto._methods._noise_rate import (
    NOISE_RATE_CONSTRAINT,
    given_or_estimated_noise_rate,
)
from skpresto._methods._report import early_visits, report_labels
from skpresto._selection.refurbishment import RefurbishAndSelect, Refurbisher
from skpresto._sklearn import Interval
from skpresto._training.trainer import Trainer


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
        self.noise_rate = noise_rate
        self.epsilon = epsilon
        self.warm_up = warm_up
        self.restarts = restarts
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

    def _train(self, trainer: Trainer, rng: np.random.RandomState) -> LabelFindings:
        warm_up = n_epochs_of(self, "warm_up")
        warn_if_nothing_is_corrected(self)
        noise_rate = given_or_estimated_noise_rate(self, trainer, rng)
        refurbisher = Refurbisher(trainer.history, trainer.labels, self.epsilon)
        for run in range(self.restarts + 1):
            visits = early_visits(trainer, self.max_epochs)
            policy = RefurbishAndSelect(refurbisher, noise_rate, warm_up)
            stage = f"restart {run}" if run else "train"
            trainer.start()
            trainer.run(policy, self.max_epochs, stage=stage, observe=visits.add)
        return report_labels(
            trainer,
            visits,
            is_safe=policy.is_trusted,
            corrected=refurbisher.corrected_or(trainer.labels),
            noise_rate=noise_rate,
        )

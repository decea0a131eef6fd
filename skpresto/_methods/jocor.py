"""JoCoR: joint training of two networks with co-regularization."""

from numbers import Real

import numpy as np
import torch
from torch import nn

from skpresto._classifier.base import BaseNoisyLabelClassifier
from skpresto._label_quality.findings import LabelFindings
from skpresto._methods._epochs import EPOCHS_CONSTRAINT, as_epochs
from skpresto._methods._noise_rate import (
    NOISE_RATE_CONSTRAINT,
    given_or_estimated_noise_rate,
)
from skpresto._methods._report import early_visits, report_labels
from skpresto._selection.joint_agreement import JointSmallLoss
from skpresto._sklearn import Interval
from skpresto._training.trainer import Trainer


class JoCoRClassifier(BaseNoisyLabelClassifier):
    """Train two networks that agree, on the samples with a small joint loss.

    JoCoR [1]_ trains two networks with one loss: the cross-entropy of both, and the
    divergence of their predictions. As in Co-teaching, samples with a large loss are
    left out of each batch, here the same ones for both networks: a wrong label
    is where two networks tend to disagree. The cost is two fits, and one more if the
    noise rate is estimated.

    Parameters
    ----------
    module : nn.Module class or instance, default=None
        The network, as in :class:`~skpresto.CoTeachingClassifier`; two are built.
    noise_rate : float in [0, 1), default=None
        Fraction of wrong labels. ``None`` estimates it as in
        :class:`~skpresto.CoTeachingClassifier`.
    ramp_epochs : int or float, default=10
        Epochs until the full noise rate is left out of a batch, T_k in the paper, as
        a number or as a fraction of ``max_epochs``.
    co_regularization : float in [0, 1], default=0.5
        Weight of the divergence, lambda in the paper; the losses have the weight
        ``1 - co_regularization``. The paper uses 0.9 for CIFAR-10 and 0.85 for
        CIFAR-100, in trainings of 200 epochs; in shorter ones of smaller data, networks
        learn too little with it, with SGD as well as with Adam.
    q : int, default=10
        Number of latest predictions stored per sample. It does not affect training if
        ``noise_rate`` is given; the estimate of the noise rate depends on it.
    class_weight, criterion, optimizer, lr, max_epochs, batch_size, device
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
        Whether the sample was selected in the last epoch.
    label_quality_ : ndarray of shape (n_samples,)
        As in :class:`~skpresto.CoTeachingClassifier`.
    label_agreement_, suggested_labels_, label_findings_
        As in :class:`~skpresto.PrestoppingClassifier`.
    noise_rate_ : float
        The noise rate used: as given, or estimated.

    See Also
    --------
    skpresto.CoTeachingClassifier : Each network selects for the other one.

    Notes
    -----
    The loss of a sample is ``(1 - w) * (l1 + l2) + w * (KL(p1, p2) + KL(p2, p1))``
    with the losses l and the probabilities p of both networks and
    ``w = co_regularization``. Of a batch of b samples, ``floor((1 - rate) * b)`` are
    kept, at least one. The official release leaves out half of the given rate if noise
    is asymmetric; here the rate is used as it is. Predicted probabilities are the mean
    of both networks.

    References
    ----------
    .. [1] H. Wei, L. Feng, X. Chen, B. An, "Combating noisy labels by agreement: a
       joint training method with co-regularization", CVPR 2020.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from skpresto.baselines import JoCoRClassifier
    >>> X, y = make_blobs(n_samples=200, random_state=0)
    >>> clf = JoCoRClassifier(noise_rate=0.1, ramp_epochs=4, max_epochs=10)
    >>> clf = clf.set_params(random_state=0).fit(X, y)
    >>> clf.predict(X).shape
    (200,)
    """

    _parameter_constraints = {
        **BaseNoisyLabelClassifier._parameter_constraints,
        "noise_rate": NOISE_RATE_CONSTRAINT,
        "ramp_epochs": EPOCHS_CONSTRAINT,
        "co_regularization": [Interval(Real, 0, 1, closed="both")],
    }

    def __init__(
        self,
        module=None,
        *,
        noise_rate=None,
        ramp_epochs=10,
        co_regularization=0.5,
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
        self.noise_rate = noise_rate
        self.ramp_epochs = ramp_epochs
        self.co_regularization = co_regularization
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
        noise_rate = given_or_estimated_noise_rate(self, trainer, rng)
        policy = JointSmallLoss(
            len(trainer.labels),
            noise_rate,
            as_epochs(self.ramp_epochs, self.max_epochs),
            self.co_regularization,
            self.device,
        )
        visits = early_visits(trainer, self.max_epochs)
        trainer.start(n_networks=2, must_differ=True)
        trainer.run(policy, self.max_epochs, stage="train", observe=visits.add)
        return report_labels(
            trainer, visits, is_safe=policy.is_selected, noise_rate=noise_rate
        )

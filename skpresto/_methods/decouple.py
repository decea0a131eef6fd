"""Decouple: two networks that learn where they disagree."""

import numpy as np
import torch
from torch import nn

from skpresto._classifier.base import BaseNoisyLabelClassifier
from skpresto._label_quality.findings import LabelFindings
from skpresto._methods._epochs import EPOCHS_CONSTRAINT, n_epochs_of
from skpresto._methods._report import early_visits, report_labels
from skpresto._selection.disagreement import UpdateOnDisagreement
from skpresto._training.trainer import Trainer


class DecoupleClassifier(BaseNoisyLabelClassifier):
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

    _parameter_constraints = {
        **BaseNoisyLabelClassifier._parameter_constraints,
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
        self.warm_up = warm_up
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
        policy = UpdateOnDisagreement(n_epochs_of(self, "warm_up"))
        visits = early_visits(trainer, self.max_epochs)
        trainer.start(n_networks=2, must_differ=True)
        trainer.run(policy, self.max_epochs, stage="train", observe=visits.add)
        return report_labels(trainer, visits)

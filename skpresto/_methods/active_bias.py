"""Active Bias: weight samples by the variance of their predictions."""

from numbers import Real

import numpy as np
import torch
from torch import nn

from skpresto._classifier.base import BaseNoisyLabelClassifier
from skpresto._label_quality.findings import LabelFindings
from skpresto._methods._epochs import EPOCHS_CONSTRAINT, n_epochs_of
from skpresto._methods._report import early_visits, report_labels
from skpresto._selection.uncertainty import EmphasizeUncertain
from skpresto._sklearn import Interval
from skpresto._training.trainer import Trainer


class ActiveBiasClassifier(BaseNoisyLabelClassifier):
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
        **BaseNoisyLabelClassifier._parameter_constraints,
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
        self.warm_up = warm_up
        self.smoothness = smoothness
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
        policy = EmphasizeUncertain(
            len(trainer.labels), self.smoothness, warm_up, self.device
        )
        visits = early_visits(trainer, self.max_epochs)
        trainer.start()
        trainer.run(policy, self.max_epochs, stage="train", observe=visits.add)
        return report_labels(trainer, visits)

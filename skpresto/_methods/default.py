"""Plain training: the baseline of every comparison."""

import torch
from torch import nn

from skpresto._methods._one_stage import OneStageClassifier
from skpresto._training.policy import LearnFromAll, Policy
from skpresto._training.request import FitRequest
from skpresto._training.trainer import Trainer


class DefaultClassifier(OneStageClassifier):
    """Train on all labels as given, without any treatment of label noise.

    The paper's "Default": the same network and training parameters as the other
    classifiers. Use it as the baseline that shows what a method gains, and to observe
    how a network memorizes wrong labels. The cost is one fit.

    Parameters
    ----------
    module : nn.Module class or instance, default=None
        The network, as in :class:`PrestoppingClassifier`.
    q : int, default=10
        Number of latest predictions stored per sample. It does not affect training,
        only what is recorded.
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
        Whether the given label is the majority prediction in the end. Wrong labels are
        memorized too, so this is not a reliable selection.
    label_quality_ : ndarray of shape (n_samples,)
        As in :class:`PrestoppingClassifier`, from the visits of the first half of the
        epochs: later ones predict wrong labels that are memorized.
    label_agreement_, suggested_labels_, label_findings_
        As in :class:`PrestoppingClassifier`.
    noise_rate_ : float
        Fraction of the labels that are not memorized.

    See Also
    --------
    PrestoppingClassifier : Stop before wrong labels are memorized.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from skpresto import DefaultClassifier
    >>> X, y = make_blobs(n_samples=200, random_state=0)
    >>> clf = DefaultClassifier(max_epochs=5, random_state=0).fit(X, y)
    >>> clf.predict(X).shape
    (200,)
    """

    def __init__(
        self,
        module=None,
        *,
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
        return LearnFromAll()

"""ELR: early-learning regularization."""

from numbers import Real

import torch
from torch import Tensor, nn

from skpresto._data.batch import Batch
from skpresto._methods._one_stage import OneStageClassifier
from skpresto._sklearn import Interval
from skpresto._training.policy import Policy, Selection
from skpresto._training.request import FitRequest
from skpresto._training.trainer import Trainer

#: Smallest and largest probability that enters the targets.
_LOW, _HIGH = 1e-4, 1 - 1e-4


class EarlyLearningRegularization(Policy):
    """Add a term to the loss that is low where predictions equal their running mean.

    At each visit, the target t of a sample moves towards its predicted probabilities,
    ``t = beta * t + (1 - beta) * p``, and ``regularization * log(1 - <t, p>)`` is added
    to its loss. Its gradient increases with the agreement of prediction and target:
    it counteracts that of a wrong label that is not memorized yet.

    Parameters
    ----------
    n_samples, n_classes : int
        Size of the training set.
    regularization : float
        Weight of the term, lambda in the paper.
    beta : float in [0, 1)
        Weight of earlier predictions in the target.
    device : str or torch.device, default="cpu"
        Where the targets are stored.

    Attributes
    ----------
    targets : Tensor of shape (n_samples, n_classes)
        Running mean of the probabilities; zero before the first visit.
    """

    may_select_nothing = False
    _state = ("targets",)

    def __init__(
        self,
        n_samples: int,
        n_classes: int,
        regularization: float,
        beta: float,
        device: str = "cpu",
    ) -> None:
        self.regularization = regularization
        self.beta = beta
        self.targets = torch.zeros((n_samples, n_classes), device=device)

    def select(self, batch: Batch) -> Selection:
        """Return all samples, with the regularized loss."""
        p = torch.softmax(batch.logits[0].float(), dim=1).clamp_(_LOW, _HIGH)
        p /= p.sum(dim=1, keepdim=True)
        before = self.targets.index_select(0, batch.index)
        target = self.beta * before + (1 - self.beta) * p
        self.targets.index_copy_(0, batch.index, target)

        def objective(logits: Tensor, losses: Tensor) -> Tensor:
            p = torch.softmax(logits.float(), dim=2)
            agreement = (target * p).sum(dim=2)
            # Targets are below 1, so that the logarithm is finite.
            return losses + self.regularization * torch.log1p(-agreement)

        return Selection(objective=objective)


class ELRClassifier(OneStageClassifier):
    """Regularize a network so that it keeps what it learned early.

    Early-learning regularization [1]_ stores a running mean of the probabilities that
    were predicted for each sample, and adds a term to the loss that is low where the
    prediction agrees with it. Once the network has learned the correct labels, the
    gradient of that term outweighs that of wrong labels, so that they are not
    memorized. It needs no noise rate. It costs accuracy where labels are correct but
    hard to learn, and on clean data. The cost is one fit; a number per sample and class
    is stored.

    Parameters
    ----------
    module : nn.Module class or instance, default=None
        The network, as in :class:`~skpresto.PrestoppingClassifier`.
    regularization : float, default=3.0
        Weight of the regularizer, lambda in the paper, which uses 3 for 10 classes and
        7 for 100. With 0, training is plain.
    beta : float in [0, 1), default=0.7
        Weight of earlier predictions in the running mean. The paper uses 0.7 for 10
        classes and 0.9 for 100.
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
        One record per epoch; can be passed to ``pandas.DataFrame``. ``train_loss``
        includes the regularizer and can be negative.
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
    skpresto.PrestoppingClassifier : Stop before wrong labels are memorized.

    Notes
    -----
    With predicted probabilities p, limited to 0.0001 to 0.9999 and normalized, the
    target is ``t = beta * t + (1 - beta) * p`` and the loss is ``criterion +
    regularization * log(1 - <t, p>)``, where no gradient flows through t.

    References
    ----------
    .. [1] S. Liu, J. Niles-Weed, N. Razavian, C. Fernandez-Granda, "Early-learning
       regularization prevents memorization of noisy labels", NeurIPS 2020.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from skpresto.baselines import ELRClassifier
    >>> X, y = make_blobs(n_samples=200, random_state=0)
    >>> clf = ELRClassifier(max_epochs=10, random_state=0).fit(X, y)
    >>> clf.predict(X).shape
    (200,)
    """

    _counts_late_visits = True
    _parameter_constraints = {
        **OneStageClassifier._parameter_constraints,
        "regularization": [Interval(Real, 0, None, closed="left")],
        "beta": [Interval(Real, 0, 1, closed="left")],
    }

    def __init__(
        self,
        module=None,
        *,
        regularization=3.0,
        beta=0.7,
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
        return EarlyLearningRegularization(
            len(trainer.labels),
            trainer.data.n_classes,
            self.regularization,
            self.beta,
            trainer.net.device,
        )

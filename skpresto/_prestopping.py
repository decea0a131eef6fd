"""Prestopping: stop before wrong labels are memorized, then go on safely."""

from typing import Any

import numpy as np
import torch
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from torch import nn

from skpresto._base import BaseNoisyLabelClassifier
from skpresto._training.trainer import Trainer
from skpresto._training.two_phases import run_phase_one, run_phase_two
from skpresto._warn import warn_caller
from skpresto.exceptions import SafeSetWarning
from skpresto.stopping import AgreementStop, StopRule, ValidationStop

# What it means that training was not stopped.
_PLAIN_TRAINING = (
    "no epoch is left for phase II, so the network is that of plain training, which is "
    "right if the labels are clean"
)


class PrestoppingClassifier(BaseNoisyLabelClassifier):
    """Stop before wrong labels are memorized, then learn from the safe set only.

    A network learns the correct labels of a noisy training set first and memorizes
    the wrong ones later [1]_. Phase I trains on everything and stops in between, at
    the epoch chosen by ``stop``. Phase II goes back to that epoch, with the
    optimizer, the schedule and everything else as they were, and trains on the
    *maximal safe set* only: the samples whose given label is what the network has
    predicted most often in their last ``q`` visits. Neither clean data nor a noise
    rate is needed.

    Parameters
    ----------
    module : nn.Module class or instance, default=None
        The network; it must return one logit a class. A class is built in ``fit`` and
        is passed the size of the data if its constructor asks for it by name:
        ``n_features`` (or ``n_features_in``, ``in_features``), ``input_shape``,
        ``n_classes`` (or ``n_outputs``, ``out_features``). An instance is copied, and
        its present weights are where training starts. ``None`` builds
        :class:`~skpresto.modules.MLP` for tables and
        :class:`~skpresto.modules.SmallCNN` for images.
    q : int, default=10
        Number of latest predictions remembered for each sample. A longer history
        makes the safe set steadier and slower to grow.
    stop : StopRule, default=None
        Chooses the end of phase I. ``None`` means
        :class:`~skpresto.stopping.ValidationStop` if ``fit`` is given ``X_val``, and
        :class:`~skpresto.stopping.AgreementStop` otherwise.
    criterion : class or instance, default=torch.nn.CrossEntropyLoss
        Loss on logits and class numbers. It must be able to return one loss a sample
        (``reduction='none'``, which is set here).
    optimizer : torch.optim.Optimizer class, default=torch.optim.SGD
        Anything but LBFGS. SGD gets a momentum of 0.9 unless
        ``optimizer__momentum`` says otherwise.
    lr : float, default=0.1
        Learning rate. It is divided by 5 after 50 % and after 75 % of ``max_epochs``,
        unless ``callbacks`` contain an ``LRScheduler`` of your own.
    max_epochs : int, default=60
        Number of epochs that the final network has behind it.
    batch_size : int, default=128
        Samples in a mini-batch.
    device : str, default="cpu"
        Where to train, such as ``"cuda"``.
    callbacks : list of skorch callbacks, default=None
        They are copied, and hear of every epoch and batch as in skorch.
    n_jobs : int, default=None
        CPU threads for torch. ``None`` means 1, which is fastest for small networks
        and gives the same results in every worker process; -1 means all, which pays
        for convolutional networks.
    random_state : int, RandomState instance or None, default=None
        Seeds the network, the batches and any rows held out, and nothing outside.
    verbose : int, default=0
        0 is silent, 1 shows a progress bar, 2 prints a line an epoch.
    **net_params : dict
        Parameters of the parts of the net by skorch's prefixes: ``module__*``,
        ``optimizer__*``, ``criterion__*``, ``iterator_train__*``,
        ``iterator_valid__*``, ``callbacks__*``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_features_in_ : int
        Number of columns (or channels) seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if ``X`` had any.
    input_shape_ : tuple of int
        Shape of one sample.
    net_ : skorch.NeuralNet
        The trained net; ``net_.module_`` is the network.
    n_epochs_ : int
        Epochs that the network has behind it.
    history_ : list of EpochRecord
        One record an epoch and phase; goes straight into a ``DataFrame``.
    safe_mask_ : ndarray of shape (n_samples,), dtype=bool
        Whether the label of each training sample is trusted: member of the safe set at
        the end of phase II.
    label_agreement_ : ndarray of shape (n_samples,)
        Share of the last ``q`` predictions of each sample that equal its given label.
    suggested_labels_ : ndarray of shape (n_samples,)
        Class predicted most often in the last ``q`` visits.
    noise_rate_ : float
        Estimated share of wrong labels: the share of samples outside the safe set.
    stop_epoch_ : int
        Number of epochs of phase I whose result was kept.
    stop_rule_ : StopRule
        The rule that was used.

    See Also
    --------
    DefaultClassifier : The same training without the defence.
    skpresto.stopping : Rules for the end of phase I.

    Notes
    -----
    A batch without safe samples changes nothing: neither the weights nor the
    momentum nor BatchNorm's statistics. A tie in the vote goes to the class predicted
    last.

    References
    ----------
    .. [1] H. Song, M. Kim, D. Park, J.-G. Lee, "How does early stopping help
       generalization against label noise?", arXiv:1911.08059, 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> from skpresto import PrestoppingClassifier
    >>> X, y = make_classification(n_samples=600, class_sep=2.0, random_state=0)
    >>> is_wrong = np.random.RandomState(0).uniform(size=600) < 0.3
    >>> y_noisy = np.where(is_wrong, 1 - y, y)
    >>> clf = PrestoppingClassifier(random_state=0).fit(X, y_noisy)

    The safe set is cleaner than the data it was taken from:

    >>> bool(is_wrong[clf.safe_mask_].mean() < 0.5 * is_wrong.mean())
    True
    """

    _parameter_constraints = {
        **BaseNoisyLabelClassifier._parameter_constraints,
        "stop": [StopRule, None],
    }

    def __init__(
        self,
        module=None,
        *,
        q=10,
        stop=None,
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
        self.stop = stop
        super().__init__(
            module,
            q=q,
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

    def _check_served(self, given: dict[str, Any]) -> None:
        is_told_nothing = given["X_val"] is None
        default = self._rule_told_nothing() if is_told_nothing else ValidationStop()
        rule = default if self.stop is None else clone(self.stop)
        rule._validate_params()
        missing = sorted(name for name in rule.needs if given[name] is None)
        if missing:
            raise ValueError(
                f"{type(self).__name__} with stop={rule} needs {' and '.join(missing)} "
                "to choose the stop point, but fit() was called without. Pass "
                f"fit(X, y, {', '.join(f'{name}=...' for name in missing)}), or choose "
                "a rule that needs no further data, such as AgreementStop()."
            )
        self.stop_rule_ = rule

    def _rule_told_nothing(self) -> StopRule:
        """Return the rule for those who name none and have no validation data."""
        return AgreementStop()

    def _train(self, trainer: Trainer, rng: np.random.RandomState) -> Any:
        if not self._find_stop_point(trainer, rng):
            self._warn_unsettled()
        run_phase_two(trainer, self.max_epochs)

    def _find_stop_point(self, trainer: Trainer, rng: np.random.RandomState) -> bool:
        """Go through phase I; return whether the rule was settled in time."""
        self.stop_epoch_, is_settled = run_phase_one(
            trainer, self.stop_rule_, self.max_epochs, rng
        )
        return is_settled

    def _warn_unsettled(self, without_stop_point: str = _PLAIN_TRAINING) -> None:
        used = f"the best stop point so far, epoch {self.stop_epoch_}, is used"
        if self.stop_epoch_ == self.max_epochs:
            used = without_stop_point
        warn_caller(
            f"{type(self).__name__}: max_epochs={self.max_epochs} ended before "
            f"{self.stop_rule_} was settled; {used}. Raise max_epochs, or choose a "
            "rule that settles earlier.",
            ConvergenceWarning,
        )

    def _publish(self, trainer: Trainer, outcome: Any) -> None:
        super()._publish(trainer, outcome)
        kept = np.unique(trainer.data.labels.numpy()[self.safe_mask_])
        lost = np.delete(self.classes_, kept).tolist()
        if lost:
            warn_caller(
                f"{type(self).__name__}: no sample of class {str(lost)[1:-1]} is in "
                "the safe set, so predictions may leave it out. Give these classes "
                "more samples, or stop later (another stop rule, or more max_epochs).",
                SafeSetWarning,
            )

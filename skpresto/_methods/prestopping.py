"""Prestopping: stop before wrong labels are memorized, then train on the safe set."""

from typing import Any

import torch
from sklearn.base import clone
from torch import nn

from skpresto._classifier.base import BaseNoisyLabelClassifier
from skpresto._classifier.outcome import Outcome
from skpresto._classifier.warnings import warn_of_lost_classes, warn_unless_settled
from skpresto._methods._report import early_visits, report_labels
from skpresto._methods._two_phases import run_two_phases
from skpresto._training.request import FitRequest
from skpresto._training.trainer import Trainer
from skpresto.stopping import AgreementStop, StopRule, ValidationStop


class PrestoppingClassifier(BaseNoisyLabelClassifier):
    """Stop before wrong labels are memorized, then train on the safe set only.

    A network learns the correct labels of a noisy training set first and memorizes
    the wrong ones later [1]_. Phase I trains on all labels and stops in between, at
    the epoch chosen by ``stop``. Phase II continues from the state at that epoch,
    optimizer and schedule included, and trains on the *maximal safe set* only: samples
    whose given label is the majority prediction over their last ``q`` visits. Neither
    clean labels nor a noise rate are needed. The cost is one to two fits.

    Parameters
    ----------
    module : nn.Module class or instance, default=None
        The network; it must return one logit per class. A class is instantiated in
        ``fit``, and the size of the data is passed to it if its constructor has a
        parameter of that name: ``n_features`` (or ``n_features_in``, ``in_features``),
        ``input_shape``, ``n_classes`` (or ``num_classes``, ``num_labels``,
        ``n_outputs``, ``n_out``, ``output_dim``, ``out_features``). An instance is
        copied, and training starts from its weights; parameters with
        ``requires_grad=False`` are not trained. It may be lazy, and in half or double
        precision: inputs are cast to its type, losses are computed in float32. ``None``
        builds :class:`~skpresto.modules.MLP` for tables and
        :class:`~skpresto.modules.SmallCNN` for images.
    q : int, default=10
        Number of latest predictions stored per sample. With a longer history the safe
        set changes more slowly.
    stop : StopRule, default=None
        Chooses the end of phase I. ``None`` means
        :class:`~skpresto.stopping.ValidationStop` if ``fit`` is given ``X_val``, and
        :class:`~skpresto.stopping.AgreementStop` otherwise.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, by which ``sample_weight`` of ``fit`` is multiplied: of
        a sample with its *given* label. ``"balanced"`` gives all classes the same total
        weight, which is recommended if a class is rare; a dict maps classes to weights,
        1 for those it does not name. See ``sample_weight`` of :meth:`fit` for what is
        weighted.
    criterion : class or instance, default=torch.nn.CrossEntropyLoss
        Loss on logits and class numbers. It must be able to return one loss per sample
        (``reduction='none'``, which is set automatically).
    optimizer : torch.optim.Optimizer class, default=torch.optim.SGD
        Any except LBFGS. SGD has a momentum of 0.9 unless ``optimizer__momentum`` is
        set.
    lr : float, default=0.1
        Learning rate. It is divided by 5 after 50 % and after 75 % of ``max_epochs``,
        unless ``callbacks`` contain an ``LRScheduler``.
    max_epochs : int, default=60
        Number of epochs of the final network.
    batch_size : int, default=128
        Samples per mini-batch.
    device : str, default="cpu"
        Where to train and predict, such as ``"cuda"``, ``"cuda:1"`` or ``"mps"``, or
        ``"auto"``: a GPU if there is one, else Apple's chip, else the CPU.
        ``set_params(device=...)`` moves a fitted classifier.
    callbacks : list of skorch callbacks, default=None
        Used as given, not copied, as in skorch: a second fit calls ``initialize()`` on
        the same objects again, and whatever else they store is kept. They see every
        epoch of every stage, those that are undone included; ``net.stage_`` is the
        name of the stage, and ``net.history`` has one row per epoch and never shrinks.
        ``clone``, and with it ``GridSearchCV``, copies them. Callbacks of scikit-learn
        (1.9 or later) are set with :meth:`set_callbacks`.
    n_jobs : int, default=None
        Threads for networks that are trained side by side (those of folds, pairs and
        ensembles) and for predictions, with the same results for every number; -1
        means all cores, ``None`` means 1. Networks with :class:`torch.nn.Dropout` are
        trained one after the other, since they draw from one generator: use
        :class:`~skpresto.modules.FastDropout`. A single network is trained in one
        thread, unless its convolutions are large: torch then uses as many in each
        operation, which is faster if the cores are idle, and changes the last bits.
    random_state : int, RandomState instance or None, default=None
        Seeds the initial weights, the batches and held-out rows. Random states outside
        are not changed.
    verbose : int, default=0
        0 shows nothing, 1 a progress bar, 2 one line per epoch.
    **net_params : dict
        Parameters of the parts of the net by skorch's prefixes: ``module__*``,
        ``optimizer__*``, ``criterion__*``, ``iterator_train__*``,
        ``iterator_valid__*``, ``callbacks__*``. ``compile=True`` compiles the networks
        with ``torch.compile``, to which ``compile__*`` are passed.
        ``autocast="bfloat16"`` computes forward passes in reduced precision, and
        images in channels-last order, which takes about half of the time for
        convolutional networks on processors that support it; ``"float16"`` is for
        CUDA. Weights, losses and recorded probabilities stay in float32.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_features_in_ : int
        Number of columns (or channels) seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if ``X`` had any.
    input_shape_ : tuple of int
        Shape of one sample.
    net_ : skorch.NeuralNet
        The trained net; ``net_.module_`` is the network.
    n_epochs_ : int
        Number of epochs that the final network was trained for.
    history_ : list of EpochRecord
        One record per epoch, with the name of its stage: "phase 1", "phase 2". Can be
        passed to ``pandas.DataFrame``.
    safe_mask_ : ndarray of shape (n_samples,), dtype=bool
        The safe set at the end of phase II: whether the given label is the majority
        prediction.
    label_quality_ : ndarray of shape (n_samples,)
        Continuous score in [0, 1], higher for labels that are more likely correct: the
        posterior probability of the given label, by Bayes' rule from the mean predicted
        probabilities over the visits of phase II and the label noise counted with them
        (phase I, first half of the epochs, if no epoch was left for phase II). Use it
        to rank labels; it is not calibrated.
    label_agreement_ : ndarray of shape (n_samples,)
        Fraction of the last ``q`` predictions that equal the given label.
    suggested_labels_ : ndarray of shape (n_samples,)
        Majority prediction over the last ``q`` visits.
    noise_rate_ : float
        Estimated fraction of wrong labels: the fraction of samples outside the safe
        set.
    label_findings_ : LabelFindings
        The above, per sample, as one object.
    stop_epoch_ : int
        Number of epochs of phase I that were kept.
    stop_rule_ : StopRule
        The rule that was used.

    See Also
    --------
    DefaultClassifier : The same training without treatment of label noise.
    CrossPrestoppingClassifier : Several networks, more accurate and slower.
    skpresto.stopping : Rules for the end of phase I.

    Notes
    -----
    A batch without safe samples changes nothing: neither the weights nor the
    momentum nor the statistics of BatchNorm. Ties in the vote go to the class predicted
    last. Label quality takes four bytes per sample and class of memory during ``fit``
    up to 2**27 values (512 MB); beyond that it is the mean probability of the given
    label, which takes eight bytes per sample.

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

    >>> bool(is_wrong[clf.safe_mask_].mean() < 0.6 * is_wrong.mean())
    True
    """

    #: The rule that ``stop=None`` means, unless there are validation data.
    _default_stop: StopRule = AgreementStop()
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

    def _check_request(self, given: dict[str, Any]) -> StopRule | None:
        has_validation_data = given["X_val"] is not None
        default = ValidationStop() if has_validation_data else self._default_stop
        rule = clone(default if self.stop is None else self.stop)
        rule._validate_params()
        missing = sorted(name for name in rule.needs if given[name] is None)
        if missing:
            raise ValueError(
                f"{type(self).__name__} with stop={rule} needs {' and '.join(missing)} "
                "to choose the stop point, but fit() was called without. Pass "
                f"fit(X, y, {', '.join(f'{name}=...' for name in missing)}), or choose "
                "a rule that needs no further data, such as AgreementStop()."
            )
        return rule

    def _train(self, trainer: Trainer, request: FitRequest) -> Outcome:
        assert request.rule is not None
        visits = early_visits(trainer, self.max_epochs)
        trainer.start()
        stop = run_two_phases(trainer, request.rule, self.max_epochs, visits)
        warn_unless_settled(self, request.rule, stop)
        findings = report_labels(trainer, visits)
        warn_of_lost_classes(self, request, findings.is_safe)
        return Outcome(findings, {"stop_epoch_": stop.epoch})

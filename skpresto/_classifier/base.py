"""What all classifiers share: check, build the net, train, publish, predict."""

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from skpresto._classifier.callback_support import CallbackSupportMixin
from skpresto._classifier.check import check_fit, checked_device
from skpresto._classifier.inputs import check_rows
from skpresto._classifier.outcome import Outcome, outcome_of_interrupt
from skpresto._classifier.params import NetParamsMixin
from skpresto._classifier.spec import build_net
from skpresto._classifier.warnings import warn_of_small_safe_set
from skpresto._data.training_data import PredictionRows
from skpresto._label_quality.findings import fingerprint_of
from skpresto._networks.forward import MISSING, require_predictions
from skpresto._sklearn import Interval, StrOptions, _fit_context
from skpresto._training.context import FitContext, current_context
from skpresto._training.listeners import FitTasks, Listener, Progress
from skpresto._training.request import FitRequest
from skpresto._training.torch_state import fit_turn, predict_threads
from skpresto._training.trainer import Trainer
from skpresto.stopping import StopRule


class BaseNoisyLabelClassifier(
    CallbackSupportMixin, NetParamsMixin, ClassifierMixin, BaseEstimator, ABC
):
    """Own a skorch net, and train it as the method's ``_train`` describes.

    A subclass has a constructor with every parameter in its signature, which stores
    them by ``self._store(locals())``.
    """

    _parameter_constraints: dict = {
        "lr": [Interval(Real, 0, None, closed="neither")],
        "max_epochs": [Interval(Integral, 1, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "q": [Interval(Integral, 1, None, closed="left")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "n_jobs": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Integral, None, -1, closed="right"),
            None,
        ],
        "random_state": ["random_state"],
        "verbose": [Interval(Integral, 0, None, closed="left"), "boolean"],
    }

    @abstractmethod
    def _train(self, trainer: Trainer, request: FitRequest) -> Outcome:
        """Run the stages of the method; return what they found out."""

    def _check_request(self, given: dict[str, Any]) -> StopRule | None:
        """Return the stop rule; raise if the method lacks an argument of ``fit``.

        Parameters
        ----------
        given : dict
            ``X_val``, ``y_val`` and ``y_true``; None where ``fit`` was called without.
        """
        return None

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X, y=None, sample_weight=None, *, X_val=None, y_val=None, y_true=None
    ):
        """Train on labels of which some may be wrong.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), array-like \
of shape (n_samples, channels, height, width), dict or tuple of arrays, or torch Dataset
            Training samples. Arrays of type float32 are used without a copy, others
            are converted, so integers beyond 2**24 lose their last digits (scale them
            first). A memory map is read batch by batch, and rows of a sparse matrix are
            made dense batch by batch. A map-style ``Dataset`` is read item by item, in
            worker processes if ``iterator_train__num_workers`` is set; samples of
            different length need ``iterator_train__collate_fn`` and
            ``iterator_valid__collate_fn``. A dict or tuple has the inputs of a module
            with several of them; integers in it stay integers.
        y : array-like of shape (n_samples,)
            Given labels: strings, integers or booleans. May be omitted for a
            ``Dataset`` whose items are tuples of features and label.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of at least 0; only their ratios matter. They multiply the weights
            that the method gives to samples, and those of ``class_weight``. Weighted
            are the mean loss of each batch, which is divided by the total weight of
            the batch, and the errors and fractions of ``history_`` that stop rules
            compare. Numbers of samples, such as that of small losses to select, are
            not weighted. Samples of weight 0 are neither trained on nor held out: the
            network is that of a fit without them. Their labels are assessed all the
            same, by predictions after training.
        X_val, y_val : array-like, default=None
            Samples with correct labels, for rules such as
            :class:`~skpresto.stopping.ValidationStop` and for callbacks that score
            validation data; not trained on.
        y_true : array-like of shape (n_samples,), default=None
            True labels of the training samples, for research: used only for
            :class:`~skpresto.stopping.OracleStop` and to record memorization
            precision and recall.

        Returns
        -------
        self : estimator instance
            The fitted classifier.
        """
        return self._checked_fit(
            X, y, sample_weight, X_val=X_val, y_val=y_val, y_true=y_true
        )

    def _checked_fit(self, X: Any, y: Any, sample_weight: Any, **given: Any) -> Self:
        """Check the arguments of ``fit`` and train."""
        tasks = []
        if getattr(self, "_skl_callbacks", None):
            metadata = {} if sample_weight is None else {"sample_weight": sample_weight}
            tasks = [FitTasks(self, X=X, y=y, metadata=metadata)]
        # A copy is fitted: a fit that fails leaves this estimator unchanged, and it can
        # predict in another thread until the new fit is complete.
        context, fitting = current_context(), copy.copy(self)
        for name in self._fitted():
            delattr(fitting, name)
        # Gradients are needed, whatever the surroundings have turned off.
        with torch.inference_mode(False), torch.enable_grad(), context.team.fitting():
            rank = context.team.local_rank
            request = check_fit(fitting, X, y, sample_weight, rank=rank, **given)
            with fitting._training(request, context, tasks) as trainer:
                try:
                    outcome = fitting._train(trainer, request)
                except KeyboardInterrupt:
                    if not trainer.use_interrupted():
                        raise
                    outcome = outcome_of_interrupt(self, trainer)
            fitting._publish(request, trainer, outcome)
        outdated = self._fitted().keys() - vars(fitting).keys()
        self.__dict__.update(vars(fitting))
        for name in outdated:
            delattr(self, name)
        for task in tasks:
            task.end_fit()
        return self

    def set_params(self, **params: Any) -> "BaseNoisyLabelClassifier":
        """Set parameters of this estimator, of contained objects or of its net.

        Parameters
        ----------
        **params : dict
            Names mapped to values; those with a prefix, such as ``module__*``, go to
            the part of the net they name. ``device`` moves the networks of a fitted
            classifier; all others have an effect in the next ``fit``.

        Returns
        -------
        self : estimator instance
            This estimator.
        """
        if "device" in params and "net_" in vars(self):
            device = checked_device(self, params["device"])
            self.net_.move_to(device, is_auto=params["device"] == "auto")
        return super().set_params(**params)

    def _fitted(self) -> dict[str, Any]:
        """Return the fitted attributes."""
        params = self._further_params()
        return {
            name: value
            for name, value in vars(self).items()
            if name.endswith("_") and name not in params
        }

    @contextmanager
    def _training(
        self, request: FitRequest, context: FitContext, tasks: list[FitTasks]
    ) -> Iterator[Trainer]:
        """Yield the Trainer of what the checks have found, and end its training."""
        rng = check_random_state(self.random_state)
        journal, seed = context.team.begin_fit(self, request, rng, context.folder)
        listeners: list[Listener] = [*tasks]
        shown: AbstractContextManager = nullcontext()
        if self.verbose and context.team.is_first:
            shown = progress = Progress(int(self.verbose), self.max_epochs)
            listeners.append(progress)
        # A sample has a visit per epoch. A history that is longer by more than one is
        # never full either, and the cost of votes grows with its length.
        length = min(int(self.q), int(self.max_epochs) + 1)
        with fit_turn(seed, request.device, request.input_shape), shown:
            if request.device.type != "cpu":
                request.data.keep_on(request.device)
            trainer = Trainer(
                *build_net(self, request.data, request.device),
                request.data,
                length,
                rng=np.random.RandomState(seed),
                context=context,
                journal=journal,
                listeners=listeners,
            )
            for task in tasks:
                task.tell_state(self._fitted_state(request, trainer.net))
            yield trainer
            trainer.finish()

    def _fitted_state(self, request: FitRequest, net: Any) -> dict[str, Any]:
        """Return the fitted attributes that predictions need."""
        return {
            **self._fitted(),  # those that scikit-learn's validation has set
            "classes_": request.classes,
            "input_shape_": request.input_shape,
            "net_": net,
        }

    def _publish(self, request: FitRequest, trainer: Trainer, outcome: Outcome) -> None:
        """Set the fitted attributes."""
        self.__dict__.update(self._fitted_state(request, trainer.net))
        fingerprint = fingerprint_of(request.data.labels.numpy())
        findings = replace(
            outcome.findings.decoded(request.classes), fingerprint=fingerprint
        )
        self.n_epochs_ = trainer.n_epochs
        self.history_ = trainer.records
        self.is_interrupted_ = outcome.is_interrupted
        self.label_findings_ = findings
        self.safe_mask_ = findings.is_safe
        self.label_quality_ = findings.quality
        self.label_agreement_ = findings.agreement
        self.suggested_labels_ = findings.suggested
        self.noise_rate_ = findings.noise_rate
        if findings.corrected is not None:
            self.corrected_labels_ = findings.corrected
            self.corrected_mask_ = findings.is_corrected
        if findings.transition_matrix is not None:
            self.transition_matrix_ = findings.transition_matrix
        self.__dict__.update(outcome.further)
        if request.rule is not None:
            self.__dict__.setdefault("stop_rule_", request.rule)
        warn_of_small_safe_set(self, self.safe_mask_)

    def predict_proba(self, X):
        """Predict the probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or as in ``fit``
            Samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes), dtype=float32
            One column per class, in the order of ``classes_``.

        Notes
        -----
        The probabilities of a row do not depend on the other rows: the same bits result
        in any order, one row at a time, and for any ``iterator_valid__batch_size``,
        unless ``iterator_valid__collate_fn`` makes the batches.
        Calls from several threads run at the same time, also during a fit.
        """
        check_is_fitted(self)
        with predict_threads(self.n_jobs):
            rows = check_rows(self, X, self.input_shape_)
            probabilities = self.net_.predict_proba(PredictionRows(rows))
        require_predictions(torch.from_numpy(probabilities).isnan().any(dim=1))
        return probabilities

    def predict(self, X):
        """Predict the class of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or as in ``fit``
            Samples.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Predicted labels, of the type of the labels given to ``fit``.
        """
        check_is_fitted(self)
        with predict_threads(self.n_jobs):
            rows = check_rows(self, X, self.input_shape_)
            predicted = self.net_.predicted_classes(PredictionRows(rows))
        require_predictions(predicted == MISSING)
        return self.classes_[predicted.cpu().numpy()]

    def __sklearn_tags__(self):
        """Return what scikit-learn needs to know about the classifier."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

"""What all classifiers share: validate, encode, seed, build the net, predict."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from threading import RLock
from typing import Any

import joblib
import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from skpresto._build_net import build_net
from skpresto._inputs import check_rows, check_training_data
from skpresto._net_params import NetParamsMixin
from skpresto._sklearn import Interval, _fit_context
from skpresto._training.batching import PredictionRows
from skpresto._training.progress import Progress
from skpresto._training.trainer import Trainer, TrainingData


class BaseNoisyLabelClassifier(NetParamsMixin, ClassifierMixin, BaseEstimator, ABC):
    """Own a skorch net, and train it the way the method's ``_train`` says."""

    _parameter_constraints: dict = {
        "lr": [Interval(Real, 0, None, closed="neither")],
        "max_epochs": [Interval(Integral, 1, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "q": [Interval(Integral, 1, None, closed="left")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": [Interval(Integral, 0, None, closed="left"), "boolean"],
    }

    #: Networks trained side by side.
    _n_networks = 1

    def __init__(
        self,
        module,
        *,
        q,
        criterion,
        optimizer,
        lr,
        max_epochs,
        batch_size,
        device,
        callbacks,
        n_jobs,
        random_state,
        verbose,
        **net_params,
    ):
        self.module = module
        self.q = q
        self.criterion = criterion
        self.optimizer = optimizer
        self.lr = lr
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.device = device
        self.callbacks = callbacks
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self._store_further_params(net_params)

    @abstractmethod
    def _train(self, trainer: Trainer, rng: np.random.RandomState) -> Any:
        """Run the phases of the method; what it returns is given to ``_publish``."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None, *, X_val=None, y_val=None, y_true=None):
        """Train on labels of which some may be wrong.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or \
(n_samples, channels, height, width), or torch Dataset
            Training samples, as float32: an array of that type is used as it is, others
            are converted, so integers beyond 2**24 lose their last digits (scale them
            first). A memory map is read batch by batch, and a map-style ``Dataset``
            item by item, in worker processes if ``iterator_train__num_workers`` says
            so.
        y : array-like of shape (n_samples,)
            Labels as given: strings, integers or booleans. May be left out for a
            ``Dataset`` whose items are tuples of features and label.
        X_val, y_val : array-like, default=None
            Samples with labels to trust, for rules such as
            :class:`~skpresto.stopping.ValidationStop`; not trained on.
        y_true : array-like of shape (n_samples,), default=None
            True labels of the training samples, for research: used only for
            :class:`~skpresto.stopping.OracleStop` and to record memorization
            precision and recall.

        Returns
        -------
        self : estimator instance
            The fitted classifier.
        """
        before = dict(vars(self))
        try:
            return self._fit(X, y, X_val, y_val, y_true)
        except BaseException:
            # Nothing half-fitted may look fitted, and an earlier fit is not lost.
            vars(self).clear()
            vars(self).update(before)
            raise

    def _fit(self, X, y, X_val, y_val, y_true):
        data = check_training_data(self, X, y, X_val, y_val, y_true)
        given = {"X_val": data.X_valid, "y_val": data.valid_labels}
        self._check_served({**given, "y_true": data.is_correct})
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        progress = Progress(int(self.verbose), self.max_epochs)
        rng = np.random.RandomState(seed)
        with _seeded(seed, self.device), _threads(self.n_jobs):
            try:
                self._before_training(data, rng)
                net = build_net(self, data, self._n_networks)
                trainer = Trainer(net, data, self.q, progress)
                outcome = self._train(trainer, rng)
                trainer.visit_the_unvisited()
                trainer.finish()
            finally:
                progress.close()
        self.net_ = trainer.net
        self.n_epochs_ = trainer.n_epochs
        self.history_ = trainer.records
        self._publish(trainer, outcome)
        return self

    def _check_served(self, given: dict[str, Any]) -> None:
        """Raise if the method lacks something that ``fit`` could have been given."""

    def _before_training(self, data: TrainingData, rng: np.random.RandomState) -> None:
        """Find out what the method must know before there is a network."""

    def _publish(self, trainer: Trainer, outcome: Any) -> None:
        """Set what is known of each training label, given what ``_train`` returned."""
        suggested = self._suggested_classes(trainer, outcome).cpu().numpy()
        agreement = self._label_agreement(trainer, outcome)
        self.safe_mask_ = self._safe_mask(trainer, outcome).cpu().numpy()
        self.label_agreement_ = agreement.double().cpu().numpy()
        self.suggested_labels_ = self.classes_[suggested]
        if not hasattr(self, "noise_rate"):  # a method that needs the rate has set it
            self.noise_rate_ = float(1 - self.safe_mask_.mean())

    def _safe_mask(self, trainer: Trainer, outcome: Any) -> Tensor:
        """Return which labels are trusted: by default, those that win the vote."""
        return trainer.label_history.agrees(trainer.labels)

    def _suggested_classes(self, trainer: Trainer, outcome: Any) -> Tensor:
        """Return what each sample may be: by default, what is predicted most often."""
        return trainer.label_history.vote()

    def _label_agreement(self, trainer: Trainer, outcome: Any) -> Tensor:
        """Return how much speaks for each label: by default, the share of the vote."""
        return trainer.label_history.agreement(trainer.labels)

    def predict_proba(self, X):
        """Predict the probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or as in ``fit``
            Samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes), dtype=float32
            One column a class, in the order of ``classes_``.
        """
        check_is_fitted(self)
        rows = check_rows(self, X, reset=False)
        with _threads(self.n_jobs):
            return self.net_.predict_proba(PredictionRows(rows))

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
        rows = check_rows(self, X, reset=False)
        with _threads(self.n_jobs):
            predicted = self.net_.predicted_classes(PredictionRows(rows))
        return self.classes_[predicted.cpu().numpy()]


# torch has one random state and one number of threads for the whole process: fits in
# several threads of it take turns, or they would draw from each other's sequence.
_TURN = RLock()


@contextmanager
def _seeded(seed: int, device: str) -> Iterator[None]:
    """Seed torch inside the block, and leave the caller's random state as it was."""
    on_gpu = torch.device(device).type == "cuda"
    devices = [torch.device(device)] if on_gpu else []
    with _TURN, torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        yield


@contextmanager
def _threads(n_jobs: int | None) -> Iterator[None]:
    """Let torch use a number of threads that does not depend on the surroundings.

    Sums depend in their last bits on how many threads share them, so results would
    otherwise differ between a worker process and the main one.
    """
    n_threads = 1 if n_jobs is None else n_jobs
    if n_threads < 0:
        n_threads = max(1, joblib.cpu_count() + 1 + n_threads)
    with _TURN:
        before = torch.get_num_threads()
        torch.set_num_threads(max(1, n_threads))
        try:
            yield
        finally:
            torch.set_num_threads(before)

"""Methods that train in one stage."""

from abc import abstractmethod
from typing import Any

from skpresto._classifier.base import BaseNoisyLabelClassifier
from skpresto._classifier.outcome import Outcome
from skpresto._label_quality.findings import LabelFindings
from skpresto._label_quality.mean_probabilities import MeanProbabilities
from skpresto._methods._report import early_visits, report_labels
from skpresto._training.policy import Policy
from skpresto._training.request import FitRequest
from skpresto._training.stage import Stage
from skpresto._training.trainer import Trainer


class OneStageClassifier(BaseNoisyLabelClassifier):
    """Train new networks in one stage, on what a policy selects."""

    #: Number of networks trained side by side.
    _n_networks = 1

    @abstractmethod
    def _policy(self, trainer: Trainer, request: FitRequest) -> Policy:
        """Return what decides what is learned; it may train other networks first."""

    def _visits(self, trainer: Trainer) -> MeanProbabilities:
        """Return what collects the predictions that label quality is computed from."""
        return early_visits(trainer, self.max_epochs)

    def _report(
        self, trainer: Trainer, visits: MeanProbabilities, policy: Policy
    ) -> LabelFindings:
        """Return what the training says about the labels."""
        return report_labels(
            trainer, visits, is_safe=policy.selected, noise_rate=policy.noise_rate
        )

    def _further(self, policy: Policy) -> dict[str, Any]:
        """Return further fitted attributes."""
        return {}

    def _train(self, trainer: Trainer, request: FitRequest) -> Outcome:
        policy = self._policy(trainer, request)
        visits = self._visits(trainer)
        trainer.start(self._n_networks, must_differ=self._n_networks > 1)
        trainer.run(Stage("train", policy, self.max_epochs, recorders=[visits]))
        return Outcome(self._report(trainer, visits, policy), self._further(policy))

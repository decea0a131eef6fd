"""The audit as a cleaning module of AQuA (autonlab/aqua).

AQuA asks a cleaning module for the labels with issues: an object that is made with the
base model, and whose ``find_label_issues`` takes a data set with ``data`` and
``labels`` and returns a mask. Copy this file beside the modules of that benchmark, and
name :class:`SkPresto` where it chooses among them.
"""

from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from skpresto.audit import LabelReport
from skpresto.audit._fit import audit_estimator, fit_report, standardized


class SkPresto:
    """Find label issues with the audit, or from out-of-fold predictions of a model.

    Parameters
    ----------
    model : object, default=None
        Base model of AQuA, which is trained anew for each of five folds. None means the
        networks of the audit itself, for data that are arrays of numbers.
    quick : bool, default=False
        As ``skpresto audit --quick``.
    """

    def __init__(self, model: Any = None, quick: bool = False) -> None:
        self.model = model
        self.quick = quick

    def find_label_issues(self, data_aq: Any, **_: Any) -> np.ndarray:
        """Return a mask of the labels that are suspects."""
        data, labels = data_aq.data, np.asarray(data_aq.labels)
        if self.model is not None:
            probability = self._out_of_fold(data, labels)
            classes = np.arange(probability.shape[1])
            report = LabelReport.from_probabilities(probability, labels, classes)
            return report.is_suspect
        X = standardized(np.asarray(data).reshape(len(labels), -1))
        estimator = audit_estimator(len(labels), quick=self.quick)
        return fit_report(estimator, X, labels).is_suspect

    def _out_of_fold(self, data: Any, labels: np.ndarray) -> np.ndarray:
        folds = StratifiedKFold(5, shuffle=True, random_state=0).split(labels, labels)
        model, parts = self.model, []
        for train, test in folds:
            model.reinit_model(model.model_type, model.output_dim)
            model.fit(data[train], labels[train])
            parts.append((test, np.asarray(model.predict_proba(data[test]))))
        probability = np.empty((len(labels), parts[0][1].shape[1]))
        for test, predicted in parts:
            probability[test] = predicted
        return probability

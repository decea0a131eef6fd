"""What a fitted classifier found out about its training labels."""

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from skpresto._inner_estimators import classifier_in
from skpresto._label_quality.findings import fingerprint_of
from skpresto._labels import Codes, encode, label_vector
from skpresto.audit._constants import CROSS_FITTED, IN_SAMPLE, ROUNDS
from skpresto.audit._evidence import Evidence, held_out_evidence, planted_evidence
from skpresto.audit._from_classifier import fields_of_classifier


def fields_of_estimator(estimator: Any, X: Any, y: Any, owner: str) -> dict[str, Any]:
    """Return what a report is made of, from a fitted estimator.

    Parameters
    ----------
    estimator : classifier, Pipeline or search
        Fitted. If its classifier has not assessed labels, clones of it do.
    X : array-like of shape (n_samples, ...)
        The samples it was fitted on.
    y : array-like of shape (n_samples,)
        The labels it was fitted on.
    owner : str
        Name of the function that the user called, for error messages.
    """
    classifier = fitted_classifier(estimator, owner)
    if not hasattr(classifier, "label_findings_"):
        model = getattr(estimator, "best_estimator_", estimator)
        return fields_of_classifier(model, X, y, owner, random_state=0)
    findings = classifier.label_findings_
    given = training_codes(classifier, y, owner)
    classes = classifier.classes_
    return {
        "given": given,
        "suggested": np.searchsorted(classes, findings.suggested),
        "likeliest": findings.likeliest,
        "quality": findings.quality,
        "is_safe": findings.is_safe,
        "classes": classes,
        "evidence": _evidence(classifier),
        "method": type(classifier).__name__,
    }


def _evidence(classifier: Any) -> Evidence:
    """Return what predicts how many labels are wrong."""
    findings = classifier.label_findings_
    if findings.planted is not None:
        constants = ROUNDS if findings.basis == "rounds" else CROSS_FITTED
        return planted_evidence(constants, findings.planted)
    return held_out_evidence(
        IN_SAMPLE,
        n_classes=len(classifier.classes_),
        mean_error=float(1 - findings.quality.mean()),
        rejected_fraction=float(1 - findings.is_safe.mean()),
        disagreement=_held_out_disagreement(classifier),
    )


def _held_out_disagreement(classifier: Any) -> float | None:
    """Return the fraction of given labels that networks did not predict unseen.

    Of out-of-fold predictions or, without them, of rows that were held out to choose
    the stop point, at the best epoch; None if there are none.
    """
    out_of_fold = classifier.label_findings_.disagreement
    if out_of_fold is not None:
        return float(out_of_fold)
    errors = [record.holdout_error for record in classifier.history_]
    return min((error for error in errors if error is not None), default=None)


def fitted_classifier(estimator: Any, owner: str) -> Any:
    """Return the classifier inside pipelines and searches.

    Raises ``NotFittedError`` if it is not fitted, and ``TypeError`` if there is none.
    """
    if not hasattr(estimator, "fit"):
        raise TypeError(f"{owner} needs a fitted classifier, got {estimator!r}.")
    classifier = classifier_in(estimator, owner)
    if not is_classifier(classifier):
        raise TypeError(
            f"{owner} needs a classifier, since a report is about class labels, got "
            f"{type(classifier).__name__}."
        )
    check_is_fitted(classifier)
    return classifier


def training_codes(classifier: Any, y: Any, owner: str) -> Codes:
    """Return class numbers of ``y``, and raise if they are not the training labels."""
    labels = label_vector(y, owner)
    findings, name = classifier.label_findings_, type(classifier).__name__
    if len(labels) != len(findings.quality):
        raise ValueError(
            f"{owner} needs the labels that {name} was fitted on, which are "
            f"{len(findings.quality)}, but y has {len(labels)}."
        )
    codes = encode(labels, classifier.classes_, name, way_out="pass the labels of fit")
    if findings.fingerprint not in (None, fingerprint_of(codes)):
        raise ValueError(
            f"{owner} needs the labels that {name} was fitted on, but y differs from "
            "them in values or order. Pass the y of fit."
        )
    return codes

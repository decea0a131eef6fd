"""scikit-learn's own checks of the classifier around any classifier."""

import pytest
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from skpresto import LabelCleaningClassifier
from tests.discovery import RUNS_ALL

TREES = ExtraTreesClassifier(9, bootstrap=True, oob_score=True)
REASON = "rows that are held out, and folds, are other ones if samples are repeated"
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": REASON,
    "check_sample_weight_equivalence_on_sparse_data": REASON,
}
ESTIMATORS = [
    LabelCleaningClassifier(LogisticRegression(), assessor=TREES, random_state=0),
    LabelCleaningClassifier(
        DecisionTreeClassifier(),
        assessor=DecisionTreeClassifier(min_samples_leaf=2),
        cv=2,
        random_state=0,
    ),
    LabelCleaningClassifier(
        make_pipeline(StandardScaler(), LogisticRegression()),
        assessor=TREES,
        guard=False,
        random_state=0,
    ),
]
if RUNS_ALL:
    ESTIMATORS += [LabelCleaningClassifier(each.estimator) for each in ESTIMATORS]


@pytest.mark.filterwarnings("ignore::skpresto.exceptions.FallbackWarning")
@pytest.mark.filterwarnings("ignore:SCIPY_ARRAY_API is not set")
@parametrize_with_checks(
    ESTIMATORS,
    # With a guard, all are fitted on the labels as they are given.
    expected_failed_checks=lambda each: {} if each.guard else EXPECTED_FAILURES,
)
def test_scikit_learn_check_passes(estimator, check):
    check(estimator)

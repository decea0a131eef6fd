"""Check the numbers of reports on out-of-fold probabilities of other classifiers.

    SKPRESTO_DATA=path/to/folder python benchmarks/audit/other_classifiers.py

The constants of the calibration were fitted to networks of this package. Here they are
used for a random forest and for logistic regression.
"""

import accuracy_scripts  # noqa: F401
import audits
import numpy as np
from audits import Audit
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from skpresto.audit import LabelReport

CLASSIFIERS = {
    "random forest": RandomForestClassifier(100, min_samples_leaf=3, random_state=0),
    "logistic regression": LogisticRegression(C=0.3, max_iter=300),
}
NUMBERS = (50, 100, 200, 500)
#: Large data take these classifiers long.
LEFT_OUT = (*audits.IMPOSSIBLE, "cifar10n_feat")


def main() -> int:
    """Print how often intervals contain the truth."""
    rows = audits.rows_of("default", is_development=True)
    rows = [row for row in rows if row[0] not in LEFT_OUT]
    for name, classifier in CLASSIFIERS.items():
        covered, widths = [], []
        for row in rows:
            split = Audit("any", *row, 0).split
            folds = StratifiedKFold(5, shuffle=True, random_state=0)
            probability = cross_val_predict(
                classifier, split.X, split.y, cv=folds, method="predict_proba"
            )
            report = LabelReport.from_probabilities(probability, split.y)
            order = report.frame["review_rank"].to_numpy().argsort()
            is_wrong = (split.y != split.y_true)[order]
            for n in (*(n for n in NUMBERS if n <= len(order)), len(order)):
                _, low, high = report.expected_errors(n)
                covered.append(low <= is_wrong[:n].sum() <= high)
                widths.append((high - low) / n)
        shown = f"coverage {np.mean(covered):.3f}, mean width {np.mean(widths):.2f}"
        print(f"{name}: {len(rows)} data sets and noises, {shown}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

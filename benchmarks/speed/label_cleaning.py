"""Seconds and memory of audits and of label cleaning without a network, by rows.

A table of 20 columns and 5 classes, of which 30 % are mislabeled (pair noise). Each
measurement is a process of its own, whose largest memory is reported::

    python benchmarks/speed/label_cleaning.py --rows 8000 100000
"""

import argparse
import resource
import subprocess
import sys
import time
import warnings

from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import average_precision_score

from skpresto import LabelCleaningClassifier
from skpresto.audit import LabelReport
from skpresto.noise import PairNoise

N_TEST = 10_000
WHAT = ("data", "audit", "boosting", "cleaned boosting", "CleanLearning of boosting")


def measure(what: str, n_rows: int) -> str:
    """Return a line of a table."""
    X, y = make_classification(
        n_rows + N_TEST, n_informative=10, n_classes=5, class_sep=0.9, random_state=0
    )
    X_test, y_test, X, y = X[:N_TEST], y[:N_TEST], X[N_TEST:], y[N_TEST:]
    given = PairNoise(0.3, random_state=0).fit_transform(y)
    boosting = HistGradientBoostingClassifier(random_state=0)
    started, found = time.process_time(), ""
    if what == "audit":
        report = LabelReport.from_classifier(None, X, given, random_state=0)
        precision = average_precision_score(given != y, -report.quality)
        found = f"average precision {precision:.3f}"
    elif what != "data":
        model = boosting
        if what.startswith("cleaned"):
            model = LabelCleaningClassifier(boosting, random_state=0)
        elif what.startswith("CleanLearning"):
            from cleanlab.classification import CleanLearning

            model = CleanLearning(boosting, cv_n_folds=5, seed=0)
        model.fit(X, given)
    seconds = time.process_time() - started
    if not found and what != "data":
        found = f"test error {100 * (model.predict(X_test) != y_test).mean():.1f} %"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return f"| {n_rows:,} | {what} | {seconds:.0f} | {peak:.0f} | {found} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[8000, 100_000])
    parser.add_argument("--only", nargs="+", choices=WHAT, default=WHAT)
    parser.add_argument("--one", action="store_true", help="in this process")
    arguments = parser.parse_args()
    if arguments.one:
        warnings.simplefilter("ignore")
        print(measure(arguments.only[0], arguments.rows[0]))
        return
    print("| rows | what | CPU seconds | MB at most | found |\n|---|---|---|---|---|")
    for n_rows in arguments.rows:
        for what in arguments.only:
            one = [__file__, "--one", "--rows", str(n_rows), "--only", what]
            subprocess.run([sys.executable, *one], check=True)


if __name__ == "__main__":
    main()

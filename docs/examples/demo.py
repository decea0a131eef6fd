"""Fit on digits of which 40 % carry a wrong label, and compare three classifiers.

Run it with ``make demo``. It prints a table and the labels with the lowest quality, and
writes a figure and a page on which the suspect labels can be reviewed.
"""

import os
import sys
import time
from pathlib import Path

import matplotlib
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from skpresto import (
    CrossPrestoppingClassifier,
    DefaultClassifier,
    PrestoppingClassifier,
)
from skpresto.audit import LabelReport
from skpresto.metrics import memorization_precision, memorization_recall
from skpresto.noise import PairNoise
from skpresto.plots import StopPointDisplay

matplotlib.use("Agg")  # draws to a file, needs no screen

FIGURE = Path("skpresto-demo.png")
REPORT = Path("skpresto-demo.html")


def main():
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(
        X / 16, y, test_size=0.3, random_state=0, stratify=y
    )
    noise = PairNoise(rate=0.4, random_state=0)
    y_noisy = noise.fit_transform(y_train)
    print(
        f"{len(X_train)} training digits, of which {noise.realized_rate_:.0%} are "
        f"labeled as the next digit; {len(X_test)} test digits with correct labels.\n"
    )

    fitted = {}
    print(
        "                            test error    safe-set precision  recall      time"
    )
    for name, clf in {
        "DefaultClassifier": DefaultClassifier(random_state=0),
        "PrestoppingClassifier": PrestoppingClassifier(random_state=0),
        "CrossPrestoppingClassifier": CrossPrestoppingClassifier(random_state=0),
    }.items():
        started = time.perf_counter()
        # y_true is only used for the figure; it is not trained on.
        fitted[name] = clf.fit(X_train, y_noisy, y_true=y_train)
        seconds = time.perf_counter() - started
        precision = memorization_precision(clf.safe_mask_, y_noisy, y_train)
        recall = memorization_recall(clf.safe_mask_, y_noisy, y_train)
        print(
            f"{name:<27} {1 - clf.score(X_test, y_test):>8.1%} {precision:>18.1%} "
            f"{recall:>12.1%} {seconds:>9.1f} s"
        )

    clf = fitted["PrestoppingClassifier"]
    explain_stop(clf)
    list_suspects(fitted["CrossPrestoppingClassifier"], y_noisy, y_train)
    display = StopPointDisplay.from_estimator(clf)
    display.figure_.set_size_inches(9, 4.5)
    display.figure_.savefig(FIGURE, dpi=120)
    print(f"\nFigure of the training: {FIGURE.resolve()}")
    clf = fitted["CrossPrestoppingClassifier"]
    report = LabelReport.from_estimator(clf, X_train, y_noisy)
    report.to_html(REPORT, shown=X_train.reshape(-1, 1, 8, 8))
    print(f"Page to review the suspect labels: {REPORT.resolve()}")
    print(
        f"\nThe same for a file of your own:\n{command()} audit FILE.csv --label COLUMN"
    )
    return 0


def command():
    """Return how skpresto is called from here."""
    program = Path(sys.executable).with_name("skpresto")
    if not program.exists():
        return "python -m skpresto"
    return os.path.relpath(program)


def explain_stop(clf):
    seen = [record for record in clf.history_ if record.stage == "phase 1"]
    lowest = min(record.holdout_error for record in seen)
    memorized = seen[clf.stop_epoch_ - 1].memorized_fraction
    print(
        f"\nPrestoppingClassifier ended phase I at epoch {clf.stop_epoch_} of "
        f"{len(seen)}: {memorized:.0%} of the training labels were the\nmajority "
        f"prediction by then, but the error on held-out noisy rows was never below "
        f"{lowest:.0%},\nso further agreement is memorization. Neither clean labels "
        "nor a noise rate were used.\n"
        f"Its estimate of the noise rate, {clf.noise_rate_:.0%}, is too low: wrong "
        "labels that it had learned by then count as correct."
    )


def list_suspects(clf, y_noisy, y_true):
    lowest_first = np.argsort(clf.label_quality_)
    print(
        "\nThe ten labels with the lowest quality, by out-of-fold predictions of "
        "CrossPrestoppingClassifier:"
    )
    print("   row  given  suggested     quality   true label")
    for row in lowest_first[:10]:
        print(
            f"{row:>6} {y_noisy[row]:>6} {clf.suggested_labels_[row]:>10} "
            f"{clf.label_quality_[row]:>11.1e} {y_true[row]:>12}"
        )
    unsafe = ~clf.safe_mask_
    correct = (clf.suggested_labels_ == y_true)[unsafe].mean()
    print(
        f"{unsafe.sum()} labels are outside the safe set; for {correct:.0%} of them "
        "the suggested label is the true one."
    )


if __name__ == "__main__":
    sys.exit(main())

"""Fit on digits of which 40 % carry a wrong label; show what was gained.

Run it with ``make demo``. It prints a table and the most suspect labels, and writes
one picture.
"""

import sys
import time
from pathlib import Path

import matplotlib
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from skpresto import (
    DefaultClassifier,
    PrestoppingClassifier,
    PrestoppingPlusClassifier,
)
from skpresto.metrics import memorization_precision, memorization_recall
from skpresto.noise import PairNoise
from skpresto.plots import StopPointDisplay

matplotlib.use("Agg")  # draws into a file, needs no screen

PICTURE = Path("skpresto-demo.png")


def main():
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(
        X / 16, y, test_size=0.3, random_state=0, stratify=y
    )
    noise = PairNoise(rate=0.4, random_state=0)
    y_noisy = noise.fit_transform(y_train)
    print(
        f"{len(X_train)} digits to train on, {noise.realized_rate_:.0%} of them "
        f"labelled as the next digit; {len(X_test)} clean digits to test on.\n"
    )

    fitted = {}
    print(
        "                          test error    safe-set precision  recall      time"
    )
    for name, clf in {
        "DefaultClassifier": DefaultClassifier(random_state=0),
        "PrestoppingClassifier": PrestoppingClassifier(random_state=0),
        "PrestoppingPlusClassifier": PrestoppingPlusClassifier(random_state=0),
    }.items():
        started = time.perf_counter()
        # y_true serves the picture only: it is not trained on.
        fitted[name] = clf.fit(X_train, y_noisy, y_true=y_train)
        seconds = time.perf_counter() - started
        precision = memorization_precision(clf.safe_mask_, y_noisy, y_train)
        recall = memorization_recall(clf.safe_mask_, y_noisy, y_train)
        print(
            f"{name:<25} {1 - clf.score(X_test, y_test):>8.1%} {precision:>18.1%} "
            f"{recall:>12.1%} {seconds:>9.1f} s"
        )

    clf = fitted["PrestoppingClassifier"]
    explain_stop(clf)
    list_suspects(fitted["PrestoppingPlusClassifier"], y_noisy, y_train)
    display = StopPointDisplay.from_estimator(clf)
    display.figure_.set_size_inches(9, 4.5)
    display.figure_.savefig(PICTURE, dpi=120)
    print(f"\nThe training as a picture: {PICTURE.resolve()}")
    return 0


def explain_stop(clf):
    seen = [record for record in clf.history_ if record.phase == 1]
    lowest = min(record.holdout_error for record in seen)
    print(
        f"\nPhase I stopped at epoch {clf.stop_epoch_} of {len(seen)} seen: there the "
        f"network's own history agreed with\n"
        f"{seen[clf.stop_epoch_ - 1].memorized_fraction:.0%} of its training labels, "
        f"more than it can know: on held-out noisy rows its error never fell\nbelow "
        f"{lowest:.0%} in any epoch. No clean label and no noise rate was used. "
        f"Estimated noise rate: {clf.noise_rate_:.0%}."
    )


def list_suspects(clf, y_noisy, y_true):
    most_suspect_first = np.argsort(clf.label_agreement_)
    print(
        "\nThe ten most suspect labels of PrestoppingPlusClassifier, whose networks "
        "judge labels that\nthey have not learnt from:"
    )
    print("   row  given  suggested  likely right   in truth")
    for row in most_suspect_first[:10]:
        print(
            f"{row:>6} {y_noisy[row]:>6} {clf.suggested_labels_[row]:>10} "
            f"{clf.label_agreement_[row]:>13.2%} {y_true[row]:>10}"
        )
    unsafe = ~clf.safe_mask_
    right = (clf.suggested_labels_ == y_true)[unsafe].mean()
    print(
        f"{unsafe.sum()} labels are outside the safe set; for {right:.0%} of them the "
        "suggested label is the true one."
    )


if __name__ == "__main__":
    sys.exit(main())

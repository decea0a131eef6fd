"""
A first fit
===========

Four of ten training labels are wrong. Plain training memorizes them;
:class:`~skpresto.PrestoppingClassifier` stops before that happens, and
:class:`~skpresto.CrossPrestoppingClassifier` accepts labels by predictions of networks
that were not trained on them.
"""

# %%
# The data: images of handwritten digits. Forty percent of the training labels are
# replaced by the next digit, a mistake that is hard to detect, since all wrong labels
# of a class agree. The test labels stay correct.

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from skpresto.noise import PairNoise

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X / 16, y, test_size=0.3, stratify=y, random_state=0
)
noise = PairNoise(rate=0.4, random_state=0)
y_noisy = noise.fit_transform(y_train)
print(f"{noise.realized_rate_:.0%} of {len(y_noisy)} training labels are wrong")

# %%
# Three classifiers, fitted as any other of scikit-learn. ``y_true`` is not trained on:
# it is passed here so that the figures can show what was memorized.

from skpresto import (
    CrossPrestoppingClassifier,
    DefaultClassifier,
    PrestoppingClassifier,
)

plain = DefaultClassifier(random_state=0)
one_run = PrestoppingClassifier(random_state=0)
cross_fitted = CrossPrestoppingClassifier(random_state=0)
for clf in (plain, one_run, cross_fitted):
    clf.fit(X_train, y_noisy, y_true=y_train)
    print(f"{type(clf).__name__:<27} test error {1 - clf.score(X_test, y_test):.1%}")

# %%
# What happened: plain training ends with all labels memorized, wrong ones included.
# Prestopping goes back to the epoch at which the memorized labels were mostly correct,
# and continues on the safe set only.

import matplotlib.pyplot as plt

from skpresto.plots import MemorizationDisplay

figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True, layout="constrained")
for ax, clf in zip(axes, (plain, one_run), strict=True):
    MemorizationDisplay.from_estimator(clf, ax=ax)
    ax.set_title(type(clf).__name__)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), fontsize="small")

# %%
# As a by-product, each training label has a quality, low if it is likely wrong, and a
# suggestion. Of the labels with the lowest quality:

import numpy as np

lowest = np.argsort(cross_fitted.label_quality_)[:200]
print(f"really wrong:       {noise.flipped_mask_[lowest].mean():.0%}")
corrected = cross_fitted.suggested_labels_[lowest] == y_train[lowest]
print(f"suggestion correct: {corrected.mean():.0%}")

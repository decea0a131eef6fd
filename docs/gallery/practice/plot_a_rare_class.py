"""
Label noise and a rare class
============================

If one sample in a hundred belongs to a class and a fifth of all labels are wrong, most
labels of that class are wrong. ``class_weight="balanced"`` keeps the class.
"""

# %%
# Five classes, the last one rare. Noise is spread evenly, so the rare class receives
# wrong labels from all others.

import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from skpresto.noise import SymmetricNoise

X, y = make_classification(
    n_samples=12_000,
    n_features=20,
    n_informative=10,
    n_classes=5,
    n_clusters_per_class=1,
    weights=[0.25, 0.25, 0.25, 0.24, 0.01],
    class_sep=1.3,
    flip_y=0,
    random_state=0,
)
X, X_test, y, y_test = train_test_split(
    X, y, train_size=4000, stratify=y, random_state=0
)
y_noisy = SymmetricNoise(0.2, random_state=0).fit_transform(y)
labelled_rare = y_noisy == 4
print(f"{labelled_rare.sum()} labels name the rare class,", end=" ")
print(f"{(y[labelled_rare] == 4).mean():.0%} of them are correct")

# %%
# Without weights a warning says that the class may be lost; it is caught here to be
# shown.

import textwrap
import warnings

from sklearn.metrics import balanced_accuracy_score, recall_score

from skpresto import (
    CrossPrestoppingClassifier,
    DefaultClassifier,
    PrestoppingClassifier,
)
from skpresto.exceptions import SafeSetWarning

results = {}
for classifier in (
    DefaultClassifier,
    PrestoppingClassifier,
    CrossPrestoppingClassifier,
):
    for class_weight in (None, "balanced"):
        clf = classifier(class_weight=class_weight, max_epochs=20, random_state=0)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            predicted = clf.fit(X, y_noisy).predict(X_test)
        name = classifier.__name__.removesuffix("Classifier")
        results[name, class_weight] = (
            recall_score(y_test, predicted, labels=[4], average=None)[0],
            balanced_accuracy_score(y_test, predicted),
        )
        for warning in caught:
            if warning.category is SafeSetWarning:
                print(textwrap.fill(str(warning.message), 80))

# %%
# Recall of the rare class, and balanced accuracy, on test data with correct labels:

import matplotlib.pyplot as plt
from matplotlib.ticker import PercentFormatter

methods = list(dict.fromkeys(name for name, _ in results))
figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True, layout="constrained")
titles = ("recall of the rare class", "balanced accuracy")
for position, (ax, title) in enumerate(zip(axes, titles, strict=True)):
    for shift, class_weight in ((-0.2, None), (0.2, "balanced")):
        heights = [results[name, class_weight][position] for name in methods]
        places = np.arange(len(methods)) + shift
        bars = ax.bar(places, heights, 0.38, label=f"class_weight={class_weight!r}")
        ax.bar_label(bars, [f"{height:.0%}" for height in heights], fontsize="small")
    ax.set_xticks(range(len(methods)), methods)
    ax.set(title=title, ylim=(0, 1.3))
    ax.yaxis.set_major_formatter(PercentFormatter(1))
_ = axes[0].legend(loc="upper left")

# %%
# Accuracy would hardly change if the class were lost: score with balanced accuracy, or
# with the recall of the class that matters. Five seeds are in :doc:`/imbalance`.

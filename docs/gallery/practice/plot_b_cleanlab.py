"""
Together with cleanlab
======================

`cleanlab <https://github.com/cleanlab/cleanlab>`_ finds label issues from out-of-fold
probabilities of any classifier, and a classifier of this package can be that
classifier. Both lists of suspects can also be combined.
"""

# %%
# Digits, with two kinds of noise.

import numpy as np
from sklearn.datasets import load_digits

from skpresto.noise import PairNoise, SymmetricNoise

X, y = load_digits(return_X_y=True)
X = (X / 16).astype(np.float32)
noises = {
    "30 % symmetric": SymmetricNoise(0.3, random_state=0),
    "30 % pair": PairNoise(0.3, random_state=0),
}

# %%
# Three scores per label: cleanlab's self-confidence from five-fold probabilities of
# plain training, the same from five-fold probabilities of Prestopping, and
# ``label_quality_`` of a single Prestopping run on all rows.

import warnings

from cleanlab.rank import get_label_quality_scores
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import average_precision_score
from sklearn.model_selection import cross_val_predict

from skpresto import DefaultClassifier, PrestoppingClassifier

warnings.simplefilter("ignore", ConvergenceWarning)
plain = DefaultClassifier(max_epochs=30, random_state=0)
robust = PrestoppingClassifier(max_epochs=30, random_state=0)
scores = {}
for kind, noise in noises.items():
    given = noise.fit_transform(y)
    for clf, name in ((plain, "plain training"), (robust, "Prestopping")):
        proba = cross_val_predict(clf, X, given, method="predict_proba")
        quality = get_label_quality_scores(given, proba)
        scores[kind, f"cleanlab on {name}, 5 fits"] = quality
    found = robust.fit(X, given).label_quality_
    scores[kind, "label_quality_ of Prestopping, 1 fit"] = found
    for (where, name), quality in scores.items():
        if where == kind:
            precision = average_precision_score(noise.flipped_mask_, -quality)
            print(f"{kind:<15} {name:<38} average precision {precision:.3f}")

# %%
# A review list can use both: the mean of the two ranks.

import matplotlib.pyplot as plt
from scipy.stats import rankdata
from sklearn.metrics import PrecisionRecallDisplay

figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), sharey=True, layout="constrained")
for ax, (kind, noise) in zip(axes, noises.items(), strict=True):
    curves = {name: found for (where, name), found in scores.items() if where == kind}
    first, _, last = curves.values()
    curves["mean rank of the first and the last"] = rankdata(first) + rankdata(last)
    for name, quality in curves.items():
        PrecisionRecallDisplay.from_predictions(
            noise.flipped_mask_, -quality, name=name, ax=ax
        )
    ax.set_title(kind)
    ax.legend(fontsize="x-small", loc="lower left")

# %%
# cleanlab's own training on noisy labels, ``CleanLearning``, takes a classifier of this
# package as it takes any other of scikit-learn. It fits five folds and then once more
# without the issues it found.

from cleanlab.classification import CleanLearning

given = noises["30 % symmetric"].fit_transform(y)
cleaner = CleanLearning(plain, seed=0, find_label_issues_kwargs={"n_jobs": 1})
cleaner.fit(X[:1200], given[:1200])
print(f"CleanLearning(DefaultClassifier): {cleaner.score(X[1200:], y[1200:]):.3f}")
alone = robust.fit(X[:1200], given[:1200])
print(f"PrestoppingClassifier:            {alone.score(X[1200:], y[1200:]):.3f}")

# %%
# And the other way: any probabilities make a report of this package,
# ``LabelReport.from_probabilities(proba, given)``. Which of the two is better where is
# in :doc:`/comparison` and :doc:`/benchmarks`.

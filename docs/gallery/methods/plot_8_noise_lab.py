"""
A laboratory of label noise
===========================

Four kinds of noise with exact semantics, and any classifier of scikit-learn on top.
None of this needs torch.
"""

# %%
# An injector is fitted to clean labels and returns noisy ones. It records which labels
# it changed, and the probability of each change.

from sklearn.datasets import load_digits

from skpresto.noise import (
    InstanceDependentNoise,
    PairNoise,
    SymmetricNoise,
    TransitionMatrixNoise,
)

X, y = load_digits(return_X_y=True)

# Digits are mistaken for those that look alike, some more often than others.
import numpy as np

confusions = np.eye(10)
for true, given, rate in [(3, 8, 0.4), (8, 3, 0.1), (4, 9, 0.5), (7, 1, 0.3)]:
    confusions[true, true] -= rate
    confusions[true, given] += rate

injectors = {
    "symmetric": SymmetricNoise(0.3, random_state=0),
    "pair": PairNoise(0.3, random_state=0),
    "transition matrix": TransitionMatrixNoise(confusions, random_state=0),
    "instance-dependent": InstanceDependentNoise(0.3, random_state=0),
}
noisy = {name: noise.fit_transform(y, X) for name, noise in injectors.items()}

import matplotlib.pyplot as plt

from skpresto.plots import TransitionMatrixDisplay

figure, axes = plt.subplots(2, 2, figsize=(9, 8), layout="constrained")
for ax, (name, noise) in zip(axes.flat, injectors.items(), strict=True):
    TransitionMatrixDisplay.from_injector(noise, ax=ax)
    ax.set_title(f"{name}: {noise.realized_rate_:.0%} wrong")

# %%
# A flipped label is always wrong: 30 % noise makes 30 % of the labels wrong.
# ``exact=True`` makes it that number exactly.

exact = SymmetricNoise(0.3, exact=True, random_state=0)
print("wrong labels:", (exact.fit_transform(y) != y).sum(), "of", len(y))

# %%
# :class:`~skpresto.noise.NoisyTargetClassifier` puts the noise into ``fit`` and keeps
# scores clean, in cross-validation and searches. How much noise do three classifiers of
# scikit-learn tolerate?

from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier

from skpresto.noise import NoisyTargetClassifier
from skpresto.plots import NoiseRateCurveDisplay

classifiers = {
    "1 neighbour": KNeighborsClassifier(1),
    "15 neighbours": KNeighborsClassifier(15),
    "random forest": RandomForestClassifier(50, random_state=0),
}
figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True, layout="constrained")
for ax, noise in zip(axes, (SymmetricNoise, PairNoise), strict=True):
    results = []
    for name, classifier in classifiers.items():
        model = NoisyTargetClassifier(classifier, noise(random_state=0))
        search = GridSearchCV(model, {"noise__rate": [0.0, 0.15, 0.3, 0.45]}, cv=3)
        scores = search.fit(X, y).cv_results_
        for rate, mean in zip(
            scores["param_noise__rate"], scores["mean_test_score"], strict=True
        ):
            results.append({"method": name, "rate": rate, "error": 1 - mean})
    NoiseRateCurveDisplay.from_results(results, ax=ax)
    ax.set_title(noise.__name__)

# %%
# Under symmetric noise, votes of many neighbours or trees are hardly affected. Under
# pair noise the wrong labels of a class agree with each other, and near one half
# nothing can tell them from the correct ones.
#
# If no clean labels are known, the transition matrix is estimated from out-of-fold
# probabilities:

from sklearn.model_selection import cross_val_predict

from skpresto.noise import estimate_transition_matrix, noise_rate_from

given = noisy["transition matrix"]
proba = cross_val_predict(
    RandomForestClassifier(200, random_state=0), X, given, method="predict_proba"
)
estimated = estimate_transition_matrix(given, pred_proba=proba)
rate = noise_rate_from(estimated)
print(f"estimated noise rate {rate:.0%}, true {np.mean(given != y):.0%}")

"""
All methods on one data set: error and cost
===========================================

Which method is worth its time? Every classifier of this package is trained on the same
noisy labels; the picture shows test errors, and processor seconds beside them.
"""

# %%
# Methods that need a noise rate are given the true one, as in their papers. The others
# get nothing but the labels.

import time
import warnings

from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split

import skpresto
from skpresto.noise import PairNoise, SymmetricNoise

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X / 16, y, test_size=0.4, stratify=y, random_state=0
)
RATE = 0.35
noises = {"pair": PairNoise, "symmetric": SymmetricNoise}
names = [name for name in skpresto.__all__ if name.endswith("Classifier")]
names.remove("LabelCleaningClassifier")  # for other classifiers than networks

results = []
for kind, noise in noises.items():
    y_noisy = noise(RATE, random_state=1).fit_transform(y_train)
    for name in names:
        clf = getattr(skpresto, name)(max_epochs=30, random_state=0)
        if "noise_rate" in clf.get_params():
            clf.set_params(noise_rate=RATE)
        started = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            clf.fit(X_train, y_noisy)
        seconds = time.process_time() - started
        method = name.removesuffix("Classifier")
        error = 1 - clf.score(X_test, y_test)
        results.append((kind, method, seconds, error))
        print(f"{kind:<10} {method:<16} {seconds:5.1f} s   test error {error:6.1%}")

# %%
# One data set and one seed: a picture of the costs, not a ranking. The benchmark with
# many data sets, several seeds and real noise is in :doc:`/benchmarks`.

import matplotlib.pyplot as plt
from matplotlib.ticker import PercentFormatter

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, kind in zip(axes, noises, strict=True):
    of_kind = [(error, method, s) for k, method, s, error in results if k == kind]
    rows = sorted(of_kind, reverse=True)
    errors, methods, seconds = zip(*rows, strict=True)
    bars = ax.barh(methods, errors, color="tab:blue")
    ax.bar_label(bars, [f"{s:.1f} s" for s in seconds], padding=3, fontsize="small")
    ax.set(xlabel="test error", title=f"{RATE:.0%} {kind} noise")
    ax.margins(x=0.15)
    ax.xaxis.set_major_formatter(PercentFormatter(1))

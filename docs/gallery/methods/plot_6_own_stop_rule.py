"""
Write a stop rule
=================

A stop rule reads one record per epoch and says where phase I should have ended. A rule
of your own has two short methods, and its parameters can be searched.
"""

# %%
# This rule stops when the training loss falls by less than a given fraction over a few
# epochs. ``candidate`` returns the position of the stop point among the records so far,
# ``is_settled`` whether phase I can end. Neither sees the network or the data.

from skpresto.stopping import StopRule


class SlowLossStop(StopRule):
    """Stop where the training loss begins to fall slowly."""

    def __init__(self, fraction=0.05, window=3):
        self.fraction = fraction
        self.window = window

    def candidate(self, records):
        slow = self._first_slow(records)
        return len(records) - 1 if slow is None else slow

    def is_settled(self, records):
        return self._first_slow(records) is not None

    def _first_slow(self, records):
        losses = [record.train_loss for record in records]
        for end in range(self.window, len(losses)):
            if losses[end] > (1 - self.fraction) * losses[end - self.window]:
                return end
        return None


# %%
# It is used like the built-in ones.

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from skpresto import PrestoppingClassifier
from skpresto.noise import SymmetricNoise
from skpresto.stopping import AgreementStop, LabelWaveStop

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X / 16, y, test_size=0.3, stratify=y, random_state=0
)
y_noisy = SymmetricNoise(rate=0.45, random_state=0).fit_transform(y_train)

fitted = {}
for rule in (AgreementStop(), LabelWaveStop(), SlowLossStop(), SlowLossStop(0.2)):
    clf = PrestoppingClassifier(stop=rule, random_state=0)
    fitted[str(rule)] = clf.fit(X_train, y_noisy, y_true=y_train)
    error = 1 - clf.score(X_test, y_test)
    print(f"{rule!s:<28} epoch {clf.stop_epoch_:>2}, test error {error:.1%}")

# %%
# The best stop point is near the crossing of memorization precision and recall, which
# are known here because the true labels are.

import matplotlib.pyplot as plt

from skpresto.plots import StopPointDisplay

figure, axes = plt.subplots(2, 2, figsize=(9, 6.4), layout="constrained", sharey=True)
for ax, (rule, clf) in zip(axes.flat, fitted.items(), strict=True):
    StopPointDisplay.from_estimator(
        clf, curves=["memorization_precision", "memorization_recall"], ax=ax
    )
    ax.set_title(rule)
    ax.legend(fontsize="x-small", loc="lower right")

# %%
# :doc:`/stop-rules` compares the built-in rules by the test error they lead to.

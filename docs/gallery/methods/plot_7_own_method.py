"""
Write a method of your own in sixty lines
=========================================

A method is a *policy*, which decides what a mini-batch learns from, and an estimator
that runs it. Everything else is shared: data of every kind, callbacks, label quality,
weights, resuming, the audit.
"""

# %%
# The method here is trimmed loss: of each mini-batch, the samples with the largest
# losses are left out, as many as labels are expected to be wrong, after a warm-up on
# all samples. A policy receives positions, labels, logits and losses of a batch and
# returns the weights of its samples.
#
# .. note::
#    The modules with an underscore are the interface for methods inside this package.
#    They may change between versions; for a method of your own, pin the version, or
#    contribute it (:doc:`/contributing`).

import torch

from skpresto._training.policy import Policy, Selection


class LeaveOutLargeLosses(Policy):
    """Learn from the fraction of each batch with the smallest losses."""

    def __init__(self, noise_rate, warm_up):
        self.noise_rate = noise_rate
        self.warm_up = warm_up

    def select(self, batch):
        if batch.epoch < self.warm_up:
            return Selection()
        n_samples = batch.losses.shape[1]
        n_kept = max(1, int((1 - self.noise_rate) * n_samples))
        smallest = batch.losses.topk(n_kept, largest=False).indices
        weights = torch.zeros_like(batch.losses).scatter_(1, smallest, 1.0)
        return Selection(weights=weights)


# %%
# The estimator stores its parameters and returns the policy; methods of several stages
# have a ``_train`` of their own, which reads from top to bottom.

from skpresto import DefaultClassifier
from skpresto._methods._one_stage import OneStageClassifier


class TrimmedLossClassifier(OneStageClassifier):
    """Leave out the largest losses of each mini-batch."""

    def __init__(
        self,
        module=None,
        *,
        noise_rate=0.2,
        warm_up=5,
        q=10,
        class_weight=None,
        criterion=torch.nn.CrossEntropyLoss,
        optimizer=torch.optim.SGD,
        lr=0.1,
        max_epochs=60,
        batch_size=128,
        device="cpu",
        callbacks=None,
        n_jobs=None,
        random_state=None,
        verbose=0,
        **net_params,  # such as module__hidden
    ):
        self._store(locals())

    def _policy(self, trainer, request):
        return LeaveOutLargeLosses(self.noise_rate, self.warm_up)


# %%
# It is a classifier like the others, and can be cloned and searched:

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from skpresto.noise import SymmetricNoise

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X / 16, y, test_size=0.3, stratify=y, random_state=0
)
y_noisy = SymmetricNoise(rate=0.4, random_state=0).fit_transform(y_train)
given = {"X_val": X_test, "y_val": y_test}  # recorded, not trained on

errors = {}
for clf in (
    DefaultClassifier(random_state=0),
    TrimmedLossClassifier(noise_rate=0.4, random_state=0),
):
    clf.fit(X_train, y_noisy, **given)
    errors[type(clf).__name__] = [record.valid_error for record in clf.history_]
    print(f"{type(clf).__name__:<22} test error {1 - clf.score(X_test, y_test):.1%}")

# %%
# The error on test data after each epoch:

import matplotlib.pyplot as plt
from matplotlib.ticker import PercentFormatter

figure, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
for name, values in errors.items():
    ax.plot(range(1, len(values) + 1), values, lw=2, label=name)
ax.set(xlabel="epoch", ylabel="test error", ylim=(0, 0.6))
ax.yaxis.set_major_formatter(PercentFormatter(1))
_ = ax.legend()

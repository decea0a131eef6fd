"""
Find wrong labels in a table
============================

A table with one label per row, of which a few are wrong: which ones, how many, and in
which class?
"""

# %%
# The breast cancer data of scikit-learn, as a DataFrame with strings as labels. To know
# what is to be found, the diagnosis of one row in twelve is exchanged.

import pandas as pd
from sklearn.datasets import load_breast_cancer

from skpresto.noise import PairNoise

data = load_breast_cancer(as_frame=True)
table = data.frame.drop(columns="target")
diagnosis = pd.Series(data.target_names[data.target], name="diagnosis")
noise = PairNoise(rate=1 / 12, exact=True, random_state=0)
recorded = noise.fit_transform(diagnosis)
print(f"{noise.flipped_mask_.sum()} of {len(table)} labels are wrong")

# %%
# A Pipeline that ends with a classifier of this package can be reported on. The audit
# of the command line, ``skpresto audit table.csv --label diagnosis``, does the same for
# a file, and also encodes dates, categories and texts.

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skpresto import CrossPrestoppingClassifier
from skpresto.audit import LabelReport

model = make_pipeline(
    StandardScaler(), CrossPrestoppingClassifier(module__dropout=0.5, random_state=0)
)
model.fit(table, recorded)
report = LabelReport.from_estimator(model, table, recorded)
print(report.summary())

# %%
# The rows to look at first. Numbers of wrong labels come with a 90 % interval.

suspects = report.suspects(20)
print(suspects.head(8))
estimate = report.expected_errors(20)
print(f"expected errors among the first 20: {estimate.expected:.0f}", end=" ")
print(f"({estimate.low:.0f} to {estimate.high:.0f})")
print("really wrong:", noise.flipped_mask_[suspects.index].sum())

# %%
# Given against suggested labels, and the quality of accepted and suspect labels.

report.plot().figure_.set_size_inches(9, 3.8)

# %%
# How many labels must be reviewed to find the wrong ones?

import matplotlib.pyplot as plt
import numpy as np

by_rank = noise.flipped_mask_[report.frame["review_rank"].argsort()]
figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.plot(np.arange(1, len(table) + 1), by_rank.cumsum(), lw=2, label="by review rank")
ax.plot([1, len(table)], [0, by_rank.sum()], "--", label="random order")
ax.set(xlabel="labels reviewed", ylabel="wrong labels found")
_ = ax.legend()

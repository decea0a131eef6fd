"""
Find wrong labels in text
=========================

Sentences go through a ``TfidfVectorizer`` in a Pipeline: its sparse matrix is used as
it is, and never made dense as a whole.
"""

# %%
# Texts without a download: the first sentences of docstrings, with the library they
# come from as label. A fifth of the labels are replaced by another library.

import inspect

import matplotlib.pyplot as plt
import numpy
import pandas
import scipy.signal
import scipy.stats
import sklearn.ensemble
import sklearn.linear_model
import sklearn.metrics
import sklearn.preprocessing
import torch

SOURCES = {
    "numpy": [numpy, numpy.linalg, numpy.random],
    "pandas": [pandas.DataFrame, pandas.Series, pandas.api.types, pandas],
    "scipy": [scipy.stats, scipy.signal],
    "scikit-learn": [
        sklearn.metrics,
        sklearn.linear_model,
        sklearn.ensemble,
        sklearn.preprocessing,
    ],
    "torch": [torch, torch.nn, torch.optim],
    "matplotlib": [plt, plt.Axes],
}


def sentences(source):
    """Yield the first lines of the docstrings of functions and classes."""
    for name in dir(source):
        value = inspect.getattr_static(source, name)
        lines = (inspect.getdoc(value) or "").strip().split("\n\n")
        text = " ".join(line.strip() for line in lines[:2]).strip()
        if not name.startswith("_") and callable(value) and len(text) > 30:
            yield text[:300]


pairs = sorted(
    {
        (text, library)
        for library, sources in SOURCES.items()
        for source in sources
        for text in sentences(source)
    }
)
texts, libraries = map(numpy.array, zip(*pairs, strict=True))
print(pandas.Series(libraries).value_counts().to_dict())

from skpresto.noise import SymmetricNoise

noise = SymmetricNoise(rate=0.2, random_state=0)
given = noise.fit_transform(libraries)

# %%
# The first layer is dense, so it is kept small for thousands of words.

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from skpresto import CrossPrestoppingClassifier
from skpresto.audit import LabelReport

model = make_pipeline(
    TfidfVectorizer(sublinear_tf=True, min_df=2, ngram_range=(1, 2)),
    CrossPrestoppingClassifier(module__hidden=(32,), max_epochs=20, random_state=0),
)
model.fit(texts, given)
report = LabelReport.from_estimator(model, texts, given)
print(report)

# %%
# The most suspect labels:

for row, suspect in report.suspects(6).iterrows():
    wrong = "wrong" if noise.flipped_mask_[row] else "correct"
    start = " ".join(texts[row].split())[:60]
    print(f"{suspect.given} → {suspect.suggested} ({wrong}): {start}...")

# %%
# Precision and recall of the review list, from the first label to the last.

from sklearn.metrics import PrecisionRecallDisplay

figure, ax = plt.subplots(figsize=(5, 4), layout="constrained")
display = PrecisionRecallDisplay.from_predictions(
    noise.flipped_mask_, -model[-1].label_quality_, name="label_quality_", ax=ax
)
ax.axhline(noise.realized_rate_, ls="--", color="gray", label="random order")
_ = ax.legend()

"""
A transformer, and pretrained features
======================================

Models of the transformers library are modules like any other: a dict of token numbers
goes in, an object with ``logits`` comes out. Nothing is downloaded here, so the model
is small and starts from random weights; otherwise use ``from_pretrained``.
"""

# %%
# The task is made up, so that its noise is known: texts of 24 words about four topics.
# A fifth of the words belong to the topic, the others mean nothing. Four of ten labels
# are replaced by the next topic.

import numpy as np

from skpresto.noise import PairNoise

rng = np.random.RandomState(0)
n_samples, length, n_words, n_topics = 1600, 24, 200, 4
y = rng.randint(0, n_topics, n_samples)
tokens = rng.randint(50, n_words, (n_samples, length))
topical = rng.uniform(size=tokens.shape) < 0.2
tokens[topical] = (2 + 12 * y[:, None] + rng.randint(0, 12, tokens.shape))[topical]
tokens[:, 0] = 1  # the token at which the classifier looks
X = {"input_ids": tokens, "attention_mask": np.ones_like(tokens)}
noise = PairNoise(0.4, random_state=0)
y_noisy = noise.fit_transform(y)

# %%
# A function that builds the model; the number of classes is passed to it by name. The
# usual recipe of transformers is AdamW and a small learning rate; this model is small,
# so the rate is larger.

import torch
from transformers import BertConfig, BertForSequenceClassification

from skpresto import DefaultClassifier, PrestoppingClassifier


def build(num_labels):
    config = BertConfig(
        vocab_size=n_words,
        hidden_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=96,
        max_position_embeddings=length,
        num_labels=num_labels,
    )
    return BertForSequenceClassification(config)


train = slice(0, 1200)
X_train = {name: part[train] for name, part in X.items()}
X_test = {name: part[1200:] for name, part in X.items()}
recipe = {
    "optimizer": torch.optim.AdamW,
    "lr": 1e-3,
    "max_epochs": 25,
    "batch_size": 64,
    "random_state": 0,
}
fitted = {}
for classifier in (DefaultClassifier, PrestoppingClassifier):
    clf = classifier(build, **recipe)
    clf.fit(X_train, y_noisy[train], y_true=y[train])
    fitted[classifier.__name__] = clf
    print(f"{classifier.__name__:<22} test accuracy {clf.score(X_test, y[1200:]):.1%}")

# %%
# What each of them memorized. The vertical line is the stop point.

import matplotlib.pyplot as plt

from skpresto.plots import MemorizationDisplay

figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True, layout="constrained")
for ax, (name, clf) in zip(axes, fitted.items(), strict=True):
    MemorizationDisplay.from_estimator(clf, ax=ax)
    ax.set_title(name)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), fontsize="small")

# %%
# A cheaper way with a large pretrained model: compute its features once, and fit on
# them as on a table. Here the trained model of above stands in for a pretrained one,
# and the part that is trained is one linear layer; ``requires_grad_(False)`` freezes
# the rest of a module.

backbone = fitted["PrestoppingClassifier"].net_.module_.bert
with torch.no_grad():
    features = backbone(torch.as_tensor(tokens)).pooler_output.numpy()
head = PrestoppingClassifier(module__hidden=(), max_epochs=30, random_state=0)
head.fit(features[train], y_noisy[train])
print(f"linear head on features: {head.score(features[1200:], y[1200:]):.1%}")

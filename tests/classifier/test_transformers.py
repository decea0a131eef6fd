"""A model of the transformers library, built from a configuration."""

import numpy as np
import pytest
import torch

from skpresto import CrossPrestoppingClassifier, PrestoppingClassifier
from skpresto.stopping import HoldoutStop

transformers = pytest.importorskip("transformers")

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning",
    "ignore::skpresto.exceptions.SafeSetWarning",
    "ignore::skpresto.exceptions.FallbackWarning",
)


def tiny_bert(n_classes):
    config = transformers.BertConfig(
        vocab_size=20,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=8,
        num_labels=n_classes,
    )
    return transformers.BertForSequenceClassification(config)


def sentences(n_rows=80):
    """Return tokens of which the first tells the class, as a tokenizer returns them."""
    rng = np.random.RandomState(0)
    y = rng.randint(0, 2, n_rows)
    tokens = rng.randint(4, 20, size=(n_rows, 6))
    tokens[:, 0] = 2 + y
    mask = (np.arange(6) < rng.randint(3, 7, n_rows)[:, None]).astype(np.int64)
    encoded = {"input_ids": torch.tensor(tokens), "attention_mask": torch.tensor(mask)}
    return transformers.BatchEncoding(encoded), y


SETTINGS = {
    "optimizer": torch.optim.AdamW,
    "lr": 0.01,
    "batch_size": 16,
    "random_state": 0,
    "stop": HoldoutStop(patience=2),
}


def test_a_batch_encoding_is_learned_by_a_model():
    X, y = sentences()
    clf = PrestoppingClassifier(tiny_bert, max_epochs=6, **SETTINGS).fit(X, y)
    assert clf.score(X, y) > 0.9
    assert clf.input_shape_ == {"input_ids": (6,), "attention_mask": (6,)}
    some = transformers.BatchEncoding({name: part[5:9] for name, part in X.items()})
    np.testing.assert_allclose(
        clf.predict_proba(some), clf.predict_proba(X)[5:9], rtol=1e-5
    )


@pytest.mark.parametrize(
    "Classifier", [PrestoppingClassifier, CrossPrestoppingClassifier]
)
def test_an_instance_is_copied_and_trained(Classifier):
    X, y = sentences(40)
    torch.manual_seed(0)
    model = tiny_bert(2)
    before = [p.clone() for p in model.parameters()]
    params = {"cv": 2} if Classifier is CrossPrestoppingClassifier else {}
    clf = Classifier(model, max_epochs=2, **SETTINGS, **params).fit(X, y)
    assert clf.predict_proba(X).shape == (40, 2)
    assert all(map(torch.equal, before, model.parameters()))

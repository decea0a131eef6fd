"""The adapters of public benchmarks, on small copies of what these look like."""

import importlib
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression

from tests.benchmarks.conftest import FOLDER, importable


@pytest.fixture(scope="module")
def external():
    with importable(FOLDER / "external"):
        names = ("mislabenchmark", "label_error_detection", "aqua")
        return SimpleNamespace(**{n: importlib.import_module(n) for n in names})


@pytest.mark.parametrize("ending", ["gzip", "zip"])
def test_mislabenchmark_gets_rows_like_its_own(external, tmp_path, monkeypatch, ending):
    X, y = make_blobs(n_samples=150, centers=3, random_state=0)
    table = pd.DataFrame(X).assign(Label=y)
    for name in ("Blobs", "ClinVarReal"):
        path = tmp_path / "datasetsSample" / f"{name}.csv.gz"
        path.parent.mkdir(exist_ok=True)
        table.to_csv(path, sep="\t", index=False, compression=ending)
    (tmp_path / "output").mkdir()
    row = "['Blobs', 'KDN', {}, 'Sym', 100, 0]\tS\t9\t2\t88\t1\t0.1\t0.8\t0.9\t0.85\t"
    rows = [row.format(0.1), row.format(0.3), "['Blobs'"]
    (tmp_path / "output" / "Blobs_Python.csv").write_text("\n".join(rows))
    out = tmp_path / "new"
    arguments = ["x", str(tmp_path), "--out", str(out), "--sizes", "100"]
    arguments += ["--modes", "skpresto audit --quick", "--noise", "Sym"]
    monkeypatch.setattr(sys, "argv", arguments)
    for _ in range(2):  # what is stored is not run again
        assert external.mislabenchmark.main() == 0
    (path,) = out.iterdir()
    assert path.name == "Blobs_skpresto.csv"
    lines = path.read_text().splitlines()
    assert len(lines) == 2
    tp, fp, tn, fn = map(int, lines[1].split("\t")[2:6])
    assert (tp + fn, fp + tn) == (30, 70)
    means = external.mislabenchmark.comparison(tmp_path, out)
    assert set(means.index) == {"KDN", "skpresto audit --quick"}
    assert means.loc["KDN", "all"] == 0.85


@pytest.mark.parametrize("noise", ["Sym", "Asym"])
def test_noise_changes_exactly_the_rate_to_other_classes(external, noise):
    X, y = make_blobs(n_samples=200, centers=4, cluster_std=3, random_state=0)
    labels = external.mislabenchmark.noisy(X, y, 0.3, noise)
    assert (labels != y).sum() == 60
    assert set(labels) == set(y)


def test_ready_probabilities_are_measured(external, tmp_path):
    rng = np.random.RandomState(0)
    y = rng.randint(3, size=200)
    given = np.where(rng.uniform(size=200) < 0.2, (y + 1) % 3, y)
    scores = rng.normal(size=(200, 3)) + 4 * np.eye(3)[y]
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.save(tmp_path / "pred_probs.npy", p)
    np.save(tmp_path / "noisy_labels.npy", given)
    np.save(tmp_path / "true_labels.npy", y)
    found = external.label_error_detection.measured(tmp_path)
    assert found["F1"] > 0.8
    (tmp_path / "true_labels.npy").unlink()
    np.save(tmp_path / "labels.npy", given)
    np.save(tmp_path / "label_errors_mask.npy", given != y)
    assert external.label_error_detection.measured(tmp_path) == pytest.approx(found)


class BaseModel:
    """What AQuA's models can do."""

    model_type, output_dim = "linear", 3

    def reinit_model(self, model_type, output_dim):
        self.model = LogisticRegression()

    def fit(self, data, labels):
        self.model.fit(data, labels)

    def predict_proba(self, data):
        return self.model.predict_proba(data)


@pytest.mark.filterwarnings("ignore:.*AgreementStop:UserWarning")
@pytest.mark.parametrize("model", [None, BaseModel()])
def test_aqua_gets_a_mask(external, model):
    X, y = make_blobs(n_samples=150, centers=3, random_state=2)
    given = y.copy()
    given[:15] = (y[:15] + 1) % 3
    data = SimpleNamespace(data=X, labels=given)
    mask = external.aqua.SkPresto(model, quick=True).find_label_issues(data)
    assert mask.dtype == bool
    assert mask[:15].mean() > 0.7 > mask[15:].mean()

"""Other ways to store a model: skops, ONNX, torch.export, mlflow."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch

from skpresto import CoTeachingClassifier, CrossPrestoppingClassifier
from tests.discovery import every, quick

PAGE = Path(__file__).parents[2] / "docs" / "persistence.md"


def documented_types():
    """Return the list of trusted types in the documentation."""
    text = PAGE.read_text(encoding="utf-8")
    block = re.search(r"TRUSTED = \[(.*?)\]", text, re.DOTALL).group(1)
    return re.findall(r'"([^"]+)"', block)


@pytest.mark.filterwarnings("ignore:.*few labels of class")
@pytest.mark.filterwarnings("ignore:.*was settled")
@every
def test_skops_loads_what_is_documented_as_trusted(Classifier, data, tmp_path):
    skops = pytest.importorskip("skops.io")
    X, y = data
    clf = quick(Classifier).fit(X, y)
    skops.dump(clf, tmp_path / "clf.skops")
    found = skops.get_untrusted_types(file=tmp_path / "clf.skops")
    own = f"{Classifier.__module__}.{Classifier.__name__}"
    assert set(found) <= {*documented_types(), own}
    back = skops.load(tmp_path / "clf.skops", trusted=[*documented_types(), own])
    np.testing.assert_array_equal(back.predict_proba(X), clf.predict_proba(X))
    np.testing.assert_array_equal(back.safe_mask_, clf.safe_mask_)


def test_skops_finds_a_type_that_is_not_trusted(clf, data):
    skops = pytest.importorskip("skops.io")
    exceptions = pytest.importorskip("skops.io.exceptions")
    content = skops.dumps(clf.fit(*data))
    trusted = [name for name in documented_types() if not name.endswith("MLP")]
    with pytest.raises(exceptions.UntrustedTypesFoundException, match="MLP"):
        skops.loads(content, trusted=trusted)


ENSEMBLES = {
    "one network": None,
    "two networks": CoTeachingClassifier,
    "final and fold networks": CrossPrestoppingClassifier,
}


@pytest.fixture(params=ENSEMBLES)
def fitted(request, clf, data):
    if ENSEMBLES[request.param] is not None:
        params = {} if "two" in request.param else {"stop": clf.stop}
        clf = quick(ENSEMBLES[request.param], max_epochs=8, **params)
    return clf.fit(*data)


def exportable(clf):
    """Return a module that returns probabilities, an example, and free dimensions."""
    model = torch.nn.Sequential(clf.net_.module_, torch.nn.Softmax(dim=1)).eval()
    example = torch.zeros(2, clf.n_features_in_)
    return model, (example,), ({0: torch.export.Dim("rows")},)


@pytest.mark.filterwarnings("ignore")
def test_an_onnx_runtime_predicts_the_same(fitted, data, tmp_path):
    pytest.importorskip("onnxscript")
    runtime = pytest.importorskip("onnxruntime")
    X, _ = data
    model, example, shapes = exportable(fitted)
    path = str(tmp_path / "clf.onnx")
    torch.onnx.export(
        model,
        example,
        path,
        dynamic_shapes=shapes,
        input_names=["X"],
        dynamo=True,
        verbose=False,
    )
    session = runtime.InferenceSession(path)
    (probabilities,) = session.run(None, {"X": X})
    np.testing.assert_allclose(probabilities, fitted.predict_proba(X), atol=1e-5)
    predicted = fitted.classes_[probabilities.argmax(axis=1)]
    assert (predicted == fitted.predict(X)).mean() > 0.99


@pytest.mark.filterwarnings("ignore")
def test_torch_export_predicts_the_same(fitted, data, tmp_path):
    X, _ = data
    model, example, shapes = exportable(fitted)
    program = torch.export.export(model, example, dynamic_shapes=shapes)
    torch.export.save(program, tmp_path / "clf.pt2")
    loaded = torch.export.load(tmp_path / "clf.pt2").module()
    with torch.no_grad():
        probabilities = loaded(torch.from_numpy(X))
    np.testing.assert_allclose(probabilities, fitted.predict_proba(X), atol=1e-5)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.filterwarnings("default")  # of mlflow and what it uses
def test_mlflow_logs_and_loads_a_model(clf, data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where it writes
    mlflow = pytest.importorskip("mlflow")
    flavor = pytest.importorskip("mlflow.sklearn")
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    X, _ = data
    clf.fit(*data)
    with mlflow.start_run():
        logged = flavor.log_model(clf, name="model", serialization_format="pickle")
    back = flavor.load_model(logged.model_uri)
    np.testing.assert_array_equal(back.predict_proba(X), clf.predict_proba(X))

"""Suspects as Label Studio and Hugging Face datasets read them."""

import json

import numpy as np
import pytest

from skpresto.audit import LabelReport


@pytest.fixture(scope="module")
def report():
    y = np.array(["ant", 'b"e&e'])[np.arange(40) % 2]
    pred_proba = np.where(np.arange(40)[:, None] % 2 == [0, 1], 0.95, 0.05)
    y[:2] = y[1::-1]
    return LabelReport.from_probabilities(pred_proba, y)


TEXTS = [f"text {i}" for i in range(40)]


def test_label_studio_accepts_config_tasks_and_predictions(report, tmp_path):
    interface = pytest.importorskip("label_studio_sdk.label_interface")
    report.to_label_studio(tmp_path / "tasks.json", shown=TEXTS)
    config = interface.LabelInterface((tmp_path / "tasks.xml").read_text())
    config.validate()
    assert config.get_control("label").labels == ["ant", 'b"e&e']
    tasks = json.loads((tmp_path / "tasks.json").read_text())
    assert len(tasks) == 2
    for task in tasks:
        (prediction,) = task.pop("predictions")
        assert config.validate_task(task)
        assert config.validate_prediction(prediction, return_errors=True) == []


def test_datasets_loads_records(report, tmp_path):
    datasets = pytest.importorskip("datasets")
    file = tmp_path / "suspects.jsonl"
    report.to_records(file, shown=TEXTS)
    cache = str(tmp_path / "cache")
    records = datasets.load_dataset(
        "json", data_files=str(file), split="train", cache_dir=cache
    )
    assert {"id", "given", "suggested", "score", "quality", "text"} <= {*records[0]}
    assert sorted(records["row"]) == [0, 1]
    assert records[0]["probabilities"][0]["label"] == records[0]["suggested"]

"""Suspects as files of other tools, and decisions made there."""

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from skpresto.audit import LabelReport
from skpresto.audit._decisions import read_decisions
from skpresto.audit._page import About
from skpresto.audit._tools import Exported, tasks_text
from skpresto.cli import main


@pytest.fixture(autouse=True)
def in_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def animals(probabilities):
    """Write a table with labels, probabilities of its rows; return the table."""
    pred_proba, codes = probabilities
    names = np.array(["<b>ant", "bee & wasp", 'c"at'])
    table = pd.DataFrame(
        {
            "size": np.linspace(0, 1, len(codes), dtype=np.float32).round(1),
            "story": [f"The {i}th of many animals, seen here" for i in range(120)],
            "seen": pd.date_range("1999-12-30", periods=30)[np.arange(120) % 30],
            "kind": names[codes],
        }
    )
    table.loc[5, "size"] = np.nan
    table.to_csv("animals.csv", index=False)
    np.savez("p.npz", pred_proba=pred_proba, classes=names)
    return table


def audit(*further):
    command = ["audit", "p.npz", "--labels", "animals.csv", "--label", "kind"]
    assert main([*command, *further]) == 0


def read(name):
    return json.loads(Path(name).read_text(encoding="utf-8"))


def exported(task, *annotations):
    """Return a task as Label Studio exports it, with answers of several users.

    An answer is a class, or None where the task was skipped.
    """
    made = []
    for number, answer in enumerate(annotations):
        choice = {
            "id": f"r{number}",
            "from_name": "label",
            "to_name": task["predictions"][0]["result"][0]["to_name"]
            if "predictions" in task
            else "text",
            "type": "choices",
            "origin": "manual",
            "value": {"choices": [answer]},
        }
        made.append(
            {
                "id": 100 + number,
                "completed_by": number + 1,
                "result": [] if answer is None else [choice],
                "was_cancelled": answer is None,
                "ground_truth": False,
                "created_at": "2026-01-31T10:00:00.000000Z",
                "lead_time": 3.2,
            }
        )
    return {"id": 1, "project": 7, "annotations": made, "drafts": [], **task}


def test_tasks_fit_their_config_and_show_what_is_known(animals):
    audit("--label-studio", "tasks.json")
    tasks, config = read("tasks.json"), ElementTree.parse("tasks.xml").getroot()
    choices = config.find("Choices")
    classes = [choice.get("value") for choice in choices]
    assert classes == ["<b>ant", "bee & wasp", 'c"at']
    shown = {tag.get("name"): tag for tag in config if tag.get("name")}
    assert set(shown) == {"text", "values", "label"}
    rows = [task["data"]["skpresto"]["row"] for task in tasks]
    assert len(set(rows)) == len(rows) > 5
    assert len(set(rows) & set(range(12))) > 8  # whose labels are wrong
    for task, row in zip(tasks, rows, strict=True):
        data, (prediction,) = task["data"], task["predictions"]
        assert data["text"] == animals["story"][row]
        assert data["given"] == animals["kind"][row]
        size = animals["size"][row]
        expected = None if np.isnan(size) else pytest.approx(round(float(size), 1))
        assert data["values"]["size"] == expected
        assert data["values"]["seen"].startswith(str(animals["seen"][row].date()))
        assert sum(data["probabilities"].values()) == pytest.approx(1, abs=0.01)
        assert data["quality"] == data["probabilities"][data["given"]]
        (result,) = prediction["result"]
        assert result["from_name"] == choices.get("name")
        assert result["to_name"] == choices.get("toName") == "text"
        (suggested,) = result["value"]["choices"]
        assert suggested in set(classes) - {data["given"]}
        assert prediction["score"] == data["probabilities"][suggested]


def test_decisions_of_label_studio_are_applied(animals, capsys):
    audit("--label-studio", "tasks.json")
    tasks = read("tasks.json")
    given = [task["data"]["given"] for task in tasks]
    other = ["bee & wasp" if g != "bee & wasp" else "<b>ant" for g in given]
    done = [
        exported(tasks[0], other[0]),
        exported(tasks[1], given[1]),
        exported(tasks[2], None),  # skipped
        exported(tasks[3], other[3], other[3]),  # two agree
        exported(tasks[4], other[4], given[4]),  # they differ
        exported(tasks[5], other[5], given[5]),
        exported(tasks[6]),  # not annotated
    ]
    done[5]["annotations"][0]["ground_truth"] = True
    Path("export.json").write_text(json.dumps(done), encoding="utf-8")
    command = ["apply", "export.json", "animals.csv", "--out", "clean.csv"]
    assert main(command) == 0
    assert (
        "Labels changed: 3, kept: 1, unsure and unchanged: 2" in capsys.readouterr().out
    )
    rows = [tasks[i]["data"]["skpresto"]["row"] for i in (0, 3, 5)]
    animals.loc[rows, "kind"] = [other[i] for i in (0, 3, 5)]
    clean = pd.read_csv("clean.csv")
    assert clean["kind"].tolist() == animals["kind"].tolist()
    Path("animals.csv").write_text("kind\nbee\n")
    assert main(["apply", "export.json", "animals.csv", "--out", "c.csv"]) == 1
    assert "it is other data" in capsys.readouterr().err


def test_a_report_takes_decisions_of_label_studio_by_its_index(probabilities):
    pred_proba, codes = probabilities
    y = pd.Series(np.array(["ant", "bee", "cat"])[codes])
    y.index = [f"animal {i}" for i in range(len(y))]
    report = LabelReport.from_probabilities(pred_proba, y)
    task, *_ = json.loads(report.to_label_studio(top=3))
    row = task["data"]["skpresto"]["row"]
    answer = "ant" if y.iloc[row] != "ant" else "bee"
    Path("export.json").write_text(json.dumps([exported(task, answer)]))
    expected = y.copy()
    expected.iloc[row] = answer
    assert report.decided_labels("export.json").equals(expected)
    shuffled = y.sample(frac=1, random_state=0)
    other = LabelReport.from_probabilities(pred_proba[shuffled.argsort()], shuffled)
    labels = other.decided_labels("export.json")
    assert labels.equals(expected[shuffled.index])


def test_a_control_sample_is_checked_in_label_studio(probabilities):
    pred_proba, codes = probabilities
    names = np.array(["ant", "bee", "cat"])
    y, truth = names[codes], names[codes].copy()
    truth[:12] = names[(codes[:12] - 1) % 3]
    report = LabelReport.from_probabilities(pred_proba, y)
    report.to_label_studio("control.json", shown=[f"text {i}" for i in range(120)])
    suspects = {task["data"]["skpresto"]["row"] for task in read("control.json")}
    report.to_label_studio(
        "control.json", shown=[f"text {i}" for i in range(120)], control=True
    )
    tasks = read("control.json")
    rows = [task["data"]["skpresto"]["row"] for task in tasks]
    assert 0 < len(set(rows) - suspects) < len(rows)
    hidden = {"predictions", "quality", "probabilities"}
    assert not any(hidden & {*task, *task["data"]} for task in tasks)
    done = [exported(t, truth[r]) for t, r in zip(tasks, rows, strict=True)]
    done[0]["annotations"][0] |= {"was_cancelled": True, "result": []}
    Path("export.json").write_text(json.dumps(done), encoding="utf-8")
    checked = read_decisions(Path("export.json")).checked
    assert checked == {row: bool(truth[row] != y[row]) for row in rows[1:]}
    known = LabelReport.from_probabilities(pred_proba, y, checked=checked)
    before, after = report.expected_errors(), known.expected_errors()
    assert after.high - after.low < before.high - before.low


def test_spellings_come_back_as_the_file_has_them(probabilities):
    pred_proba, codes = probabilities
    y = np.array(["ant", "bee", "cat"])[codes]
    about = About(spelled=[f"{label} " for label in y])
    report = LabelReport.from_probabilities(pred_proba, y)
    tasks = json.loads(tasks_text(Exported(report, about, None), top=2))
    done = [exported(t, t["data"]["given"]) for t in tasks]
    Path("export.json").write_text(json.dumps(done))
    decisions = read_decisions(Path("export.json"))
    assert decisions.n_kept == 2
    assert not decisions.changes


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ([], "does not hold decisions"),
        ([{"data": {"text": "a"}}], "does not hold decisions"),
        ([{"id": 1, "label": "a"}], "in the format 'JSON'"),
        ([{"data": {"skpresto": {"row": 1}}}], "does not fit the labeling config"),
    ],
)
def test_other_exports_are_refused(content, words, capsys):
    Path("export.json").write_text(json.dumps(content))
    Path("t.csv").write_text("x,kind\n1,a\n")
    assert main(["apply", "export.json", "t.csv", "--out", "c.csv"]) == 1
    assert words in capsys.readouterr().err


def test_many_classes_are_chosen_from_a_list():
    y = np.repeat(np.arange(30), 2)
    report = LabelReport.from_probabilities(np.full((60, 30), 1 / 30), y)
    report.to_label_studio("tasks.json")
    config = ElementTree.parse("tasks.xml").getroot()
    assert config.find("Choices").get("layout") == "select"
    assert config.find("Choices").get("toName") == config.find("Text").get("name")


def test_records_are_a_table_of_hugging_face_and_pandas(animals):
    audit("--records", "suspects.jsonl", "--top", "6")
    records = pd.read_json("suspects.jsonl", lines=True)
    assert records["text"].tolist() == animals["story"][records["row"]].tolist()
    assert records["given"].tolist() == animals["kind"][records["row"]].tolist()
    assert records["quality"].is_monotonic_increasing
    assert len(records) == 6
    first = records["probabilities"][0]
    assert first[0] == {"label": records["suggested"][0], "probability": 0.9999} or (
        first[0]["probability"] == records["score"][0]
    )


def test_images_for_every_tool():
    rng = np.random.RandomState(0)
    files = [Path(f"photos/{'ab'[i // 10]}/{i}.png") for i in range(20)]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        pixels = rng.randint(0, 255, (24, 600, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(file)
    y = [file.parent.name for file in files]
    pred_proba = np.array([[0.9, 0.1]] * 10 + [[0.1, 0.9]] * 10)
    pred_proba[3] = 0.1, 0.9
    report = LabelReport.from_probabilities(pred_proba, y)
    content = json.loads(report.to_fiftyone(shown=files))
    assert {*content["sample_fields"]} == {*content["samples"][0]}
    assert [s["filepath"] for s in content["samples"]] == [
        str(file.resolve()) for file in files
    ]
    assert [i for i, s in enumerate(content["samples"]) if s["tags"]] == [3]
    suspect = content["samples"][3]
    assert suspect["ground_truth"]["label"] == "a"
    assert suspect["predictions"]["label"] == "b"
    assert suspect["mistakenness"] == pytest.approx(report.error_probability[3], 1e-3)
    (task,) = json.loads(report.to_label_studio(shown=files))
    assert task["data"]["image"].startswith("data:image/jpeg;base64,")
    (record,) = map(json.loads, report.to_records(shown=files).splitlines())
    assert record["file"] == str(files[3].resolve())
    with pytest.raises(ValueError, match="FiftyOne shows images, and needs files"):
        report.to_fiftyone()

"""Discarded rows, new classes, and decisions that are carried over by ids."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from skpresto.audit import LabelReport
from skpresto.audit._page import About
from skpresto.audit._page.payload import fingerprint_of_report, payload, select_samples
from skpresto.audit._sources.base import fingerprint_of_file
from skpresto.audit._sources.images import fingerprint_of_folder, images_below
from skpresto.cli import main
from tests.audit.test_cli_apply import decision, names_below, write_decisions

DISCARD = {"decision": "discard"}


@pytest.fixture(autouse=True)
def in_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def apply(path, *options, out="c.csv"):
    return main(["apply", "d.json", str(path), "--out", out, *options])


def decided(made, path="t.csv", **about):
    """Write decisions of the present version about a file as it is now."""
    about = {"version": 3, "fingerprint": fingerprint_of_file(Path(path)), **about}
    write_decisions(made, **about)


def test_discarded_rows_are_left_out(capsys):
    Path("t.csv").write_bytes(b'x,label\r\n1,a\r\n"2\n2",b\r\n3,a\r\n4,b')
    decided([decision(1, "b", None, **DISCARD), decision(3, "b", None, **DISCARD)])
    assert apply("t.csv") == 0
    assert Path("c.csv").read_bytes() == b"x,label\r\n1,a\r\n3,a\r\n"
    assert "unsure and unchanged: 0. Discarded: 2." in capsys.readouterr().out


def test_discarded_rows_of_parquet_are_left_out():
    frame = pd.DataFrame({"x": [1.5, 2.5, 3.5], "label": ["a", "b", "a"]})
    frame.to_parquet("t.parquet")
    made = [decision(0, "a", None, **DISCARD), decision(2, "a", "b")]
    decided(made, "t.parquet")
    assert apply("t.parquet", out="c.parquet") == 0
    after = pd.read_parquet("c.parquet")
    assert after["label"].tolist() == ["b", "b"]
    assert after["x"].tolist() == [2.5, 3.5]


def test_row_to_discard_must_have_the_label_that_was_seen(capsys):
    Path("t.csv").write_text("label\na\nb\n")
    decided([decision(0, "b", None, **DISCARD)])
    assert apply("t.csv") == 1
    assert "has the label 'b', but it has 'a'" in capsys.readouterr().err


def test_classes_made_on_the_page_are_written(capsys):
    Path("t.csv").write_text("x,label\n1,a\n2,b\n")
    decided([decision(0, "a", "wasp")], new_classes=["wasp", "unused"])
    assert apply("t.csv") == 0
    assert Path("c.csv").read_text() == "x,label\n1,wasp\n2,b\n"
    assert "New classes: 'wasp'.\n" in capsys.readouterr().out
    decided([decision(0, "a", "wsap")], new_classes=["wasp"])
    assert apply("t.csv", "--force") == 1
    assert "which is no class of it" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["../up", "/tmp/x", ".hidden", "a\\b"])
def test_class_of_images_made_on_the_page_is_a_plain_name(name, capsys):
    for label in "ab":
        Path("p", label).mkdir(parents=True)
        Image.new("L", (2, 2)).save(Path("p", label, "1.png"))
    fingerprint = fingerprint_of_folder(Path("p"), images_below(Path("p")))
    about = {"kind": "images", "label": None, "fingerprint": fingerprint}
    write_decisions([decision(0, "a", name)], new_classes=[name], **about)
    assert main(["apply", "d.json", "p", "--move-to", "clean"]) == 1
    assert "is no name of a folder of images" in capsys.readouterr().err
    assert not Path("clean").exists()


BEFORE = "sku,size,label\nA1,1,a\nA2,2,b\nA3,3,a\nA4,4,b\nA5,5,a\n"
BY_ID = [
    decision(0, "a", "b", id="A1"),
    decision(1, "b", "a", id="A2"),
    decision(2, "a", "b", id="A3"),
    decision(3, "b", None, id="A4", **DISCARD),
    decision(4, "a", "a", id="A5"),
    decision(None, "a", "b", id="A9"),
]


def test_decisions_are_carried_over_to_corrected_and_reordered_rows(capsys):
    Path("t.csv").write_text(BEFORE)
    decided(BY_ID, id="sku")
    # In another order; A1 has been corrected, A3 has become something else.
    later = "size,sku,label\n5,A5,a\n3,A3,c\n2,A2,b\n4,A4,b\n1,A1,b\n"
    Path("later.csv").write_text(later)
    assert apply("later.csv") == 0
    expected = "size,sku,label\n5,A5,a\n3,A3,c\n2,A2,a\n1,A1,b\n"
    assert Path("c.csv").read_text() == expected
    told = capsys.readouterr().out
    assert "Labels changed: 1, kept: 2, unsure and unchanged: 0. Discarded: 1." in told
    assert "Left out, not in the data: 1 ('A9')." in told
    assert "nor the one that was decided: 1 ('A3')." in told


def test_rows_that_only_an_id_names_are_found_in_the_audited_file():
    Path("t.csv").write_text(BEFORE)
    decided([decision(None, "b", "a", id="A4")], id="sku")
    assert apply("t.csv") == 0
    assert Path("c.csv").read_text() == BEFORE.replace("4,b", "4,a")


def test_other_types_of_ids_are_found_as_the_audit_names_them():
    frame = pd.DataFrame({"id": [7.0, 12.0, np.nan], "label": ["a", "b", "a"]})
    frame.to_parquet("t.parquet")
    write_decisions(
        [decision(5, "b", "a", id="12")], version=3, id="id", fingerprint="old"
    )
    assert apply("t.parquet", out="c.parquet") == 0
    assert pd.read_parquet("c.parquet")["label"].tolist() == ["a", "a", "a"]


@pytest.mark.parametrize(
    ("later", "message"),
    [
        ("sku,label\nB1,a\nB2,b\n", "later.csv has none of the ids"),
        ("sku,label\nA1,a\nA1,b\n", "has the id 'A1' in 2 rows"),
        ("id,label\nA1,a\nA2,b\n", "later.csv has no column 'sku'"),
    ],
)
def test_file_of_other_ids_is_refused(later, message, capsys):
    Path("t.csv").write_text(BEFORE)
    decided(BY_ID, id="sku")
    Path("later.csv").write_text(later)
    assert apply("later.csv") == 1
    assert message in capsys.readouterr().err
    assert not Path("c.csv").exists()


def test_without_ids_other_data_is_refused(capsys):
    Path("t.csv").write_text(BEFORE)
    decided([decision(0, "a", "b")], id=None)
    Path("later.csv").write_text(BEFORE + "A6,6,a\n")
    assert apply("later.csv") == 1
    assert "it is other data, or was changed" in capsys.readouterr().err


def test_images_are_found_by_their_paths_in_a_folder_that_has_grown():
    for name in ("a/1.png", "a/2.png", "b/1.png"):
        Path("p", name).parent.mkdir(parents=True, exist_ok=True)
        Image.new("L", (2, 2)).save(Path("p", name))
    fingerprint = fingerprint_of_folder(Path("p"), images_below(Path("p")))
    made = [
        decision(1, "a", "b", id="a/2.png"),
        decision(2, "b", None, id="b/1.png", **DISCARD),
    ]
    about = {"kind": "images", "label": None, "id": "path", "version": 3}
    write_decisions(made, fingerprint=fingerprint, **about)
    Image.new("L", (2, 2)).save(Path("p", "a", "0.png"))
    assert main(["apply", "d.json", "p", "--move-to", "clean"]) == 0
    assert names_below(Path("clean")) == ["a/0.png", "a/1.png", "b/2.png"]


def report_with(index, y):
    labels = np.array(y, dtype=object)
    probability = np.tile([[0.9, 0.1], [0.1, 0.9]], (len(y) // 2, 1))
    X = pd.DataFrame({"x": np.arange(len(y))}, index=index)
    return LabelReport.from_probabilities(probability, labels, X=X)


def test_labels_of_a_report_in_memory_are_decided():
    report = report_with(None, [1, 2] * 20)
    fingerprint = fingerprint_of_report(report, About())
    made = [decision(0, "1", "2"), decision(1, "2", None, **DISCARD)]
    further = [decision(2, "1", None), decision(3, "2", "7")]
    write_decisions(
        [*made, *further], version=3, fingerprint=fingerprint, new_classes=["7"]
    )
    labels = report.decided_labels("d.json")
    assert labels.tolist() == [2, 1, 7, *[1, 2] * 18]
    assert labels.index.tolist() == [0, *range(2, 40)]
    other = report_with(None, [2, 1] * 20)
    with pytest.raises(ValueError, match="it is other data, or was changed"):
        other.decided_labels("d.json")


def test_labels_of_other_samples_are_decided_by_their_index():
    index = [f"A{i}" for i in range(40)]
    report = report_with(index, ["a", "b"] * 20)
    write_decisions(
        [decision(38, "a", "b", id="A38")], version=3, fingerprint="", id="index"
    )
    labels = report_with(index[::-1], ["b", "a"] * 20).decided_labels("d.json")
    assert labels["A38"] == "b"
    assert (report.decided_labels("d.json")[labels.index] == labels).all()


def test_page_of_a_report_with_an_index_has_ids_and_probabilities():
    report = report_with(pd.Index(range(100, 140), name="sku"), ["a", "b"] * 20)
    report.given[0] = 1
    about = About(ids=[str(i) for i in range(100, 140)], id_name="sku")
    data = payload(report, about, None, select_samples(report, 40))
    assert data["id"] == "sku"
    assert data["items"]["name"][0].startswith("100 · row 0")
    likely = data["items"]["likely"][0]
    assert likely[::2][0] == report.suggested[0]
    assert 990 <= sum(likely[1::2]) <= 1001
    assert fingerprint_of_report(report, about) == fingerprint_of_report(
        report, About()
    )


@pytest.mark.parametrize("option", [[], ["--id", "sku"]])
def test_ready_probabilities_have_the_ids_of_their_labels(option, capsys):
    frame = pd.DataFrame(
        {"sku": [f"A-{i:04}" for i in range(40)], "kind": ["a", "b"] * 20}
    )
    frame.to_csv("t.csv", index=False)
    np.save("p.npy", np.tile([[0.2, 0.8], [0.1, 0.9]], (20, 1)))
    command = ["audit", "p.npy", "--labels", "t.csv", "--label", "kind", *option]
    assert main([*command, "--out", "page.html"]) == 0
    page = Path("page.html").read_text(encoding="utf-8")
    assert '"id":"sku"' in page
    assert '"id":["A-00' in page
    assert main([*command, "--id", "suk", "--out", "other.html"]) == 1
    assert "has no column 'suk'. Did you mean 'sku'?" in capsys.readouterr().err


def test_a_time_is_shown_and_no_id(tmp_path):
    times = pd.date_range("2024-03-01", periods=40, freq="h")
    frame = pd.DataFrame({"seen": times, "kind": ["a", "b"] * 20})
    frame.to_csv("t.csv", index=False)
    np.save("p.npy", np.tile([[0.2, 0.8], [0.1, 0.9]], (20, 1)))
    command = ["audit", "p.npy", "--labels", "t.csv", "--label", "kind"]
    assert main([*command, "--out", "page.html"]) == 0
    page = Path("page.html").read_text(encoding="utf-8")
    assert '"id":null' in page
    assert "seen" in page

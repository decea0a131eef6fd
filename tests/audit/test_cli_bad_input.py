"""Every mistake on the command line gets one sentence, and leaves nothing behind."""

import json
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from skpresto.cli import main

TABLE = pd.DataFrame(
    {
        "width": range(30),
        "name": [f"n{i % 7}" for i in range(30)],
        "label": ["a", "b"] * 15,
    }
)


def write_csv(change=None, **options):
    frame = TABLE.copy()
    if change is not None:
        change(frame)
    frame.to_csv("t.csv", index=False, **options)


def write_text(text, encoding="utf-8"):
    Path("t.csv").write_text(text, encoding=encoding)


def set_labels(values):
    def change(frame):
        frame["label"] = values

    return change


def image(path, size=(8, 8)):
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size).save(path)


def two_folders_of_images():
    image("photos/a/1.png")
    image("photos/b/1.png")


#: Name, what to write, arguments, and words of the message.
CASES = [
    (
        "missing file",
        lambda: None,
        ["t.csv", "--label", "label"],
        "t.csv does not exist",
    ),
    (
        "empty file",
        lambda: write_text(""),
        ["t.csv", "--label", "label"],
        "t.csv is empty",
    ),
    (
        "only blank lines",
        lambda: write_text("\n\n  \n"),
        ["t.csv", "--label", "label"],
        "has no column 'label'|is empty",
    ),
    (
        "header only",
        lambda: write_text("width,label\n"),
        ["t.csv", "--label", "label"],
        "has a header but no rows",
    ),
    (
        "no label named",
        write_csv,
        ["t.csv"],
        "Pass --label COLUMN. The columns are 'width', 'name', 'label'.",
    ),
    (
        "misspelt label",
        write_csv,
        ["t.csv", "--label", "Lable"],
        "has no column 'Lable'. Did you mean 'label'?",
    ),
    (
        "misspelt text",
        write_csv,
        ["t.csv", "--label", "label", "--text", "nmae"],
        "has no column 'nmae'. Did you mean 'name'?",
    ),
    *(
        (
            f"two uses: {' '.join(options)}",
            write_csv,
            ["t.csv", "--label", "label", *options],
            "Column '.*' of t.csv is named twice. Name different columns by --label",
        )
        for options in (
            ["--text", "label"],
            ["--ignore", "label"],
            ["--text", "name", "--ignore", "name"],
            ["--id", "name", "--use", "name"],
        )
    ),
    (
        "unlike any column",
        write_csv,
        ["t.csv", "--label", "zzz"],
        "The columns are 'width', 'name', 'label'.",
    ),
    (
        "one class",
        lambda: write_csv(set_labels("a")),
        ["t.csv", "--label", "label"],
        "has one class, 'a', but an audit needs at least two",
    ),
    (
        "no labels",
        lambda: write_csv(set_labels(np.nan)),
        ["t.csv", "--label", "label"],
        "has no labeled rows",
    ),
    (
        "regression target",
        lambda: pd.DataFrame({"x": range(1000), "y": range(1000)}).to_csv(
            "t.csv", index=False
        ),
        ["t.csv", "--label", "y"],
        "has 1,000 different numbers, which looks like a regression target",
    ),
    (
        "fractions",
        lambda: write_csv(set_labels(np.arange(30) / 7)),
        ["t.csv", "--label", "label"],
        "30 different numbers, which looks like a regression",
    ),
    (
        "names as labels",
        lambda: write_csv(set_labels([f"person {i}" for i in range(30)])),
        ["t.csv", "--label", "label"],
        "most of them only once, so they are not classes",
    ),
    (
        "duplicate columns",
        lambda: write_text("a,a,label\n1,2,x\n3,4,y\n"),
        ["t.csv", "--label", "label"],
        "more than one column named 'a'. Rename",
    ),
    (
        "nothing to learn from",
        lambda: write_text("label\nx\ny\nx\ny\n"),
        ["t.csv", "--label", "label"],
        "has no column to learn from besides the label",
    ),
    (
        "only an identifier to learn from",
        lambda: write_csv(lambda frame: frame.pop("name")),
        ["t.csv", "--label", "label"],
        "besides the label 'label'. Column 'width' is not trained on: identifier",
    ),
    (
        "too many values in a line",
        lambda: write_text("a,label\n1,x\n2,y,3\n"),
        ["t.csv", "--label", "label"],
        "cannot be read as CSV with the separator ','",
    ),
    (
        "wrong encoding",
        lambda: write_text("größe,label\n1,x\n2,ü\n", "latin-1"),
        ["t.csv", "--label", "label"],
        "is not encoded as UTF-8 .* Pass its encoding, such as --encoding latin-1",
    ),
    (
        "wrong encoding further down",
        lambda: write_text("size,label\n1,x\n2,ü\n", "latin-1"),
        ["t.csv", "--label", "label"],
        "is not encoded as UTF-8",
    ),
    (
        "two bytes per character",
        lambda: write_text("size,label\n1,x\n2,y\n", "utf-16"),
        ["t.csv", "--label", "label"],
        "--encoding utf-16",
    ),
    (
        "unknown encoding",
        write_csv,
        ["t.csv", "--label", "label", "--encoding", "klingon"],
        "'klingon' is not an encoding",
    ),
    (
        "not Parquet",
        lambda: Path("t.parquet").write_text("label"),
        ["t.parquet", "--label", "label"],
        "cannot be read as Parquet",
    ),
    (
        "page exists",
        lambda: (write_csv(), Path("p.html").write_text("precious")),
        ["t.csv", "--label", "label", "--out", "p.html"],
        "p.html exists already. Pass --force",
    ),
    (
        "table exists",
        lambda: (write_csv(), Path("p.csv").write_text("precious")),
        ["t.csv", "--label", "label", "--table", "p.csv"],
        "p.csv exists already. Pass --force",
    ),
    (
        "page is a folder",
        lambda: (write_csv(), Path("p.html").mkdir()),
        ["t.csv", "--label", "label", "--out", "p.html"],
        "p.html is a folder",
    ),
    (
        "no such folder",
        write_csv,
        ["t.csv", "--label", "label", "--out", "nowhere/p.html"],
        "the folder nowhere does not exist",
    ),
    (
        "no images",
        lambda: Path("photos/a").mkdir(parents=True),
        ["photos"],
        "photos has no images in folders by class",
    ),
    ("one folder", lambda: image("photos/a/1.png"), ["photos"], "has one class, 'a'"),
    (
        "probabilities without labels",
        lambda: np.save("p.npy", np.ones((4, 2)) / 2),
        ["p.npy"],
        "probabilities, and an audit needs the labels as well. Pass --labels",
    ),
    (
        "more probabilities than labels",
        lambda: (np.save("p.npy", np.ones((4, 2)) / 2), write_csv()),
        ["p.npy", "--labels", "t.csv", "--label", "label"],
        "has 4 rows of probabilities, but t.csv has 30 labels",
    ),
    (
        "labels in one of several columns",
        lambda: (np.save("p.npy", np.ones((30, 2)) / 2), write_csv()),
        ["p.npy", "--labels", "t.csv"],
        "has 3 columns .* Pass --label to say which",
    ),
    (
        "classes without a column",
        lambda: (np.save("p.npy", np.ones((30, 3)) / 3), write_csv()),
        ["p.npy", "--labels", "t.csv", "--label", "label"],
        "has 3 columns, but the labels have 2 classes, among them 'a'. Name",
    ),
    (
        "not probabilities",
        lambda: (np.save("p.npy", np.ones((30, 2))), write_csv()),
        ["p.npy", "--labels", "t.csv", "--label", "label"],
        "rows that sum to 1",
    ),
    (
        "not a numpy file",
        lambda: (Path("p.npy").write_text("no"), write_csv()),
        ["p.npy", "--labels", "t.csv", "--label", "label"],
        "cannot be read as numpy file",
    ),
    (
        "no table of probabilities",
        lambda: (np.savez("p.npz", a=np.ones(3)), write_csv()),
        ["p.npz", "--labels", "t.csv", "--label", "label"],
        "shape .n_samples, n_columns. .* but has 0: .a. of shape .3,..",
    ),
    (
        "words as probabilities",
        lambda: (Path("p.csv").write_text("a,b\nx,y\n"), write_csv()),
        ["p.csv", "--labels", "t.csv", "--label", "label"],
        "needs one column of numbers per class",
    ),
]


@pytest.fixture(autouse=True)
def in_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def content_of(folder):
    return {
        path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


@pytest.mark.parametrize(
    ("prepare", "arguments", "message"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_mistake_gets_a_sentence(prepare, arguments, message, tmp_path, capsys):
    prepare()
    before = content_of(tmp_path)
    assert main(["audit", *arguments]) == 1
    shown = capsys.readouterr()
    last = shown.err.strip().splitlines()[-1]
    assert last.startswith("skpresto: error: ")
    check(last, message)
    assert "Traceback" not in shown.err
    assert content_of(tmp_path) == before


def check(text, pattern):
    assert re.search(pattern.replace("?", r"\?").replace("(", r"\("), text), text


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["audit"],
        ["adit", "t.csv"],
        ["audit", "t.csv", "--epochs", "0"],
        ["audit", "t.csv", "--epochs", "many"],
        ["audit", "t.csv", "--seed", "-1"],
        ["audit", "t.csv", "--top", "0"],
    ],
)
def test_wrong_arguments_exit_with_two(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert "usage: skpresto" in capsys.readouterr().err


@pytest.mark.skipif(os.getuid() == 0, reason="root may write anywhere")
def test_folder_without_permission_is_named(tmp_path, capsys):
    write_csv()
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    arguments = ["t.csv", "--label", "label", "--out", "closed/p.html"]
    assert main(["audit", *arguments]) == 1
    assert "no permission to write in" in capsys.readouterr().err


def test_permission_is_asked_for_before_work_begins(monkeypatch, capsys):
    write_csv()
    monkeypatch.setattr("skpresto.audit._safe_write.os.access", lambda *a: False)
    assert main(["audit", "t.csv", "--label", "label"]) == 1
    assert "no permission to write in" in capsys.readouterr().err


def test_interrupted_audit_leaves_nothing(monkeypatch, tmp_path, capsys):
    write_csv()

    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("skpresto.cli._audit.fit_report", interrupt)
    before = content_of(tmp_path)
    assert main(["audit", "t.csv", "--label", "label"]) == 130
    assert "stopped. Nothing was written." in capsys.readouterr().err
    assert content_of(tmp_path) == before


def test_disk_that_fills_up_leaves_nothing(monkeypatch, tmp_path, capsys):
    np.save("p.npy", np.tile([[0.9, 0.1], [0.1, 0.9]], (15, 1)))
    write_csv()
    before = content_of(tmp_path)

    def fail(*arguments):
        raise OSError(28, "No space left on device", "p.html")

    monkeypatch.setattr("skpresto.audit._safe_write.os.link", fail)
    arguments = ["--labels", "t.csv", "--label", "label", "--out", "p.html"]
    assert main(["audit", "p.npy", *arguments]) == 1
    assert "No space left on device: p.html" in capsys.readouterr().err
    assert content_of(tmp_path) == before


def test_force_replaces_the_page():
    np.save("p.npy", np.tile([[0.9, 0.1], [0.1, 0.9]], (15, 1)))
    write_csv()
    Path("p.html").write_text("old")
    arguments = ["--labels", "t.csv", "--label", "label", "--out", "p.html", "--force"]
    assert main(["audit", "p.npy", *arguments]) == 0
    assert "Label audit" in Path("p.html").read_text(encoding="utf-8")


def test_traceback_is_shown_on_request():
    with pytest.raises(FileNotFoundError):
        main(["audit", "t.csv", "--label", "x", "--traceback"])


def decisions(**changes):
    content = {
        "format": "skpresto decisions",
        "version": 1,
        "source": "t.csv",
        "kind": "table",
        "label": "label",
        "fingerprint": "0",
        "decisions": [],
        **changes,
    }
    Path("d.json").write_text(json.dumps(content))


APPLY_CASES = [
    ("no decisions", lambda: None, ["t.csv", "--out", "c.csv"], "No such file"),
    (
        "not JSON",
        lambda: Path("d.json").write_text("row,label"),
        ["t.csv", "--out", "c.csv"],
        "cannot be read as JSON",
    ),
    (
        "other JSON",
        lambda: Path("d.json").write_text("[1]"),
        ["t.csv", "--out", "c.csv"],
        "does not hold decisions. Export them",
    ),
    (
        "later version",
        lambda: decisions(version=4),
        ["t.csv", "--out", "c.csv"],
        "has version 4 of the format",
    ),
    (
        "damaged",
        lambda: decisions(decisions=[{"row": "x"}]),
        ["t.csv", "--out", "c.csv"],
        "is not complete, or was changed by hand",
    ),
    (
        "other file",
        decisions,
        ["t.csv", "--out", "c.csv"],
        "it is other data, or was changed since the audit",
    ),
    ("no output", decisions, ["t.csv"], "Pass --out"),
    ("no data", decisions, ["u.csv", "--out", "c.csv"], "u.csv does not exist"),
    ("same file", decisions, ["t.csv", "--out", "t.csv"], "t.csv is never overwritten"),
    (
        "folder for a table",
        lambda: (decisions(), two_folders_of_images()),
        ["photos"],
        "a table, but photos is a folder of images",
    ),
    (
        "table for a folder",
        lambda: decisions(kind="images"),
        ["t.csv", "--out", "c.csv"],
        "a folder of images, but t.csv is a table",
    ),
    (
        "other folder",
        lambda: (decisions(kind="images"), two_folders_of_images()),
        ["photos"],
        "it is other data",
    ),
]


@pytest.mark.parametrize(
    ("prepare", "arguments", "message"),
    [case[1:] for case in APPLY_CASES],
    ids=[case[0] for case in APPLY_CASES],
)
def test_mistake_in_apply_gets_a_sentence(
    prepare, arguments, message, tmp_path, capsys
):
    write_csv()
    prepare()
    before = content_of(tmp_path)
    assert main(["apply", "d.json", *arguments]) == 1
    check(capsys.readouterr().err, message)
    assert content_of(tmp_path) == before

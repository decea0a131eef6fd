"""``skpresto apply``: a copy of the data in which only decided labels differ."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from skpresto.audit._sources.base import fingerprint_of_file
from skpresto.audit._sources.images import fingerprint_of_folder, images_below
from skpresto.cli import main


@pytest.fixture(autouse=True)
def in_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write_decisions(made, **about):
    content = {
        "format": "skpresto decisions",
        "version": 1,
        "source": "t.csv",
        "kind": "table",
        "label": "label",
        "decisions": [
            {"row": row, "given": given, "label": label} for row, given, label in made
        ],
        **about,
    }
    Path("d.json").write_text(json.dumps(content), encoding="utf-8")


def apply_to_csv(raw, made, **options):
    Path("t.csv").write_bytes(raw)
    write_decisions(made, fingerprint=fingerprint_of_file(Path("t.csv")))
    arguments = [a for name, v in options.items() for a in (f"--{name}", v)]
    code = main(["apply", "d.json", "t.csv", "--out", "c.csv", *arguments])
    return Path("c.csv").read_bytes() if code == 0 else None


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_only_decided_cells_change(separator, end):
    lines = [
        'id,label,"a ""note"""',
        '1,cat,"two',
        'lines"',
        "",
        "007,dog, 1.50",
        "3,cat,",
    ]
    raw = end.join(lines).replace(",", separator).encode()
    changed = apply_to_csv(raw, [(1, "dog", "cat"), (2, "cat", "cat")])
    assert changed == raw.replace(b"dog", b"cat")


def test_byte_order_mark_and_other_encodings_are_kept():
    raw = "größe,label\n1,ä\n2,z\n"
    marked = apply_to_csv(b"\xef\xbb\xbf" + raw.encode(), [(1, "z", "ä")])
    assert marked == b"\xef\xbb\xbf" + raw.replace("z", "ä").encode()
    Path("c.csv").unlink()
    latin = apply_to_csv(raw.encode("latin-1"), [(1, "z", "ä")], encoding="latin-1")
    assert latin == raw.replace("z", "ä").encode("latin-1")


def test_label_with_separator_is_quoted():
    assert apply_to_csv(b"x,label\n1,a\n", [(0, "a", "b, c")]) == b'x,label\n1,"b, c"\n'


def test_unsure_and_kept_labels_stay(capsys):
    raw = b"x,label\n1,a\n2,b\n3,a\n"
    made = [(0, "a", None), (1, "b", "b"), (2, "a", "b")]
    assert apply_to_csv(raw, made) == b"x,label\n1,a\n2,b\n3,b\n"
    assert (
        "Labels changed: 1, kept: 1, unsure and unchanged: 1."
        in capsys.readouterr().out
    )


@pytest.mark.parametrize(("row", "given"), [(0, "z"), (9, "a")])
def test_decision_that_does_not_fit_its_row_is_refused(row, given, capsys):
    assert apply_to_csv(b"x,label\n1,a\n2,b\n", [(row, given, "b")]) is None
    assert "Nothing was written" in capsys.readouterr().err
    assert not Path("c.csv").exists()
    assert sorted(p.name for p in Path().iterdir()) == ["d.json", "t.csv"]


def test_existing_copy_is_replaced_only_by_force(capsys):
    Path("c.csv").write_text("precious")
    assert apply_to_csv(b"x,label\n1,a\n", [(0, "a", "b")]) is None
    assert Path("c.csv").read_text() == "precious"
    assert main(["apply", "d.json", "t.csv", "--out", "c.csv", "--force"]) == 0
    assert Path("c.csv").read_text() == "x,label\n1,b\n"


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series(["a", "b", None, "a"]),
        pd.Series([1, 2, 2, 1]),
        pd.Series([True, False, True, True]),
        pd.Series(["a", "b", "a", "b"], dtype="category"),
    ],
    ids=["text", "integer", "bool", "category"],
)
def test_parquet_keeps_types(labels):
    frame = pd.DataFrame({"x": [0.5, 1.5, 2.5, 3.5], "label": labels})
    frame.to_parquet("t.parquet")
    before = pd.read_parquet("t.parquet")
    fingerprint = fingerprint_of_file(Path("t.parquet"))
    first, second = str(labels[0]), str(labels[1])
    write_decisions([(0, first, second)], fingerprint=fingerprint)
    assert main(["apply", "d.json", "t.parquet", "--out", "c.parquet"]) == 0
    after = pd.read_parquet("c.parquet")
    assert after["label"].dtype == before["label"].dtype
    assert str(after["label"][0]) == second
    pd.testing.assert_frame_equal(after.iloc[1:], before.iloc[1:])


@pytest.fixture
def photos(tmp_path):
    for name in ["cat/1.png", "cat/2.png", "dog/1.png", "dog/3.png"]:
        path = tmp_path / "photos" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        pixels = np.random.RandomState(len(name)).randint(255, size=(4, 4, 3))
        Image.fromarray(pixels.astype(np.uint8)).save(path)
    folder = Path("photos")
    fingerprint = fingerprint_of_folder(folder, images_below(folder))
    made = [(0, "cat", "dog"), (3, "dog", "bird")]
    write_decisions(made, kind="images", label=None, fingerprint=fingerprint)
    return folder


def names_below(folder):
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*.png"))


def test_moves_of_images_are_listed_and_nothing_is_done(photos, capsys):
    before = names_below(photos)
    assert main(["apply", "d.json", "photos"]) == 0
    shown = capsys.readouterr().out
    assert "cat/1.png -> dog/1-from-cat.png" in shown
    assert "dog/3.png -> bird/3.png" in shown
    assert "Nothing was written" in shown
    assert names_below(photos) == before
    assert sorted(p.name for p in Path().iterdir()) == ["d.json", "photos"]


def test_images_are_copied_by_their_corrected_class(photos):
    before = names_below(photos)
    assert main(["apply", "d.json", "photos", "--move-to", "clean"]) == 0
    assert names_below(photos) == before
    expected = ["bird/3.png", "cat/2.png", "dog/1-from-cat.png", "dog/1.png"]
    assert names_below(Path("clean")) == expected
    moved = Path("clean/dog/1-from-cat.png").read_bytes()
    assert moved == (photos / "cat" / "1.png").read_bytes()


@pytest.mark.parametrize(
    ("folder", "message"),
    [
        ("clean", "exists already, and nothing is overwritten"),
        ("photos/x", "is inside"),
    ],
)
def test_images_are_never_copied_over_others(photos, folder, message, capsys):
    Path("clean").mkdir()
    assert main(["apply", "d.json", "photos", "--move-to", folder]) == 1
    assert message in capsys.readouterr().err


def test_interrupted_copy_leaves_nothing(photos, monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("skpresto.audit._apply.shutil.copy2", interrupt)
    assert main(["apply", "d.json", "photos", "--move-to", "clean"]) == 130
    assert sorted(p.name for p in Path().iterdir()) == ["d.json", "photos"]


@pytest.mark.parametrize(("row", "given"), [(0, "z"), (9, "a")])
def test_decision_that_does_not_fit_a_parquet_file_is_refused(row, given, capsys):
    pd.DataFrame({"label": ["a", "b"]}).to_parquet("t.parquet")
    fingerprint = fingerprint_of_file(Path("t.parquet"))
    write_decisions([(row, given, "b")], fingerprint=fingerprint)
    assert main(["apply", "d.json", "t.parquet", "--out", "c.parquet"]) == 1
    assert "Nothing was written" in capsys.readouterr().err


def test_decision_about_a_missing_column_names_the_nearest(capsys):
    Path("t.csv").write_text("x,label\n1,a\n")
    fingerprint = fingerprint_of_file(Path("t.csv"))
    write_decisions([(0, "a", "b")], fingerprint=fingerprint, label="lable")
    assert main(["apply", "d.json", "t.csv", "--out", "c.csv"]) == 1
    assert "Did you mean 'label'?" in capsys.readouterr().err


def test_image_that_is_in_another_class_by_now_is_refused(photos, capsys):
    folder = Path("photos")
    fingerprint = fingerprint_of_folder(folder, images_below(folder))
    write_decisions(
        [(0, "dog", "cat")], kind="images", label=None, fingerprint=fingerprint
    )
    assert main(["apply", "d.json", "photos"]) == 1
    assert "has the label 'dog', but it has 'cat'" in capsys.readouterr().err

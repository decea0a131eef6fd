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
    made = [m if isinstance(m, dict) else decision(*m) for m in made]
    content = {
        "format": "skpresto decisions",
        "version": 1,
        "source": "t.csv",
        "kind": "table",
        "label": "label",
        "decisions": made,
        **about,
    }
    Path("d.json").write_text(json.dumps(content), encoding="utf-8")


def decision(row, given, label, **further):
    return {"row": row, "given": given, "label": label, **further}


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
    copy = apply_to_csv(b"x,label\n1,a\n", [(0, "a", "b, c")], **{"new-class": "b, c"})
    assert copy == b'x,label\n1,"b, c"\n'


def test_unsure_and_kept_labels_stay(capsys):
    raw = b"x,label\n1,a\n2,b\n3,a\n"
    made = [(0, "a", None), (1, "b", "b"), (2, "a", "b")]
    assert apply_to_csv(raw, made) == b"x,label\n1,a\n2,b\n3,b\n"
    assert (
        "Labels changed: 1, kept: 1, unsure and unchanged: 1."
        in capsys.readouterr().out
    )


def respell(pairs):
    content = json.loads(Path("d.json").read_text())
    content["spellings"] = [{"given": a, "label": b} for a, b in pairs]
    Path("d.json").write_text(json.dumps(content | {"version": 2}))
    return main(["apply", "d.json", "t.csv", "--out", "c.csv", "--force"])


def test_spellings_are_written_as_their_class_unless_a_row_is_decided(capsys):
    raw = b"x,label\n1,cat\n2,Cat\n3, cat\n4,dog\n5,Cat\n"
    made = [(4, "Cat", "dog"), (1, "Cat", "Cat")]
    assert apply_to_csv(raw, made) == raw.replace(b"5,Cat", b"5,dog")
    assert respell([("Cat", "cat"), (" cat", "cat"), ("CAT", "cat")]) == 0
    changed = b"x,label\n1,cat\n2,cat\n3,cat\n4,dog\n5,dog\n"
    assert Path("c.csv").read_bytes() == changed
    assert "Labels changed: 3, kept: 1" in capsys.readouterr().out


def test_spellings_are_written_as_a_class_of_the_data(capsys):
    apply_to_csv(b"x,label\n1,cat\n2,Cat\n", [])
    assert respell([("Cat", "cta")]) == 1
    shown = capsys.readouterr().err
    assert "rows with the label 'Cat' of t.csv the label 'cta'" in shown
    assert "Did you mean 'cat'?" in shown


@pytest.mark.parametrize(("row", "given"), [(0, "z"), (9, "a")])
def test_decision_that_does_not_fit_its_row_is_refused(row, given, capsys):
    assert apply_to_csv(b"x,label\n1,a\n2,b\n", [(row, given, "b")]) is None
    assert "Nothing was written" in capsys.readouterr().err
    assert not Path("c.csv").exists()
    assert sorted(p.name for p in Path().iterdir()) == ["d.json", "t.csv"]


def test_existing_copy_is_replaced_only_by_force(capsys):
    Path("c.csv").write_text("precious")
    assert apply_to_csv(b"x,label\n1,a\n2,b\n", [(0, "a", "b")]) is None
    assert Path("c.csv").read_text() == "precious"
    assert main(["apply", "d.json", "t.csv", "--out", "c.csv", "--force"]) == 0
    assert Path("c.csv").read_text() == "x,label\n1,b\n2,b\n"


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
    assert main(["apply", "d.json", "photos", "--new-class", "bird"]) == 0
    shown = capsys.readouterr().out
    assert "cat/1.png -> dog/1-from-cat.png" in shown
    assert "dog/3.png -> bird/3.png" in shown
    assert "Nothing was written" in shown
    assert names_below(photos) == before
    assert sorted(p.name for p in Path().iterdir()) == ["d.json", "photos"]


def test_images_are_copied_by_their_corrected_class(photos):
    before = names_below(photos)
    arguments = ["--move-to", "clean", "--new-class", "bird"]
    assert main(["apply", "d.json", "photos", *arguments]) == 0
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
    arguments = ["--move-to", folder, "--new-class", "bird"]
    assert main(["apply", "d.json", "photos", *arguments]) == 1
    assert message in capsys.readouterr().err


def test_interrupted_copy_leaves_nothing(photos, monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("skpresto.audit._apply.shutil.copy2", interrupt)
    arguments = ["--move-to", "clean", "--new-class", "bird"]
    assert main(["apply", "d.json", "photos", *arguments]) == 130
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


NO_CLASS = (
    "gives row 0 of {path} the label 'dgo', which is no class of it. Did you mean "
    "'dog'? Correct the decision, or pass --new-class dgo if it is a new class. "
    "Nothing was written."
)


@pytest.mark.parametrize("kind", ["csv", "parquet", "folder"])
def test_class_that_does_not_exist_is_refused_unless_it_is_called_new(
    kind, tmp_path, capsys
):
    frame = pd.DataFrame({"label": pd.Series(["cat", "dog"], dtype="category")})
    path, out, about = Path(f"t.{kind}"), "--out", {}
    if kind == "csv":
        frame.to_csv(path, index=False)
    elif kind == "parquet":
        frame.to_parquet(path)
    else:
        path, out, about = Path("p"), "--move-to", {"kind": "images", "label": None}
        for name in ("cat", "dog"):
            (path / name).mkdir(parents=True)
            Image.new("L", (2, 2)).save(path / name / "1.png")
    of_folder = kind == "folder" and fingerprint_of_folder(path, images_below(path))
    fingerprint = of_folder or fingerprint_of_file(path)
    write_decisions([(0, "cat", "dgo")], fingerprint=fingerprint, **about)
    arguments = ["apply", "d.json", str(path), out, f"c.{kind}"]
    assert main(arguments) == 1
    assert NO_CLASS.format(path=path) in capsys.readouterr().err
    assert not Path(f"c.{kind}").exists()
    assert main([*arguments, "--new-class", "dgo"]) == 0
    if kind == "csv":
        assert pd.read_csv("c.csv")["label"].tolist() == ["dgo", "dog"]
    elif kind == "parquet":
        labels = pd.read_parquet("c.parquet")["label"]
        assert labels.tolist() == ["dgo", "dog"]
        assert labels.cat.categories.tolist() == ["cat", "dog", "dgo"]
    else:
        assert names_below(Path("c.folder")) == ["dgo/1.png", "dog/1.png"]


def test_all_classes_are_named_if_none_is_near(capsys):
    assert apply_to_csv(b"label\ncat\ndog\n", [(0, "cat", "zebra")]) is None
    assert "The classes are 'cat', 'dog'." in capsys.readouterr().err


def test_missing_labels_are_no_class(capsys):
    assert apply_to_csv(b"x,label\n1,cat\n2,NaN\n", [(0, "cat", "NaN")]) is None
    assert "the label 'NaN', which is no class of it" in capsys.readouterr().err


def test_new_class_must_be_of_the_type_of_the_labels(capsys):
    pd.DataFrame({"label": [1, 2]}).to_parquet("t.parquet")
    fingerprint = fingerprint_of_file(Path("t.parquet"))
    command = ["apply", "d.json", "t.parquet", "--out", "c.parquet"]
    write_decisions([(0, "1", "x")], fingerprint=fingerprint)
    assert main([*command, "--new-class", "x"]) == 1
    assert "Failed to parse string: 'x'" in capsys.readouterr().err
    write_decisions([(0, "1", "3")], fingerprint=fingerprint)
    assert main([*command, "--new-class", "3"]) == 0
    assert pd.read_parquet("c.parquet")["label"].tolist() == [3, 2]


@pytest.mark.parametrize("name", ["..", "a/b", ".x", "/tmp"])
def test_new_class_of_images_must_be_a_plain_name(photos, name, capsys):
    arguments = ["--move-to", "clean", "--new-class", name]
    assert main(["apply", "d.json", "photos", *arguments]) == 1
    assert "is no name of a folder of images" in capsys.readouterr().err


def test_images_never_replace_each_other(photos, capsys):
    for name in ("dog/1-from-cat.png", "dog/1-from-cat-from-cat.png"):
        Image.new("L", (2, 2)).save(photos / name)
    fingerprint = fingerprint_of_folder(photos, images_below(photos))
    about = {"kind": "images", "label": None, "fingerprint": fingerprint}
    write_decisions([(0, "cat", "dog")], **about)
    assert main(["apply", "d.json", "photos", "--move-to", "clean"]) == 0
    assert len(names_below(Path("clean"))) == 6


def test_mistyped_column_is_told_before_an_existing_copy(capsys):
    Path("t.csv").write_text("x,label\n1,a\n")
    Path("c.csv").write_text("precious")
    fingerprint = fingerprint_of_file(Path("t.csv"))
    write_decisions([(0, "a", "b")], fingerprint=fingerprint, label="lable")
    assert main(["apply", "d.json", "t.csv", "--out", "c.csv"]) == 1
    assert "has no column 'lable'. Did you mean 'label'?" in capsys.readouterr().err


@pytest.mark.parametrize("rows", [(0, 0), (-1,), (0.5,)])
def test_rows_that_no_page_exports_are_refused(rows, capsys):
    labels = iter("bcd")
    made = [(row, "a", next(labels)) for row in rows]
    assert apply_to_csv(b"label\na\nb\nc\na\n", made) is None
    assert "is not complete, or was changed by hand" in capsys.readouterr().err


def test_output_of_the_other_kind_is_refused(photos, capsys):
    assert main(["apply", "d.json", "photos", "--out", "clean"]) == 1
    assert "Pass --move-to FOLDER in place of --out." in capsys.readouterr().err


def test_encoding_that_does_not_fit_is_told(capsys):
    raw = "größe,label\n1,ä\n2,z\n".encode("latin-1")
    assert apply_to_csv(raw, [(1, "z", "ä")]) is None
    assert "Pass its encoding, such as --encoding latin-1" in capsys.readouterr().err
    raw = ("size,label\n" + "1,z\n" * 9000 + "1,ä\n").encode("latin-1")
    Path("t.csv").unlink()
    assert apply_to_csv(raw, [(1, "z", "z")]) is None
    assert "--encoding latin-1" in capsys.readouterr().err

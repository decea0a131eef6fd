"""``skpresto audit``: from files to a page and a table."""

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from sklearn.datasets import make_blobs

from skpresto.cli import main

ROW_COLUMNS = ["row", "given", "suggested", "quality", "is_safe"]
FEW_EPOCHS = ["--quick", "--epochs", "4"]


@pytest.fixture(autouse=True)
def in_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def flowers():
    """A table of mixed columns in which 40 of 600 labels are wrong."""
    rng = np.random.RandomState(0)
    X, y = make_blobs(n_samples=600, centers=3, cluster_std=0.7, random_state=0)
    frame = pd.DataFrame(X, columns=["width", "height"])
    frame["color"] = np.array(["red", "blue", "white"])[y]
    frame["seen"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(
        rng.randint(90, size=600), unit="D"
    )
    frame["note"] = [f"<script>alert({i})</script> near the pond" for i in range(600)]
    frame.loc[::17, "width"] = np.nan
    frame.loc[::23, "color"] = None
    given = y.copy()
    is_wrong = rng.permutation(600) < 40
    given[is_wrong] = (given[is_wrong] + 1) % 3
    frame["species"] = np.array(["setosa", "<b>versicolor</b>", "virginica"])[given]
    return frame


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_csv_gives_a_page_a_table_and_a_summary(flowers, capsys, tmp_path):
    flowers.to_csv("train.csv", index=False)
    arguments = ["--label", "species", "--out", "p.html", "--table", "t.csv", "--quick"]
    assert main(["audit", "train.csv", *arguments]) == 0
    shown = capsys.readouterr().out
    assert "600 labels of 3 classes, about" in shown
    assert str(tmp_path / "p.html") in shown
    rows = rows_of("t.csv")
    assert list(rows[0]) == ROW_COLUMNS
    assert [int(row["row"]) for row in rows] == list(range(600))
    assert [row["given"] for row in rows] == flowers["species"].tolist()
    lowest = np.argsort([float(row["quality"]) for row in rows])[:40]
    colors = {"red": "setosa", "blue": "<b>versicolor</b>", "white": "virginica"}
    found = flowers.loc[lowest].dropna()
    assert np.mean(found["species"] != found["color"].map(colors)) >= 0.8
    page = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
    assert "&lt;b&gt;versicolor&lt;/b&gt;" in page


def test_cross_fitting_is_the_default(flowers, capsys):
    flowers.to_csv("train.csv", index=False)
    assert main(["audit", "train.csv", "--label", "species", "--epochs", "4"]) == 0
    with open("train-audit.html", encoding="utf-8") as page:
        assert "CrossPrestoppingClassifier" in page.read()


def test_parquet_is_read_as_csv_is(flowers):
    flowers.to_csv("train.csv", index=False)
    flowers.to_parquet("train.parquet")
    for name in ("train.csv", "train.parquet"):
        arguments = [
            "--label",
            "species",
            "--out",
            f"{name}.html",
            "--table",
            f"{name}.t",
        ]
        assert main(["audit", name, *arguments, *FEW_EPOCHS]) == 0
    labels = [
        [r["given"] for r in rows_of(f"{n}.t")] for n in ("train.csv", "train.parquet")
    ]
    assert labels[0] == labels[1]


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_other_separators_are_recognized(flowers, separator):
    flowers.to_csv("train.csv", index=False, sep=separator)
    assert main(["audit", "train.csv", "--label", "species", *FEW_EPOCHS]) == 0


def test_rows_without_label_are_left_out_and_listed(flowers, capsys):
    flowers.loc[[3, 7], "species"] = None
    flowers.to_csv("train.csv", index=False)
    arguments = ["--label", "species", "--table", "t.csv", *FEW_EPOCHS]
    assert main(["audit", "train.csv", *arguments]) == 0
    assert (
        "2 not audited: row 3 (no label), row 7 (no label)" in capsys.readouterr().out
    )
    rows = rows_of("t.csv")
    assert len(rows) == 600
    assert (rows[3]["given"], rows[3]["quality"]) == ("", "")
    assert rows[4]["given"] == flowers["species"][4]


def test_classes_named_na_and_none_are_classes(flowers):
    flowers["species"] = np.where(flowers["species"] == "setosa", "NA", "None")
    flowers.to_csv("train.csv", index=False)
    arguments = ["--label", "species", "--table", "t.csv", *FEW_EPOCHS]
    assert main(["audit", "train.csv", *arguments]) == 0
    assert {row["given"] for row in rows_of("t.csv")} == {"NA", "None"}


def test_row_numbers_and_ignored_columns_are_not_used(flowers, capsys):
    flowers.to_csv("train.csv")  # with an index
    arguments = ["--label", "species", "--ignore", "note", *FEW_EPOCHS]
    assert main(["audit", "train.csv", *arguments]) == 0
    shown = capsys.readouterr().out
    assert "Column 'Unnamed: 0' is not trained on: identifier (row numbers)." in shown


def test_spellings_are_told_and_trained_on_as_their_class(flowers, capsys):
    spelled = flowers["species"].astype(object)
    spelled[:9] = [f"{label} " for label in spelled[:9]]
    flowers["species"] = spelled
    flowers.to_csv("train.csv", index=False)
    arguments = ["audit", "train.csv", "--label", "species", "--table", "t.csv"]
    assert main([*arguments, *FEW_EPOCHS]) == 0
    shown = capsys.readouterr().out
    assert "600 labels of 3 classes" in shown
    assert "Note: 9 labels in 3 spellings of 3 classes" in shown
    assert [row["given"] for row in rows_of("t.csv")] == spelled.tolist()
    with open("train-audit.html", encoding="utf-8") as page:
        text = page.read()
    assert "<code>setosa␣</code>" in text
    assert "<code>&lt;b&gt;versicolor&lt;/b&gt;␣</code>" in text
    kept = [*arguments, *FEW_EPOCHS, "--labels-as-given", "--force"]
    assert main(kept) == 0
    assert "600 labels of 6 classes" in capsys.readouterr().out


def test_identifiers_head_the_cards_unless_they_are_used(flowers, capsys):
    flowers["file"] = [f"IMG_{i:05}" for i in range(600)]
    flowers.to_csv("train.csv", index=False)
    arguments = ["audit", "train.csv", "--label", "species", *FEW_EPOCHS]
    assert main([*arguments, "--ignore", "note"]) == 0
    assert "'file' is not trained on: identifier" in capsys.readouterr().out
    with open("train-audit.html", encoding="utf-8") as page:
        text = page.read()
    assert re.search(r"IMG_00(\d{3}) · row 0*\1\b", text) or re.search(
        r"IMG_000(\d{2}) · row \1\b", text
    )
    assert "is not trained on: identifier (numbered names)" in text
    forced = ["--use", "file", "--id", "seen", "--ignore", "note", "--force"]
    assert main([*arguments, *forced]) == 0
    assert "Column 'seen' is not trained on: it names" in capsys.readouterr().out
    with open("train-audit.html", encoding="utf-8") as page:
        assert re.search(r"\d{4}-\d{2}-\d{2} · row \d", page.read())


def test_answers_of_the_control_sample_narrow_the_numbers(tmp_path, capsys):
    rng = np.random.RandomState(0)
    y = rng.randint(3, size=400)
    is_wrong = rng.uniform(size=400) < 0.2
    names = np.array(["ant", "bee", "cat"])
    given = names[np.where(is_wrong, (y + 1) % 3, y)]
    scores = rng.normal(size=(400, 3)) + 3 * np.eye(3)[y]
    np.save("p.npy", np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True))
    pd.DataFrame({"kind": given}).to_csv("y.csv", index=False)
    audit = ["audit", "p.npy", "--labels", "y.csv", "--label", "kind", "--force"]
    assert main(audit) == 0
    before = capsys.readouterr().out
    assert "no label was checked" in before
    page = Path("p-audit.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])
    rows = [data["items"]["row"][item] for item in data["controls"][:50]]
    made = [
        {"row": r, "given": given[r], "label": given[r], "wrong": bool(is_wrong[r])}
        for r in rows
    ]
    unsure = {"row": 399, "given": given[399], "label": None, "wrong": None}
    content = {
        **{"format": "skpresto decisions", "version": 1, "source": "p.npy"},
        **{"kind": "table", "label": "kind", "fingerprint": data["fingerprint"]},
    }
    Path("d.json").write_text(json.dumps({**content, "decisions": [*made, unsure]}))
    assert main([*audit, "--checked", "d.json", "--threshold", "0.3"]) == 0
    after = capsys.readouterr().out
    assert "rest on 50 labels checked by hand" in after
    numbers = [
        [int(n) for n in re.search(r"about (\d+) wrong .(\d+) to (\d+)", text).groups()]
        for text in (before, after)
    ]
    assert numbers[1][2] - numbers[1][1] < numbers[0][2] - numbers[0][1]
    assert numbers[1][1] <= is_wrong.sum() <= numbers[1][2]
    n_suspects = [
        int(re.search(r"(\d+) labels are suspects", text)[1])
        for text in (before, after)
    ]
    assert n_suspects[1] < n_suspects[0]
    Path("none.json").write_text(json.dumps({**content, "decisions": []}))
    assert main([*audit, "--checked", "none.json"]) == 1
    assert "no answers to the control sample" in capsys.readouterr().err


def test_text_column_is_learned_from_and_shown(capsys):
    rng = np.random.RandomState(0)
    words = {"good": ["great", "lovely", "superb"], "bad": ["awful", "broken", "poor"]}
    labels = rng.choice(["good", "bad"], size=200)
    texts = [
        " ".join(rng.choice(words[label], 5)) + f" no {i}"
        for i, label in enumerate(labels)
    ]
    given = labels.copy()
    given[:10] = np.where(labels[:10] == "good", "bad", "good")
    pd.DataFrame({"comment": texts, "stars": given}).to_csv("r.csv", index=False)
    arguments = ["--label", "stars", "--text", "comment", "--table", "t.csv", "--quick"]
    assert main(["audit", "r.csv", *arguments]) == 0
    lowest = np.argsort([float(row["quality"]) for row in rows_of("t.csv")])[:10]
    assert np.mean(lowest < 10) >= 0.7
    with open("r-audit.html", encoding="utf-8") as page:
        assert texts[lowest[0]] in page.read()


def test_probabilities_need_no_training(probabilities, capsys):
    probability, y = probabilities
    np.save("p.npy", probability)
    pd.DataFrame({"y": y}).to_csv("y.csv", index=False)
    assert main(["audit", "p.npy", "--labels", "y.csv", "--table", "t.csv"]) == 0
    rows = rows_of("t.csv")
    assert [row["given"] for row in rows] == [str(label) for label in y]
    lowest = np.argsort([float(row["quality"]) for row in rows])[:12]
    assert np.mean(lowest < 12) > 0.5


@pytest.mark.parametrize("ending", ["npz", "csv"])
def test_probabilities_may_name_their_classes(probabilities, ending):
    probability, y = probabilities
    names = np.array(["c", "a", "b"])  # not in the order of the alphabet
    if ending == "npz":
        np.savez("p.npz", pred_proba=probability, classes=names)
    else:
        pd.DataFrame(probability, columns=names).to_csv("p.csv", index=False)
    np.save("y.npy", names[y])
    arguments = ["--labels", "y.npy", "--table", "t.csv"]
    assert main(["audit", f"p.{ending}", *arguments]) == 0
    rows = rows_of("t.csv")
    assert np.mean([r["suggested"] == r["given"] for r in rows[12:]]) > 0.9


@pytest.fixture
def photos(tmp_path):
    """Bright and dark images of mixed sizes and modes, two of them misfiled."""
    rng = np.random.RandomState(0)
    for i in range(60):
        is_bright = i % 2 == 0
        name = "night" if is_bright == (i < 2) else "day"
        side = 20 + i % 30
        level = 200 if is_bright else 20
        pixels = (level + rng.randint(40, size=(side, side + 3, 3))).astype(np.uint8)
        image = Image.fromarray(pixels).convert(
            ["RGB", "L", "RGBA", "P", "CMYK"][i % 5]
        )
        folder = tmp_path / "photos" / name
        folder.mkdir(parents=True, exist_ok=True)
        image.save(folder / f"{i:02}.{'jpg' if i % 5 == 4 else 'png'}")
    return tmp_path / "photos"


def test_image_folder_gives_a_page_with_thumbnails(photos, tmp_path, capsys):
    (photos / "day" / "notes.txt").write_text("not an image")
    (photos / "day" / "broken.png").write_bytes(b"\x89PNG not really")
    whole = (photos / "day" / "04.jpg").read_bytes()
    (photos / "night" / "cut.jpg").write_bytes(whole[: len(whole) // 2])
    arguments = ["--out", "p.html", "--table", "t.csv", *FEW_EPOCHS]
    assert main(["audit", "photos", *arguments]) == 0
    shown = capsys.readouterr().out
    assert "60 labels of 2 classes" in shown
    assert "3 not audited: day/notes.txt (not an image)" in shown
    assert "data:image/jpeg;base64," in (tmp_path / "p.html").read_text(
        encoding="utf-8"
    )
    rows = rows_of("t.csv")
    assert len(rows) == 62
    assert rows[0]["row"] == "day/01.png"


def test_same_seed_gives_the_same_table(flowers):
    flowers.to_csv("train.csv", index=False)
    for name in ("a", "b"):
        arguments = [
            "--label",
            "species",
            "--table",
            f"{name}.csv",
            "--out",
            f"{name}.html",
        ]
        assert main(["audit", "train.csv", *arguments, *FEW_EPOCHS]) == 0
    with open("a.csv") as a, open("b.csv") as b:
        assert a.read() == b.read()


@pytest.mark.parametrize("command", ["--help", "audit --help", "apply --help"])
def test_help_is_shown_without_loading_anything_heavy(command):
    code = (
        "import sys; from skpresto.cli import main\n"
        f"try: main({command.split()!r})\n"
        "except SystemExit as stop: assert stop.code == 0\n"
        "heavy = {'torch', 'pandas', 'sklearn', 'skrub', 'rich', 'numpy'}\n"
        "heavy &= set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert "skpresto" in run.stdout


def test_module_runs_as_a_program():
    run = subprocess.run(
        [sys.executable, "-m", "skpresto", "--version"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stdout.count(".")) == (0, 2)


def test_page_of_digits_finds_wrong_labels_and_stays_small(tmp_path):
    from sklearn.datasets import load_digits
    from sklearn.metrics import average_precision_score

    from skpresto.noise import PairNoise

    rng = np.random.RandomState(0)
    X, y = load_digits(return_X_y=True)
    rows = rng.randint(len(X), size=3000)
    names = np.array([f"digit {i}" for i in range(10)])
    pixels = np.clip(X[rows] + rng.normal(size=(3000, 64)), 0, 16).round()
    frame = pd.DataFrame(pixels).add_prefix("pixel ")
    frame["note"] = [f"<script>alert({i % 97})</script>" for i in range(3000)]
    frame["digit"] = names[PairNoise(0.4, random_state=0).fit_transform(y[rows])]
    frame.to_csv("digits.csv", index=False)
    arguments = ["--label", "digit", "--quick", "--table", "t.csv", "--out", "p.html"]
    assert main(["audit", "digits.csv", *arguments]) == 0
    quality = [float(row["quality"]) for row in rows_of("t.csv")]
    is_wrong = frame["digit"] != names[y[rows]]
    assert average_precision_score(is_wrong, -np.array(quality)) >= 0.97
    page = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert len(page) < 6_000_000
    assert "<script>alert" not in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "https://" not in page


def test_many_classes_are_summed_up_in_the_terminal(capsys):
    rng = np.random.RandomState(0)
    y = rng.randint(30, size=900)
    np.save("p.npy", 0.001 + 0.97 * np.eye(30)[y])
    np.save("y.npy", y)
    assert main(["audit", "p.npy", "--labels", "y.npy"]) == 0
    assert "18 more classes" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("package", "words"), [("rich.console", "needs rich"), ("jinja2", "needs Jinja2")]
)
def test_missing_package_is_named(package, words, probabilities, monkeypatch, capsys):
    from skpresto.audit._page import render

    render._template.cache_clear()
    monkeypatch.setitem(sys.modules, package, None)
    np.save("p.npy", probabilities[0])
    np.save("y.npy", probabilities[1])
    assert main(["audit", "p.npy", "--labels", "y.npy"]) == 1
    shown = capsys.readouterr().err
    assert words in shown
    assert "skpresto[audit]" in shown


WITHOUT_PANDAS = """
import sys
sys.modules["pandas"] = None
import numpy as np
from skpresto.audit import LabelReport
from skpresto.cli import main
report = LabelReport.from_probabilities([[0.9, 0.1], [0.2, 0.8]], [0, 1])
try:
    report.to_html("page.html")
except ImportError as error:
    print(error)
sys.exit(main(["audit", "table.csv", "--label", "x"]))
"""


def test_without_the_extra_every_way_to_a_page_says_how_to_install_it(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_PANDAS],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    for text in (done.stdout, done.stderr):
        assert "needs pandas. Install it with" in text
        assert "Traceback" not in text


WITHOUT_TORCH = """
import sys
from importlib.machinery import PathFinder
class Finder(PathFinder):
    @classmethod
    def find_spec(cls, name, *args):
        absent = ("torch", "skorch", "filelock", "tqdm")
        return None if name in absent else super().find_spec(name, *args)
sys.meta_path[sys.meta_path.index(PathFinder)] = Finder
import skpresto
from skpresto.cli import main
try:
    skpresto.DefaultClassifier
except ImportError as error:
    print(error)
command = ["audit", "t.csv", "--label", "kind"]
assert main(command) == main([*command, "--quick", "--epochs", "3"]) == 1
"""


def test_without_torch_a_network_is_refused_before_a_long_wait(tmp_path):
    lines = [f"{i / 7},{'ab'[i % 2]}" for i in range(30)]
    (tmp_path / "t.csv").write_text("\n".join(["x,kind", *lines]))
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "DefaultClassifier needs torch, which is not installed" in done.stdout
    assert done.stderr.count("needs torch, which is not installed. Install it") == 2
    assert done.stderr.count("Or pass --quick without --epochs") == 2
    assert "Preparing" not in done.stderr

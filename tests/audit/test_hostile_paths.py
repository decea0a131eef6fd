"""Whatever paths are given: inputs never change, outputs are whole or not there."""

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import skpresto
from skpresto.audit import LabelReport, _same_file
from skpresto.audit._safe_write import UNFINISHED, whole_file, write_texts
from skpresto.audit._same_file import same_file
from skpresto.audit._sources.base import fingerprint_of_file
from skpresto.cli import main

AUDIT = ["audit", "p.npy", "--labels", "t.csv", "--label", "label"]
APPLY = ["apply", "d.json", "t.csv"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Probabilities, labels and decisions, in a folder with a link and a subfolder."""
    monkeypatch.chdir(tmp_path)
    np.save("p.npy", np.tile([[0.9, 0.1], [0.1, 0.9]], (15, 1)))
    frame = pd.DataFrame({"x": range(30), "label": ["a", "b"] * 15})
    frame.to_csv("t.csv", index=False)
    decisions = {
        "format": "skpresto decisions",
        "version": 1,
        "source": "t.csv",
        "kind": "table",
        "label": "label",
        "fingerprint": fingerprint_of_file(Path("t.csv")),
        "decisions": [{"row": 0, "given": "a", "label": "b"}],
    }
    Path("d.json").write_text(json.dumps(decisions))
    Path("sub").mkdir()
    Path("link").symlink_to("sub")
    return tmp_path


def content_of(folder):
    return {
        path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def symbolic(name):
    Path("other").symlink_to(name)
    return "other"


def hard(name):
    os.link(name, "other")
    return "other"


def chain(name):
    Path("sub/first").symlink_to(Path(name).absolute())
    Path("other").symlink_to("link/first")
    return "other"


def upper(name):
    if not Path(name.upper()).exists():
        pytest.skip("this file system tells upper from lower case")
    return name.upper()


#: Another name of a file in this folder.
NAMES = {
    "the same": str,
    "absolute": os.path.abspath,
    "relative": lambda name: f"sub/../{name}",
    "by a linked folder": lambda name: f"link/../{name}",
    "symbolic link": symbolic,
    "hard link": hard,
    "link to a link": chain,
    "upper case": upper,
}


@pytest.mark.parametrize("again", NAMES.values(), ids=NAMES)
@pytest.mark.parametrize(
    ("command", "option", "name", "argument"),
    [
        (AUDIT, "--out", "p.npy", "DATA"),
        (AUDIT, "--table", "p.npy", "DATA"),
        (AUDIT, "--out", "t.csv", "--labels"),
        (AUDIT, "--table", "t.csv", "--labels"),
        (APPLY, "--out", "t.csv", "DATA"),
        (APPLY, "--out", "d.json", "DECISIONS"),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_input_is_never_an_output(
    command, option, name, argument, again, folder, capsys
):
    out = again(name)
    before = content_of(folder)
    assert main([*command, option, out, "--force"]) == 1
    said = f"error: {option} {out} is the same file as {argument}: {name} is never"
    assert said in capsys.readouterr().err
    assert content_of(folder) == before


def test_table_that_is_audited_is_not_overwritten(folder, capsys):
    before = content_of(folder)
    options = ["--label", "label", "--table", "t.csv", "--force"]
    assert main(["audit", "t.csv", *options]) == 1
    assert (
        "--table t.csv is the same file as DATA: t.csv is never overwritten. Choose "
        "another name for --table." in capsys.readouterr().err
    )
    assert content_of(folder) == before


@pytest.mark.parametrize(
    "second", ["a", "sub/../a", "link/../sub/../a", "dangling", "copy"]
)
@pytest.mark.parametrize("exists", [False, True])
def test_two_outputs_are_two_files(second, exists, folder, capsys):
    Path("dangling").symlink_to("a")
    if exists or second == "copy":
        Path("a").write_text("precious")
        os.link("a", "copy")
    before = content_of(folder)
    assert main([*AUDIT, "--out", "a", "--table", second, "--force"]) == 1
    assert (
        f"--table {second} is the same file as --out a, so that one would replace the "
        "other. Choose another name for --table." in capsys.readouterr().err
    )
    assert content_of(folder) == before


def test_default_page_is_an_output_too(folder, capsys):
    assert main([*AUDIT, "--table", "p-audit.html"]) == 1
    assert "is the same file as --out p-audit.html" in capsys.readouterr().err


def test_image_is_never_an_output(folder, capsys):
    for name in ("a/1.png", "a/2.png", "b/1.png", "b/2.png"):
        Path("photos", name).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (8, 8)).save(f"photos/{name}")
    os.link("photos/b/1.png", "page.html")
    before = content_of(folder)
    assert main(["audit", "photos", "--out", "page.html", "--force"]) == 1
    said = capsys.readouterr().err
    assert "is the same file as an image of DATA: photos/b/1.png is never" in said
    assert content_of(folder) == before


def test_files_that_differ_are_told_apart(folder):
    Path("a").write_text("")
    Path("sub/a").write_text("")
    for other in ("sub/a", "b", "sub/b", "nowhere/a", "A1"):
        assert not same_file(Path("a"), Path(other)), other
    assert not same_file(Path("nowhere/a"), Path("elsewhere/a"))
    assert same_file(Path("nowhere/a"), Path("nowhere/../nowhere/a"))
    assert not same_file(Path("loop"), Path("b"))
    Path("loop").symlink_to("loop")
    assert not same_file(Path("loop"), Path("b"))


@pytest.mark.parametrize(
    ("first", "second"),
    [("page.html", "Page.HTML"), ("stra\u00dfe", "STRASSE"), ("\u00e9", "E\u0301")],
)
def test_names_in_other_letters_are_one_where_the_file_system_says_so(
    first, second, monkeypatch
):
    assert not same_file(Path("a"), Path("b"))
    by_system = same_file(Path(first), Path(second))
    assert by_system == _same_file._folds_case(Path())
    monkeypatch.setattr(_same_file, "_folds_case", lambda folder: True)
    assert same_file(Path(first), Path(second))
    assert not same_file(Path(first), Path("sub", second))
    assert same_file(Path("sub", first), Path("link", second))
    assert not same_file(Path("a"), Path("b"))


def test_existing_files_are_compared_by_the_file_system(monkeypatch):
    monkeypatch.setattr(os.path, "exists", lambda path: True)
    for answer in (True, False):
        monkeypatch.setattr(os.path, "samefile", lambda a, b, answer=answer: answer)
        assert same_file(Path("t.csv"), Path("T.CSV")) is answer


def test_whether_case_counts_is_tried_out_and_leaves_nothing(folder, monkeypatch):
    found = sorted(folder.iterdir())
    assert _same_file._folds_case(folder) == Path("T.CSV").exists()
    assert sorted(folder.iterdir()) == found
    asked = []
    monkeypatch.setattr(os.path, "exists", asked.append)
    _same_file._folds_case(folder)
    assert asked[0].parent == folder
    assert asked[0].name.startswith(UNFINISHED.upper())
    assert not _same_file._folds_case(folder / "nowhere")


@pytest.mark.parametrize(("mode", "name"), [(0o555, "page.html"), (0o444, "old.html")])
@pytest.mark.parametrize("is_simulated", [True, False])
def test_what_is_write_protected_stays(
    mode, name, is_simulated, folder, monkeypatch, capsys
):
    if not is_simulated and os.getuid() == 0:
        pytest.skip("root may write anywhere")
    Path("sub/old.html").write_text("precious")
    protected = Path("sub") if name == "page.html" else Path("sub", name)
    if is_simulated:
        monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != protected)
    before = content_of(folder)
    protected.chmod(mode)
    code = main([*AUDIT, "--out", f"sub/{name}", "--force"])
    protected.chmod(0o755)
    assert code == 1
    what = "no permission to write in" if name == "page.html" else "is write-protected"
    assert what in capsys.readouterr().err
    assert content_of(folder) == before


def test_device_is_not_replaced(folder, capsys):
    os.mkfifo("pipe")
    assert main([*AUDIT, "--out", "pipe", "--force"]) == 1
    assert "it is a device or a pipe. Choose another name." in capsys.readouterr().err
    assert Path("pipe").is_fifo()


def test_mode_of_a_replaced_file_is_kept():
    Path("private").write_text("old")
    Path("private").chmod(0o600)
    write_texts({Path("private"): "new", Path("public"): "new"}, overwrite=True)
    assert Path("private").stat().st_mode & 0o777 == 0o600
    assert Path("public").stat().st_mode & 0o600 == 0o600


def test_name_of_any_length_can_be_written():
    name = Path("n" * 255)
    write_texts({name: "text"}, overwrite=False)
    assert name.read_text() == "text"


def full(*arguments, **options):
    raise OSError(errno.ENOSPC, "No space left on device")


WRITES = {
    "page": lambda: main([*AUDIT, "--out", "out", "--force"]),
    "page and table": lambda: main(
        [*AUDIT, "--out", "out", "--table", "sub/t.csv", "--force"]
    ),
    "copy": lambda: main([*APPLY, "--out", "out", "--force"]),
}


@pytest.mark.parametrize("exists", [False, True])
@pytest.mark.parametrize("step", ["fsync", "replace", "chmod"])
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_full_disk_leaves_the_old_file(
    write, step, exists, folder, monkeypatch, capsys
):
    if exists:
        Path("out").write_text("precious")
    before = content_of(folder)
    monkeypatch.setattr(os, step, full)
    assert write() == 1
    assert "error: No space left on device: " in capsys.readouterr().err
    assert content_of(folder) == before


@pytest.mark.parametrize("method", ["to_csv", "to_json", "to_html"])
def test_exports_of_a_report_are_whole_or_not_there(method, folder, monkeypatch):
    report = LabelReport.from_probabilities(np.eye(2), [0, 1])
    Path("out").write_text("precious")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left on device: 'out'"):
            getattr(report, method)("out")
    assert Path("out").read_text() == "precious"
    getattr(report, method)("out")
    assert Path("out").read_text(encoding="utf-8") != "precious"


@pytest.fixture
def small_disk(folder):
    place = folder / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(place)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("only root can mount a disk")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_disk_that_is_really_full_leaves_nothing(small_disk, folder, capsys):
    before = content_of(folder)
    assert main([*AUDIT, "--out", "disk/p.html", "--table", "t2.csv"]) == 1
    assert "No space left on device: disk/p.html" in capsys.readouterr().err
    (small_disk / "fill").write_bytes(b"x" * 16 * 1024)
    assert main([*APPLY, "--out", "disk/c.csv"]) == 1
    assert "No space left on device: disk/c.csv" in capsys.readouterr().err
    (small_disk / "fill").unlink()
    assert content_of(folder) == before


@pytest.mark.parametrize("command", [AUDIT, APPLY], ids=lambda command: command[0])
@pytest.mark.parametrize("name", ["old.html", "new.html"])
def test_disk_that_is_read_only_stays(command, name, small_disk, folder, capsys):
    (small_disk / "old.html").write_text("precious")
    remount = ["mount", "-o", "remount,ro", str(small_disk)]
    subprocess.run(remount, check=True, capture_output=True)
    before = content_of(folder)
    assert main([*command, "--out", f"disk/{name}", "--force"]) == 1
    assert f"error: disk/{name} " in capsys.readouterr().err
    assert content_of(folder) == before


KILLED = """
import os, signal, sys
from skpresto.cli import main
def kill(*arguments, **options):
    os.kill(os.getpid(), signal.SIGKILL)
setattr(os, sys.argv[1], kill)
main(sys.argv[2:])
"""


@pytest.mark.parametrize(("command", "step"), [(AUDIT, "link"), (APPLY, "fsync")])
def test_killed_while_writing(command, step, folder):
    here = {**os.environ, "PYTHONPATH": str(Path(skpresto.__file__).parents[1])}
    for forced, old in (([], None), (["--force"], "precious")):
        name = {"link": "replace"}.get(step, step) if forced else step
        if old:
            Path("out").write_text(old)
        before = content_of(folder)
        argv = [sys.executable, "-c", KILLED, name, *command, "--out", "out", *forced]
        done = subprocess.run(argv, capture_output=True, check=False, env=here)
        assert done.returncode == -signal.SIGKILL, done.stderr
        after = content_of(folder)
        left = [path for path in after if path.name.startswith(UNFINISHED)]
        assert len(left) == 1
        left[0].unlink()
        assert content_of(folder) == before


@pytest.mark.parametrize("taken", [False, True])
def test_file_system_without_hard_links(taken, folder, monkeypatch):
    def link(name, path):
        if taken:
            Path(path).write_text("precious")
        raise OSError(errno.EPERM, "Operation not permitted", name)

    monkeypatch.setattr(os, "link", link)
    if taken:
        with pytest.raises(FileExistsError, match="out exists already"):
            write_texts({Path("out"): "new"}, overwrite=False)
        assert Path("out").read_text() == "precious"
    else:
        write_texts({Path("out"): "new"}, overwrite=False)
        assert Path("out").read_text() == "new"


def test_file_that_appears_meanwhile_stays():
    def write_what_another_has_written():
        with whole_file(Path("out"), overwrite=False) as file:
            file.write("new")
            Path("out").write_text("precious")

    with pytest.raises(FileExistsError, match="out exists already"):
        write_what_another_has_written()
    assert Path("out").read_text() == "precious"


@pytest.mark.parametrize(
    "arguments",
    [
        ["t.csv", "--label", "lable", "--out", "old"],
        ["t.csv", "--label", "label", "--text", "lable", "--out", "old"],
        ["t.csv", "--label", "label", "--ignore", "lable", "--out", "old"],
        ["p.npy", "--labels", "t.csv", "--label", "lable", "--out", "old"],
    ],
    ids=["label", "text", "ignore", "label of labels"],
)
def test_mistyped_column_is_told_before_an_existing_page(arguments, capsys):
    Path("old").write_text("precious")
    assert main(["audit", *arguments]) == 1
    assert "no column 'lable'. Did you mean 'label'?" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--label", "--labels", "--text", "--ignore"])
def test_options_of_tables_have_no_meaning_for_images(option, capsys):
    assert main(["audit", "sub", option, "label"]) == 1
    said = f"names of their folders, so that {option} has no meaning. Leave it out."
    assert said in capsys.readouterr().err

"""The demo prints what it announces, and writes its figure and its page."""

import re
import runpy
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[1] / "docs" / "examples" / "demo.py"


def test_demo_shows_lower_errors_and_suspect_labels(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stopped:
        runpy.run_path(str(DEMO), run_name="__main__")
    assert stopped.value.code == 0
    shown = capsys.readouterr().out
    errors = {
        name: float(value)
        for name, value in re.findall(r"^(\w+Classifier) +([\d.]+) ?%", shown, re.M)
    }
    assert errors["PrestoppingClassifier"] < errors["DefaultClassifier"] - 5
    assert errors["CrossPrestoppingClassifier"] < errors["PrestoppingClassifier"]
    assert "ended phase I at epoch" in shown
    assert "The ten labels with the lowest quality" in shown
    assert (tmp_path / "skpresto-demo.png").stat().st_size > 10_000
    assert f"Page to review the suspect labels: {tmp_path}" in shown
    assert shown.rstrip().endswith("audit FILE.csv --label COLUMN")
    page = (tmp_path / "skpresto-demo.html").read_text(encoding="utf-8")
    assert "data:image/png;base64," in page

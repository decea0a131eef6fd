"""The demo says what it promises, and writes its picture."""

import runpy
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[1] / "docs" / "examples" / "demo.py"


def test_demo_shows_the_gain_and_the_suspects(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stopped:
        runpy.run_path(str(DEMO), run_name="__main__")
    assert stopped.value.code == 0
    shown = capsys.readouterr().out
    errors = {
        line.split()[0]: float(line.split()[1].rstrip("%"))
        for line in shown.splitlines()
        if line.startswith(("DefaultClassifier", "Prestopping"))
    }
    assert errors["PrestoppingClassifier"] < errors["DefaultClassifier"] - 5
    assert errors["PrestoppingPlusClassifier"] < errors["PrestoppingClassifier"]
    assert "Phase I stopped at epoch" in shown
    assert "The ten most suspect labels" in shown
    assert (tmp_path / "skpresto-demo.png").stat().st_size > 10_000

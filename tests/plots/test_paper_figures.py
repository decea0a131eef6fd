"""The script that reproduces the figures of the paper."""

import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "docs" / "examples" / "paper_figures.py"


@pytest.fixture
def main():
    return runpy.run_path(str(SCRIPT))["main"]


def test_a_figure_is_written_into_the_folder(main, tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("SKPRESTO_DATA", raising=False)
    assert main([str(tmp_path / "new"), "--only", "transition_matrix"]) == 0
    written = [path.name for path in (tmp_path / "new").iterdir()]
    assert written == ["transition_matrix.png"]
    assert "transition_matrix.png" in capsys.readouterr().out


def test_unknown_figure_names_are_rejected(main, capsys):
    with pytest.raises(SystemExit):
        main(["--only", "figure_12"])
    assert "loss_distribution" in capsys.readouterr().err

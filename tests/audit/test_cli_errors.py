"""The last resort of the command line: every error is one sentence."""

import argparse
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from sklearn.exceptions import ConvergenceWarning

import skpresto
from skpresto._warn import warn_caller
from skpresto.cli import _sentence, main
from skpresto.cli._arguments import _natural
from skpresto.cli._warnings import notes_of_fit
from skpresto.exceptions import MismatchWarning, SafeSetWarning, TrainingDivergedError


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (FileNotFoundError(2, "No such file", "a.csv"), "No such file: a.csv"),
        (MemoryError("Use fewer rows."), "not enough memory. Use fewer rows."),
        (ValueError("two\n  lines"), "two lines"),
        (KeyError(), "KeyError"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_error_is_told_in_a_sentence(error, sentence):
    assert _sentence(error) == sentence


@pytest.mark.parametrize("text", ["-1", str(2**32)])
def test_a_seed_out_of_range_is_refused(text):
    with pytest.raises(argparse.ArgumentTypeError, match="not between 0 and"):
        _natural(text)
    assert _natural("7") == 7


def test_the_package_can_be_run_as_a_module(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["skpresto", "--version"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("skpresto", run_name="__main__")
    assert ended.value.code == 0
    assert capsys.readouterr().out.strip() == skpresto.__version__


def caught(message, category):
    return SimpleNamespace(message=category(message), category=category)


def test_advice_names_options_of_the_command_line():
    with pytest.warns(SafeSetWarning) as warned:
        warn_caller("SomeClassifier: few of 'a: b'.", SafeSetWarning, "Raise lr.")
    assert str(warned[0].message) == "SomeClassifier: few of 'a: b'. Raise lr."
    late = caught("max_epochs=3 ended. Raise max_epochs.", ConvergenceWarning)
    odd = caught("Data: odd.", MismatchWarning)
    old = SimpleNamespace(message=FutureWarning("x"), category=FutureWarning)
    notes = notes_of_fit([warned[0], warned[0], late, odd, old])
    assert notes[0] == "Few of 'a: b'. Look through their labels by eye."
    assert "--epochs" in notes[1]
    assert "max_epochs" not in notes[1]
    assert notes[2:] == ["Odd."]


def test_a_training_that_diverged_advises_options(tmp_path, monkeypatch, capsys):
    def fail(*arguments):
        raise TrainingDivergedError("Lower the learning rate.")

    monkeypatch.setattr("skpresto.cli._audit.fit_report", fail)
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("x,y\n" + "1.5,a\n2.5,b\n1.5,b\n" * 30)
    assert main(["audit", "t.csv", "--label", "y"]) == 1
    assert "Try another --seed, or leave out columns" in capsys.readouterr().err

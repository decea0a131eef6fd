"""The last resort of the command line: every error is one sentence."""

import argparse
import runpy
import sys

import pytest

import skpresto
from skpresto.cli import _sentence
from skpresto.cli._arguments import _natural


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

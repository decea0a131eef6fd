"""The code blocks of the README run as they are pasted, each into a new interpreter."""

import re
import subprocess
import sys

import pytest

from tests.docs.blocks import DOCS, blocks_of

README = DOCS.parent / "README.md"
BLOCKS = [block for block in blocks_of(README) if block.language != "bash"]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"line {block.line}")
def test_a_block_runs_when_pasted(block, tmp_path):
    assert block.language == "python"
    command = [sys.executable, "-W", "error", "-c", block.code]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    for line in re.findall(r"print.*# ([\d., ]+)$", block.code, re.MULTILINE):
        stated = [float(number) for number in line.split(", ")]
        printed = [float(number) for number in ended.stdout.split()[: len(stated)]]
        assert printed == pytest.approx(stated, abs=0.05)


def test_the_first_block_prints_numbers_and_writes_a_page():
    first, *_ = BLOCKS
    assert "# 0." in first.code
    assert "to_html" in first.code


def test_nothing_is_hidden_from_who_pastes():
    text = README.read_text(encoding="utf-8")
    assert "<!--" not in text
    assert len(text.split()) < 1000

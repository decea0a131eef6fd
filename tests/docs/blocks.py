"""Code blocks of Markdown pages, and how they are run.

A page is run from top to bottom in one namespace, each section of the recipes in one of
its own. Comments steer it, which no reader sees:

- ``<!-- setup`` and code up to ``-->``: run, for names that a text takes for granted;
- ``<!-- needs: module -->``, ``<!-- needs: module>=1.2 -->``: the next block is run
  only if the module is there;
- ``<!-- not run: reason -->``: the next block is not run.
"""

import doctest
import re
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"

_PIECE = re.compile(
    r"^<!-- setup\n(?P<setup>.*?)^-->$"
    r"|^<!-- (?P<mark>needs|not run): (?P<value>.+?) -->$"
    r"|^## (?P<section>.+?)$"
    r"|^(?P<fence>`{3,})(?P<language>[a-z{}-]*)[^\n]*\n(?P<code>.*?)^(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)


@dataclass
class Block:
    """A block of code that is, or is not, to be run."""

    page: str
    section: str
    language: str
    code: str
    line: int
    marks: dict[str, str] = field(default_factory=dict)
    #: What the page says that the block prints.
    output: str | None = None

    @property
    def is_python(self) -> bool:
        return self.language in ("python", "pycon", "setup")

    def lacks(self) -> list[str]:
        """Return the packages that the block needs and that are not there."""
        return [need for need in self.marks.get("needs", "").split() if not has(need)]

    def run(self, names: dict) -> None:
        """Run Python code, with ``names`` as its global names."""
        if ">>>" in self.code:
            test = doctest.DocTestParser().get_doctest(
                self.code, names, self.page, self.page, self.line
            )
            runner = doctest.DocTestRunner()
            printed = []
            result = runner.run(test, clear_globs=False, out=printed.append)
            names.update(test.globs)
            assert result.failed == 0, "".join(printed)
        else:
            code = "\n" * self.line + self.code  # so that errors name the right line
            exec(compile(code, self.page, "exec"), names)


def has(need: str) -> bool:
    """Return whether a module can be imported, and is new enough.

    Only the first two parts of a version are compared, as in ``sklearn>=1.8``.
    """
    name, _, least = need.partition(">=")
    if not find_spec(name):
        return False
    version = getattr(import_module(name), "__version__", "0") if least else "0"
    return parts_of(version) >= parts_of(least or "0")


def parts_of(version: str) -> tuple[int, ...]:
    """Return the first two numbers of a version."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


def blocks_of(path: Path) -> list[Block]:
    """Return the blocks of a page, in order."""
    text = path.read_text(encoding="utf-8")
    found: list[Block] = []
    section, marks, end = "", {}, 0
    for match in _PIECE.finditer(text):
        between, end = text[end : match.start()], match.end()
        line = text[: match.start()].count("\n") + 1
        if match["section"]:
            section = match["section"]
        elif match["mark"]:
            marks[match["mark"]] = match["value"]
        elif match["language"] == "text" and found and not between.strip():
            found[-1].output = match["code"]
        else:
            language = "setup" if match["setup"] else match["language"]
            code = match["setup"] or match["code"]
            found.append(Block(path.name, section, language, code, line, marks))
            marks = {}
    return found


def agrees(printed: str, stated: str) -> bool:
    """Return whether a page states what its code prints, up to small numbers.

    Numbers of a training differ between processors and versions: a quarter, or three,
    more or less is accepted.
    """
    number = r"\d+(?:\.\d+)?"
    if re.sub(number, "#", printed).split() != re.sub(number, "#", stated).split():
        return False
    pairs = zip(re.findall(number, printed), re.findall(number, stated), strict=True)
    return all(abs(float(a) - float(b)) <= max(3, float(b) / 4) for a, b in pairs)

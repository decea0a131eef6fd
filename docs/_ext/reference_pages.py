"""Write the pages of the API reference: an overview, and one page per public name.

The names are found in the package itself, so a new class appears by itself.
"""

import inspect
from importlib import import_module
from pathlib import Path
from typing import Any

from public_api import inherited_methods, own_members, public_modules, public_names

#: Headings of the modules, in the order of the reference. Modules that are not named
#: here follow, under the first line of their docstring.
HEADINGS = {
    "skpresto.stopping": "Stop rules",
    "skpresto.audit": "Label audit",
    "skpresto.noise": "Label noise",
    "skpresto.noise.testing": "Checks of noise injectors",
    "skpresto.losses": "Robust losses",
    "skpresto.baselines": "Baselines",
    "skpresto.plots": "Plots",
    "skpresto.metrics": "Metrics",
    "skpresto.datasets": "Data sets",
    "skpresto.modules": "Networks",
    "skpresto.exceptions": "Errors and warnings",
}

#: Further reading, by module.
GUIDES = {
    "skpresto": "choosing",
    "skpresto.stopping": "stop-rules",
    "skpresto.audit": "audit",
    "skpresto.noise": "noise",
    "skpresto.noise.testing": "noise",
    "skpresto.baselines": "baselines",
    "skpresto.losses": "baselines",
    "skpresto.plots": "plots",
    "skpresto.datasets": "datasets",
    "skpresto.modules": "your-own-network",
}


def write_reference(folder: Path) -> list[str]:
    """Write all pages to a folder, and return the names that have one."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = {"index.rst": _overview()}
    documented = []
    for module in public_modules():
        for name in public_names(module):
            pages[f"{module}.{name}.rst"] = _page(module, name)
            documented.append(f"{module}.{name}")
    pages["command-line.rst"] = _command_line()
    for name, text in pages.items():
        _write(folder / name, text)
    for old in set(folder.glob("*.rst")) - {folder / name for name in pages}:
        old.unlink()
    return documented


def _write(path: Path, text: str) -> None:
    """Write a file only if it changes, so that Sphinx need not read it again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _title(text: str, line: str = "=") -> str:
    return f"{text}\n{line * len(text)}\n"


def _overview() -> str:
    classifiers = [n for n in public_names("skpresto") if n.endswith("Classifier")]
    others = [n for n in public_names("skpresto") if n not in classifiers]
    parts = [
        _title("API reference"),
        "Every public name, grouped by module. ``import skpresto`` does not load "
        "torch; the classifiers do when they are first used.\n",
        _section("Classifiers", "skpresto", classifiers),
        _section("Long trainings", "skpresto", others, guide="scale"),
    ]
    found = [module for module in public_modules() if module != "skpresto"]
    known = [module for module in HEADINGS if module in found]
    for module in [*known, *sorted(set(found) - set(known))]:
        heading = HEADINGS.get(module) or _first_line(import_module(module))
        parts.append(_section(heading, module, public_names(module)))
    parts.append(_title("Command line", "-"))
    parts.append(
        ":doc:`skpresto audit and skpresto apply <command-line>` find and correct "
        "wrong labels in files.\n\n.. toctree::\n   :hidden:\n"
        "   :caption: In the shell\n\n   command-line\n"
    )
    return "\n".join(parts)


def _section(
    heading: str, module: str, names: list[str], guide: str | None = None
) -> str:
    guide = guide or GUIDES.get(module)
    lines = [_title(heading, "-")]
    if module != "skpresto":
        # Makes the module itself a target of references.
        lines += [f".. py:module:: {module}\n", _first_paragraph(module) + "\n"]
    if guide:
        lines.append(f"User guide: :doc:`/{guide}`.\n")
    lines += [f".. currentmodule:: {module}\n", ".. autosummary::\n   :nosignatures:\n"]
    lines += [f"   {name}" for name in names]
    # The caption heads its part of the list beside every page.
    lines += ["\n.. toctree::", "   :hidden:", f"   :caption: {heading}\n"]
    lines += [f"   {name} <{module}.{name}>" for name in names]
    return "\n".join([*lines, ""])


def _first_paragraph(module: str) -> str:
    doc = inspect.getdoc(import_module(module)) or ""
    return doc.split("\n\n")[0].replace("\n", " ")


def _first_line(value: Any) -> str:
    return (inspect.getdoc(value) or value.__name__).split("\n")[0].rstrip(".")


def _page(module: str, name: str) -> str:
    value = getattr(import_module(module), name)
    head = [_title(name), f".. currentmodule:: {module}\n"]
    if not inspect.isclass(value):
        return "\n".join([*head, f".. autofunction:: {name}\n"])
    methods, properties = own_members(value)
    if issubclass(value, BaseException):
        methods, properties = [], []
    body = [f".. autoclass:: {name}\n"]
    # Named one by one: an automatic list would include what other packages define.
    for kind, members in (("autoproperty", properties), ("automethod", methods)):
        body += [f"   .. {kind}:: {name}.{member}" for member in members]
    body.append("")
    if hasattr(value, "get_params"):
        names = [f"``{method}``" for method in inherited_methods(value)]
        body += [
            ".. rubric:: From scikit-learn\n",
            f"{', '.join(names)}: as in every scikit-learn estimator.\n",
        ]
    return "\n".join([*head, *body])


def _command_line() -> str:
    from skpresto.cli._arguments import parser

    top = parser()
    commands = next(a for a in top._actions if a.dest == "command").choices
    parts = [
        _title("Command line"),
        "Needs the extra ``audit``: ``pip install '.[audit]'`` in a checkout. "
        "``python -m skpresto`` does the same as ``skpresto``. The guide is "
        ":doc:`/audit`.\n",
    ]
    for name, command in commands.items():
        lines = [f"   {line}".rstrip() for line in _help(command).splitlines()]
        parts.append(_title(f"skpresto {name}", "-"))
        parts.append("\n".join([".. code-block:: text\n", *lines, ""]))
    return "\n".join(parts)


def _help(command: Any) -> str:
    """Return the help of a command, whatever the width and colors of the terminal."""
    formatter = command.formatter_class
    command.formatter_class = lambda prog: formatter(prog, width=88)
    return command.format_help()

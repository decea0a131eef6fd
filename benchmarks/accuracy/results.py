"""The results file: one JSON object per line and finished cell."""

import json
import os
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from cells import Cell, Setting


def read(*paths: Path) -> dict[Cell, dict[str, Any]]:
    """Return the results by cell, oldest first; of repeated cells, the last one."""
    found: dict[Cell, dict[str, Any]] = {}
    for result in (line for path in paths for line in lines(path)):
        cell = Cell(**{field.name: result[field.name] for field in fields(Cell)})
        found.pop(cell, None)  # an overwritten key would keep its old place
        found[cell] = result
    return found


def is_done(result: dict[str, Any] | None, setting: Setting) -> bool:
    """Return whether there is a result for the present setting."""
    if result is None:
        return False
    return all(result.get(name) == v for name, v in setting.fingerprint.items())


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the results of a file, none if there is no file."""
    if not path.exists():
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            yield json.loads(line)
        except json.JSONDecodeError:  # incomplete line of an interrupted run
            continue


def drop_incomplete_line(path: Path) -> None:
    """Remove an incomplete last line, as left by a killed run."""
    if not path.exists():
        return
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if len(whole) < len(content):
        with path.open("r+b") as file:
            file.truncate(len(whole))


def append(path: Path, result: dict[str, Any]) -> None:
    """Append one line and flush it to disk."""
    line = json.dumps(result, allow_nan=False) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(line)
        file.flush()
        os.fsync(file.fileno())

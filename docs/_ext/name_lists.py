"""Lists of parameter names that go on in the next line of a docstring."""

import re
from typing import Any

_NAMES = re.compile(r"^( *)[*\w]+(?:, [*\w]+)+$")


def join_name_lists(
    app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Join names of one description that take two lines, for numpydoc.

    Docstrings describe many parameters at once, "as in PrestoppingClassifier", and
    their names do not fit into a line. numpydoc would take the first line for
    parameters without a description.
    """
    for i in reversed(range(len(lines) - 1)):
        first, second = _NAMES.match(lines[i]), _NAMES.match(lines[i + 1])
        if first and second and first[1] == second[1]:
            lines[i] += f", {lines.pop(i + 1).strip()}"

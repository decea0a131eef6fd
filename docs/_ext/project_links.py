"""Addresses of the project, from the only place where they are written."""

import tomllib
from pathlib import Path

#: What of ``[project.urls]`` in pyproject.toml is shown in the header of the site.
SHOWN = ("Repository", "Issues")


def project_urls() -> dict[str, str]:
    """Return the addresses of code and issues, as far as they are known."""
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    urls = tomllib.loads(text)["project"]["urls"]
    return {name: urls[name] for name in SHOWN if name in urls}

"""Fill the template: one HTML file without any other files or addresses."""

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from skpresto.audit._page.about import About
from skpresto.audit._page.context import page_context
from skpresto.audit._page.payload import for_script, payload, select_samples, with_index
from skpresto.audit._page.views import ImageView, SampleView, view_of
from skpresto.audit._safe_write import write_texts
from skpresto.audit._samples import check_samples

#: The files of the script; those that run something need those before them.
_SCRIPT = (
    "decisions",
    "list",
    "card",
    "similar",
    "classes",
    "dialogs",
    "filters",
    "control",
    "table",
    "spellings",
    "reviewers",
    "files",
    "start",
)
#: Suspects that a page lists, unless told otherwise.
MOST_SUSPECTS = 5000
MOST_IMAGES = 1000


def write_page(
    report: Any, path: Any, *, overwrite: bool = True, **options: Any
) -> Path:
    """Write the page of a report to a file, and return its path.

    Parameters
    ----------
    report : LabelReport
        The report.
    path : path
        The file.
    overwrite : bool, default=True
        Whether an existing file may be replaced.
    **options : dict
        As in :func:`render_page`.
    """
    written = Path(path)
    write_texts({written: render_page(report, **options)}, overwrite=overwrite)
    return written


def render_page(
    report: Any,
    *,
    about: About | None = None,
    shown: Any = None,
    top: int | None = None,
) -> str:
    """Return the page of a report as HTML.

    Parameters
    ----------
    report : LabelReport
        The report.
    about : About, default=None
        Where the labels come from.
    shown : DataFrame, array, list of str or SampleView, default=None
        What is shown of the samples: feature values of a table, images of shape
        (n_samples, channels, height, width), or texts. None means the samples of the
        report.
    top : int, default=None
        Number of suspects to list. None means all, up to 5,000, or 1,000 with images.
    """
    about = with_index(about or About(), report.index)
    if shown is not None and not isinstance(shown, SampleView):
        check_samples(shown, len(report), "LabelReport.to_html", "shown")
    samples = report.X if shown is None else shown
    view = samples if isinstance(samples, SampleView) else view_of(samples)
    if top is None:
        top = MOST_IMAGES if isinstance(view, ImageView) else MOST_SUSPECTS
    data = payload(report, about, view, select_samples(report, top))
    style, script = _asset("page.css"), _script()
    return _template().render(
        page_context(report, about, data),
        style=style,
        script=script,
        policy=_policy(style, script),
        json=json_for_html(for_script(data)),
    )


def json_for_html(value: Any) -> str:
    r"""Return JSON that may stand in a script element: no character can end it.

    Examples
    --------
    >>> json_for_html("</script>")
    '"\\u003c/script\\u003e"'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _policy(style: str, script: str) -> str:
    """Return a content security policy: this style, this script, and nothing else."""
    return (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src '{_hash(style)}'; script-src '{_hash(script)}'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _script() -> str:
    """Return the files of the script as one, in which they see each other."""
    parts = [_asset(f"script/{name}.js") for name in _SCRIPT]
    return "\n".join(['"use strict";', "(() => {", *parts, "})();"])


def _asset(name: str) -> str:
    text = files("skpresto.audit._page").joinpath(name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")


@cache
def _template() -> Any:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["number"] = lambda value: f"{value:,.0f}"
    environment.filters["percent"] = _percent
    return environment.from_string(_asset("template.html.j2"))


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.1f} %" if fraction < 0.0995 else f"{100 * fraction:.0f} %"

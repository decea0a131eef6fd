"""The links of the built site, and those that lead nowhere."""

from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: Attributes that hold an address.
_ADDRESSES = {"href", "src", "data-target"}


class _Page(HTMLParser):
    """The addresses and the anchors of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: set[str] = set()
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attributes: list) -> None:
        """Collect what an element links to and how it can be linked."""
        for name, value in attributes:
            if value and name in _ADDRESSES:
                self.addresses.add(value)
            if value and (name == "id" or (tag == "a" and name == "name")):
                self.anchors.add(value)


@cache
def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def pages_of(site: Path) -> list[Path]:
    """Return the pages, without the templates that a theme brings along."""
    found = sorted(site.rglob("*.html"))
    return [path for path in found if "_static" not in path.relative_to(site).parts]


def _target(page: Path, address: str) -> tuple[Path, str] | None:
    """Return the file and the anchor of an address; None if it is on another host."""
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return None
    target = page if not parts.path else (page.parent / unquote(parts.path)).resolve()
    if target.is_dir():
        target /= "index.html"
    return target, unquote(parts.fragment)


def addresses_of(page: Path) -> set[Path]:
    """Return the files of the site that a page links to."""
    targets = (_target(page, address) for address in _read(page).addresses)
    return {target[0] for target in targets if target}


def dead_links(site: Path) -> Iterator[tuple[Path, str]]:
    """Yield pages of a built site with addresses inside the site that do not exist."""
    for path in pages_of(site):
        for address in sorted(_read(path).addresses):
            found = _target(path, address)
            if found and not _exists(*found):
                yield path.relative_to(site), address


def _exists(target: Path, anchor: str) -> bool:
    if not target.exists() or not anchor or target.suffix != ".html":
        return target.exists()
    return anchor == "top" or anchor in _read(target).anchors

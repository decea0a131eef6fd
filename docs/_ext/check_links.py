"""Find links of the built site that lead nowhere: files and anchors in them."""

import sys
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


def _pages(site: Path) -> list[Path]:
    """Return the pages, without the templates that a theme brings along."""
    found = sorted(site.rglob("*.html"))
    return [path for path in found if "_static" not in path.relative_to(site).parts]


def dead_links(site: Path) -> Iterator[tuple[Path, str]]:
    """Yield pages of a built site with addresses inside the site that do not exist."""
    for path in _pages(site):
        for address in sorted(_read(path).addresses):
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = path if not parts.path else path.parent / unquote(parts.path)
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                yield path.relative_to(site), address
            elif parts.fragment and target.suffix == ".html":
                fragment = unquote(parts.fragment)
                if fragment not in {*_read(target.resolve()).anchors, "top"}:
                    yield path.relative_to(site), address


def main(arguments: list[str]) -> int:
    """Print the dead links of a site; return how many there are, at most 1."""
    site = Path(arguments[0]).resolve()
    dead = list(dead_links(site))
    for path, address in dead:
        print(f"{path}: {address} does not exist")
    print(f"{len(_pages(site))} pages, {len(dead)} dead links inside the site")
    return min(len(dead), 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

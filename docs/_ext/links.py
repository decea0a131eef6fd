"""Links that work in a checkout as well as on the site."""

import re

#: Files outside of docs/ that have a page on the site.
PAGES = {
    "../benchmarks/NOTES.md": "notes.md",
    "../CONTRIBUTING.md": "contributing.md",
    "../CHANGELOG.md": "changelog.md",
    "../README.md": "index.md",
}


def rewrite_links(app, docname, source):
    """Let links to files outside of docs/ lead to their pages."""
    for path, page in PAGES.items():
        pattern = rf"\]\({re.escape(path)}(#[^)]*)?\)"
        source[0] = re.sub(pattern, rf"]({page}\1)", source[0])

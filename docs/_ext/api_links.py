"""Names of public classes and functions in the text lead to their API pages."""

import re

from docutils import nodes
from public_api import public_modules, public_names
from sphinx import addnodes

#: ``Name``, ``package.Name`` and ``Name(...)``.
_NAME = re.compile(r"(?:\w+\.)*(?P<name>\w+)(?:\(.*\))?")
#: A name in these is not linked: it has a link already, or is one.
_LEFT_ALONE = (nodes.reference, addnodes.pending_xref, nodes.title)


def documented_names() -> dict[str, str]:
    """Return the full names of what has a page, by the name; without ambiguous ones."""
    found: dict[str, str] = {}
    ambiguous = set()
    for module in public_modules():
        for name in public_names(module):
            if name in found:
                ambiguous.add(name)
            found[name] = f"{module}.{name}"
    return {name: full for name, full in found.items() if name not in ambiguous}


def link_names(app, document):
    """Let names in the text of a guide lead to their pages."""
    docname = app.env.docname
    if docname.startswith("reference/"):
        return
    names = documented_names()
    for literal in list(document.findall(nodes.literal)):
        match = _NAME.fullmatch(literal.astext())
        full = match and names.get(match["name"])
        if not full or _is_in(literal, _LEFT_ALONE):
            continue
        link = addnodes.pending_xref(
            "",
            refdomain="py",
            reftype="obj",
            reftarget=full,
            refdoc=docname,
            refexplicit=True,
        )
        literal.replace_self(link)
        link += literal


def _is_in(node, kinds) -> bool:
    while node is not None:
        if isinstance(node, kinds):
            return True
        node = node.parent
    return False

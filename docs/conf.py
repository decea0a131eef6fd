"""Configuration of the documentation site; build it with ``make docs``."""

import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

from api_links import link_names  # noqa: E402
from first_figure import first_figure  # noqa: E402
from gallery_order import GALLERY  # noqa: E402
from links import rewrite_links  # noqa: E402
from live_audit import live_audit  # noqa: E402
from name_lists import join_name_lists  # noqa: E402
from project_links import project_urls  # noqa: E402
from reference_pages import write_reference  # noqa: E402
from search_words import add_phrases  # noqa: E402

import skpresto  # noqa: E402

project = "skpresto"
author = "The skpresto developers"
copyright = author
version = release = skpresto.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]

source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_live", "gallery", "examples"]
templates_path = ["_templates"]
default_role = None
smartquotes = False  # types and messages are quoted as they are
nitpicky = False  # names of numpy, torch and scikit-learn are not links: no downloads

# The reference is written from the public names of the package.
autosummary_generate = False
autodoc_preserve_defaults = True
toc_object_entries_show_parents = "hide"  # fit(), not PrestoppingClassifier.fit()
autodoc_typehints = "none"  # the types are in the docstrings
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "substitution"]
myst_heading_anchors = 3

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = GALLERY

html_theme = "pydata_sphinx_theme"
html_title = "skpresto"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_favicon = "_static/favicon.svg"
html_extra_path = ["_live"]
html_domain_indices = False
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_prev_next": False,
    "header_links_before_dropdown": 6,
    "logo": {"text": f"skpresto {release}"},
    # Links to code and issues appear in the header once pyproject.toml names them.
    "external_links": [
        {"name": name, "url": url} for name, url in project_urls().items()
    ],
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {page: [] for page in ("index", "recipes", "faq", "changelog")}

# matplotlib's Agg has no window to show; a script that calls plt.show() is right.
warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")

# Before Sphinx looks for sources and for files to copy.
write_reference(HERE / "reference")
results = HERE.parent / "benchmarks" / "accuracy" / "results"
myst_substitutions = {
    **live_audit(HERE / "_live"),
    **first_figure(results, HERE / "_live" / "gains.png"),
}


def setup(app):
    """Connect what this project adds to Sphinx."""
    app.connect("source-read", rewrite_links)
    app.connect("doctree-read", link_names)
    app.connect("doctree-read", add_phrases)
    app.connect("autodoc-process-docstring", join_name_lists, priority=100)
    return {"parallel_read_safe": True}

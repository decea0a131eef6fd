"""The page on which a person settles the suspect labels: one HTML file."""

from skpresto.audit._page.about import About
from skpresto.audit._page.render import render_page, write_page
from skpresto.audit._page.views import FeatureView, ImageView, SampleView, TextView

__all__ = [
    "About",
    "FeatureView",
    "ImageView",
    "SampleView",
    "TextView",
    "render_page",
    "write_page",
]

"""Labeled samples from files: tables, folders of images, ready probabilities."""

from skpresto.audit._sources.base import Source
from skpresto.audit._sources.columns import Wishes
from skpresto.audit._sources.images import read_image_folder
from skpresto.audit._sources.probabilities import read_probabilities
from skpresto.audit._sources.table import read_table

__all__ = [
    "Source",
    "Wishes",
    "read_image_folder",
    "read_probabilities",
    "read_table",
]

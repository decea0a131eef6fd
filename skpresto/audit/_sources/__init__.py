"""Labeled samples from files: tables, images, embeddings, ready probabilities."""

from skpresto.audit._sources.base import Source
from skpresto.audit._sources.columns import Wishes
from skpresto.audit._sources.images import read_image_folder
from skpresto.audit._sources.labeled import read_with_labels
from skpresto.audit._sources.table import read_table

__all__ = [
    "Source",
    "Wishes",
    "read_image_folder",
    "read_table",
    "read_with_labels",
]

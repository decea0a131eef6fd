"""Settings of the gallery, and the order of its examples."""

from sphinx_gallery.sorting import ExplicitOrder

GALLERY = {
    "examples_dirs": ["gallery"],
    "gallery_dirs": ["auto_examples"],
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "subsection_order": ExplicitOrder(
        ["gallery/start", "gallery/labels", "gallery/methods", "gallery/practice"]
    ),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 3600,  # times of a busy machine mislead
    "write_computation_times": False,
    "plot_gallery": "True",
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
    "remove_config_comments": True,
    "reset_modules": ("matplotlib",),
    "show_memory": False,
    "parallel": 2,
    "copyfile_regex": r".*\.(md|rst)$",
}

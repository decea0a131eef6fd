"""What ``skpresto audit`` writes for other tools, beside the page."""

import argparse
from pathlib import Path

from skpresto.audit._tools import (
    Exported,
    fiftyone_text,
    labeling_config,
    records_text,
    tasks_text,
)


def outputs_for_tools(arguments: argparse.Namespace) -> dict[str, Path]:
    """Return the files to write, by the option that names them."""
    wanted = {
        "--label-studio": arguments.label_studio,
        "--records": arguments.records,
        "--fiftyone": arguments.fiftyone,
    }
    outputs = {option: path for option, path in wanted.items() if path is not None}
    if arguments.label_studio is not None:
        outputs["the labeling config of --label-studio"] = _config_of(arguments)
    return outputs


def texts_for_tools(
    arguments: argparse.Namespace, exported: Exported
) -> dict[Path, str]:
    """Return what is written to each file."""
    texts, top = {}, arguments.top
    if arguments.label_studio is not None:
        texts[arguments.label_studio] = tasks_text(exported, top)
        texts[_config_of(arguments)] = labeling_config(exported)
    if arguments.records is not None:
        texts[arguments.records] = records_text(exported, top)
    if arguments.fiftyone is not None:
        texts[arguments.fiftyone] = fiftyone_text(exported)
    return texts


def _config_of(arguments: argparse.Namespace) -> Path:
    path: Path = arguments.label_studio
    return path.with_suffix(".xml")

"""The arguments of the command line."""

import argparse
from importlib import import_module
from pathlib import Path
from typing import Any

import skpresto

_AUDIT_EXAMPLES = """\
examples:
  skpresto audit train.csv --label species
  skpresto audit reviews.csv --label stars --text comment
  skpresto audit train.csv --label species --model lightgbm.LGBMClassifier
  skpresto audit photos/ --out report.html
  skpresto audit embeddings.npy --labels y.csv --text comment
  skpresto audit embeddings.npz --labels photos/
  skpresto audit probs.npy --labels y.csv
"""
_APPLY_EXAMPLES = """\
examples:
  skpresto apply decisions.json train.csv --out train.clean.csv
  skpresto apply decisions.json photos/                          (lists the moves)
  skpresto apply decisions.json photos/ --move-to photos-clean
"""
_TABLE_COLUMNS = "row, given, suggested, quality, is_safe"


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    top = argparse.ArgumentParser(
        prog="skpresto", description="Find wrong labels, and correct them."
    )
    top.add_argument("--version", action="version", version=skpresto.__version__)
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_audit(commands)
    _add_apply(commands)
    return top


def _command(commands: Any, name: str, about: str, examples: str) -> Any:
    command = commands.add_parser(
        name,
        help=about,
        description=about,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    # The modules behind a command are imported when it runs.
    command.set_defaults(
        run=lambda arguments: import_module(f"skpresto.cli._{name}").run(arguments)
    )
    command.add_argument(
        "--force", action="store_true", help="replace output files that exist"
    )
    command.add_argument(
        "--encoding", metavar="NAME", help="encoding of CSV files (default: UTF-8)"
    )
    command.add_argument("--traceback", action="store_true", help=argparse.SUPPRESS)
    return command


def _add_audit(commands: Any) -> None:
    about = "Find the labels that are probably wrong, and write a page to review them."
    add = _command(commands, "audit", about, _AUDIT_EXAMPLES).add_argument
    data = (
        "a CSV or Parquet file, a folder of images by class, or embeddings or "
        "out-of-fold probabilities (.npy, .npz, or .csv, .parquet with --labels)"
    )
    add("data", type=Path, metavar="DATA", help=data)
    add("--label", metavar="COLUMN", help="the column of the labels")
    labels = (
        "labels that belong to embeddings or probabilities: .csv, .parquet or .npy, or "
        "a folder of images by class"
    )
    add("--labels", type=Path, metavar="FILE", help=labels)
    add("--text", metavar="COLUMN", help="a column of texts")
    image = "a column of paths of images, which are shown on the page"
    add("--image", metavar="COLUMN", help=image)
    named = "a column that names the rows and is not trained on; may be repeated"
    add("--id", metavar="COLUMN", action="append", default=[], help=named)
    used = "train on a column that would be left out; may be repeated"
    add("--use", metavar="COLUMN", action="append", default=[], help=used)
    ignored = "a column that is not used; may be repeated"
    add("--ignore", metavar="COLUMN", action="append", default=[], help=ignored)
    kept = "take every spelling of a label for a class of its own"
    add("--labels-as-given", action="store_true", help=kept)
    page = "the page (default: NAME-audit.html)"
    add("--out", type=Path, metavar="FILE", help=page)
    table = "also write a CSV file with one line per row: " + _TABLE_COLUMNS
    add("--table", type=Path, metavar="FILE", help=table)
    tasks = "also write the suspects as tasks of Label Studio, and its config (.xml)"
    add("--label-studio", type=Path, metavar="FILE", help=tasks)
    records = "also write the suspects as records of Argilla and Hugging Face (JSON)"
    add("--records", type=Path, metavar="FILE", help=records)
    images = "also write all images for FiftyOne"
    add("--fiftyone", type=Path, metavar="FILE", help=images)
    checked = "decisions with a control sample, exported from the page of this data"
    add("--checked", type=Path, metavar="DECISIONS", help=checked)
    threshold = (
        "labels of a lower quality are suspects (default: as the method decides)"
    )
    add("--threshold", type=_fraction, metavar="QUALITY", help=threshold)
    quick = (
        "seconds: three rounds of trees or a linear model instead of networks; of "
        "images, and with --epochs, one network instead of cross-fitting"
    )
    add("--quick", action="store_true", help=quick)
    model = (
        "the classifier that assesses the labels of a table or of embeddings: a class, "
        "as lightgbm.LGBMClassifier, or MODULE:NAME; it is imported, which runs code"
    )
    add("--model", metavar="MODULE:NAME", help=model)
    add("--seed", type=_natural, default=0, help="default: 0")
    epochs = "default: 20 to 60, by the number of rows"
    add("--epochs", type=_positive, help=epochs)
    jobs = "processor threads (default: 1)"
    add("--jobs", type=_positive, metavar="N", help=jobs)
    top = "list at most N suspects (default: 5000, or 1000 images)"
    add("--top", type=_positive, metavar="N", help=top)


def _add_apply(commands: Any) -> None:
    about = "Write a copy of the data with the labels that were decided on the page."
    add = _command(commands, "apply", about, _APPLY_EXAMPLES).add_argument
    made = "exported from the page, or as JSON from Label Studio"
    add("decisions", type=Path, metavar="DECISIONS", help=made)
    data = "the file or folder that was audited"
    add("data", type=Path, metavar="DATA", help=data)
    add("--out", type=Path, metavar="FILE", help="the corrected file")
    folder = "copy all images to a new folder, by their corrected class"
    add("--move-to", type=Path, metavar="FOLDER", help=folder)
    new = "a class that the data does not have yet; may be repeated"
    add("--new-class", metavar="NAME", action="append", default=[], help=new)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return number


def _fraction(text: str) -> float:
    number = float(text)
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return number


def _natural(text: str) -> int:
    number = int(text)
    if not 0 <= number < 2**32:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 2**32 - 1")
    return number


# argparse names the type in its message for texts that are not numbers.
_positive.__name__ = _natural.__name__ = "number"

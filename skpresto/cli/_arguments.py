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
  skpresto audit photos/ --out report.html
  skpresto audit probs.npy --labels y.csv
"""
_APPLY_EXAMPLES = """\
examples:
  skpresto apply decisions.json train.csv --out train.clean.csv
  skpresto apply decisions.json photos/                          (lists the moves)
  skpresto apply decisions.json photos/ --move-to photos-clean
"""


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
    audit = _command(
        commands,
        "audit",
        "Find the labels that are probably wrong, and write a page to review them.",
        _AUDIT_EXAMPLES,
    )
    audit.add_argument(
        "data",
        type=Path,
        metavar="DATA",
        help="a CSV or Parquet file, a folder of images by class, or out-of-fold "
        "probabilities (.npy, .npz, or .csv with --labels)",
    )
    audit.add_argument("--label", metavar="COLUMN", help="the column of the labels")
    audit.add_argument(
        "--labels",
        type=Path,
        metavar="FILE",
        help="labels that belong to probabilities: .csv, .parquet or .npy",
    )
    audit.add_argument("--text", metavar="COLUMN", help="a column of texts")
    audit.add_argument(
        "--ignore",
        metavar="COLUMN",
        action="append",
        default=[],
        help="a column that is not used; may be repeated",
    )
    audit.add_argument(
        "--out", type=Path, metavar="FILE", help="the page (default: NAME-audit.html)"
    )
    audit.add_argument(
        "--table",
        type=Path,
        metavar="FILE",
        help="also write a CSV file with one line per row: "
        "row, given, suggested, quality, is_safe",
    )
    audit.add_argument(
        "--quick",
        action="store_true",
        help="one network instead of cross-fitting: about twice as fast, and less "
        "accurate",
    )
    audit.add_argument("--seed", type=_natural, default=0, help="default: 0")
    audit.add_argument(
        "--epochs", type=_positive, help="default: 20 to 60, by the number of rows"
    )
    audit.add_argument(
        "--jobs", type=_positive, metavar="N", help="processor threads (default: 1)"
    )
    audit.add_argument(
        "--top",
        type=_positive,
        metavar="N",
        help="list at most N suspects (default: 5000, or 1000 images)",
    )


def _add_apply(commands: Any) -> None:
    apply = _command(
        commands,
        "apply",
        "Write a copy of the data with the labels that were decided on the page.",
        _APPLY_EXAMPLES,
    )
    apply.add_argument(
        "decisions", type=Path, metavar="DECISIONS", help="exported from the page"
    )
    apply.add_argument(
        "data", type=Path, metavar="DATA", help="the file or folder that was audited"
    )
    apply.add_argument("--out", type=Path, metavar="FILE", help="the corrected file")
    apply.add_argument(
        "--move-to",
        type=Path,
        metavar="FOLDER",
        help="copy all images to a new folder, by their corrected class",
    )


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return number


def _natural(text: str) -> int:
    number = int(text)
    if not 0 <= number < 2**32:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 2**32 - 1")
    return number


# argparse names the type in its message for texts that are not numbers.
_positive.__name__ = _natural.__name__ = "number"

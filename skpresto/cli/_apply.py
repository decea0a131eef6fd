"""``skpresto apply``: a copy of the data with the decided labels."""

import argparse
import sys

from skpresto.audit._apply import apply_to_table, copy_images, moves_of_images
from skpresto.audit._decisions import Decisions, read_decisions
from skpresto.audit._same_file import check_separate
from skpresto.cli._terminal import plain

_KINDS = {"table": "a table", "images": "a folder of images"}


def run(arguments: argparse.Namespace) -> None:
    """Apply decisions to the data that was audited."""
    decisions = read_decisions(arguments.decisions)
    path = arguments.data
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist.")
    kind = "images" if path.is_dir() else "table"
    if kind != decisions.kind:
        raise ValueError(
            f"{decisions.path} holds decisions about {decisions.source!r}, "
            f"{_KINDS.get(decisions.kind, 'samples in memory')}, but {path} is "
            f"{_KINDS[kind]}."
        )
    if kind == "table":
        _apply_to_table(decisions, arguments)
    else:
        _apply_to_images(decisions, arguments)


def _apply_to_table(decisions: Decisions, arguments: argparse.Namespace) -> None:
    if arguments.out is None:
        raise ValueError("Corrected tables need a name of their own. Pass --out FILE.")
    inputs = {"DECISIONS": [arguments.decisions], "DATA": [arguments.data]}
    check_separate({"--out": arguments.out}, inputs)
    applied = apply_to_table(
        decisions,
        arguments.data,
        arguments.out,
        encoding=arguments.encoding,
        overwrite=arguments.force,
        new_classes=arguments.new_class,
    )
    _say(f"{_counts(*applied)}\nWritten: {arguments.out.resolve()}")


def _apply_to_images(decisions: Decisions, arguments: argparse.Namespace) -> None:
    folder, new_folder = arguments.data, arguments.move_to
    if arguments.out is not None:
        raise ValueError(
            f"{folder} is a folder of images, which are copied to a new folder. Pass "
            "--move-to FOLDER in place of --out."
        )
    moves = moves_of_images(decisions, folder, arguments.new_class)
    counts = _counts(moves.decisions, len(moves.moved))
    if new_folder is None:
        for old, new in moves.moved:
            _say(f"{plain(old.as_posix())} -> {plain(new.as_posix())}")
        for old in sorted(moves.discarded):
            _say(f"{plain(old.as_posix())}: discarded")
        _say(
            f"{counts}\nNothing was written. Pass --move-to "
            "FOLDER to copy all images to a new folder, by their corrected class."
        )
        return
    n_images = copy_images(folder, moves, new_folder)
    _say(f"{counts}\nCopied {n_images:,} images: {new_folder.resolve()}")


def _counts(decisions: Decisions, n_changed: int) -> str:
    n_discarded = len(decisions.discarded)
    new = sorted({label for _, label in decisions.changes.values()})
    made = [name for name in new if name in decisions.new_classes]
    lines = [
        f"Labels changed: {n_changed:,}, kept: {decisions.n_kept:,}, "
        f"unsure and unchanged: {decisions.n_unsure:,}."
        + (f" Discarded: {n_discarded:,}." if n_discarded else "")
    ]
    if made:
        lines.append(f"New classes: {', '.join(map(repr, made))}.")
    return "\n".join([*lines, *map(plain, decisions.left_out)])


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")

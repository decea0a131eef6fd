"""``skpresto audit``: read, fit, and write the page."""

import argparse
import time
import warnings
from datetime import timedelta
from pathlib import Path
from typing import Any

from skpresto.audit import LabelReport
from skpresto.audit._export import csv_text
from skpresto.audit._fit import audit_epochs, audit_estimator, fit_report
from skpresto.audit._page import About, render_page
from skpresto.audit._safe_write import check_writable, write_text
from skpresto.audit._sources import (
    Source,
    read_image_folder,
    read_probabilities,
    read_table,
)
from skpresto.audit._sources.probabilities import PROBABILITY_ENDINGS, ProbabilitySource
from skpresto.cli._progress import fit_progress
from skpresto.cli._terminal import Terminal


def run(arguments: argparse.Namespace) -> None:
    """Audit labels, and write what was found."""
    terminal = Terminal()
    out = arguments.out or Path(f"{arguments.data.resolve().stem}-audit.html")
    outputs = [path for path in (out, arguments.table) if path is not None]
    for path in outputs:
        check_writable(path, overwrite=arguments.force)
    started = time.perf_counter()
    source = _read(arguments, terminal)
    report, notes = _report(source, arguments, terminal)
    terminal.say("Writing the page")
    about = _about(source, arguments, report, notes, time.perf_counter() - started)
    page = render_page(report, about=about, shown=source.view(), top=arguments.top)
    if arguments.table is not None:
        rows = csv_text(_row_table(report, source), float_format="%.6g")
        write_text(arguments.table, rows, overwrite=arguments.force)
    write_text(out, page, overwrite=arguments.force)
    terminal.summarize(report, about, outputs)


def _read(arguments: argparse.Namespace, terminal: Terminal) -> Source:
    path = arguments.data
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist.")
    terminal.say(f"Reading {path}")
    if path.is_dir():
        return read_image_folder(path)
    if path.suffix.lower() in PROBABILITY_ENDINGS or arguments.labels is not None:
        return read_probabilities(
            path, arguments.labels, arguments.label, arguments.encoding
        )
    if arguments.label is None:
        raise ValueError(
            f"{path} is a table, and an audit needs to know which column holds the "
            "labels. Pass --label COLUMN."
        )
    return read_table(
        path,
        arguments.label,
        text=arguments.text,
        ignore=tuple(arguments.ignore),
        encoding=arguments.encoding,
        say=terminal.say,
    )


def _report(
    source: Source, arguments: argparse.Namespace, terminal: Terminal
) -> tuple[LabelReport, list[str]]:
    """Return the report, and what the user should know about the fit."""
    if isinstance(source, ProbabilitySource):
        report = LabelReport.from_probabilities(
            source.probabilities, source.labels, source.classes
        )
        return report, []
    terminal.say("Preparing the features")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of encoders, about columns they find odd
        features = source.features(arguments.seed)
    estimator = audit_estimator(
        len(features),
        quick=arguments.quick,
        seed=arguments.seed,
        epochs=arguments.epochs,
        n_jobs=arguments.jobs,
    )
    with (
        fit_progress(terminal, estimator),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        report = fit_report(estimator, features, source.labels)
    own = [w for w in caught if issubclass(w.category, UserWarning)]
    return report, list(dict.fromkeys(str(w.message) for w in own))


def _row_table(report: LabelReport, source: Source) -> Any:
    """Return a line per row of the input; rows that were left out have no values."""
    columns = ["given", "suggested", "quality", "is_safe"]
    table = report.frame[columns].astype({"is_safe": "Int8"}).set_axis(source.rows)
    return table.reindex(range(source.n_rows)).set_axis(source.row_keys())


def _about(
    source: Source,
    arguments: argparse.Namespace,
    report: Any,
    notes: list[str],
    seconds: float,
) -> About:
    settings = [("rows", f"{len(source.labels):,}")]
    if not isinstance(source, ProbabilitySource):
        epochs = arguments.epochs or audit_epochs(len(source.labels))
        settings += [("epochs", str(epochs)), ("seed", str(arguments.seed))]
    settings += [("time", str(timedelta(seconds=round(seconds))))]
    kind = "table" if source.kind == "probabilities" else source.kind
    return About(
        title=source.path.name,
        kind=kind,
        fingerprint=source.fingerprint,
        label_name=source.label_name,
        rows=source.rows.tolist(),
        names=source.row_names(),
        settings=settings,
        left_out=[(left.name, left.reason) for left in source.left_out],
        notes=[*source.notes, *notes],
    )

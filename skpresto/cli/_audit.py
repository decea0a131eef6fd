"""``skpresto audit``: read, fit, and write the page."""

import argparse
import time
import warnings
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from skpresto.audit import LabelReport
from skpresto.audit._decided import safe_by
from skpresto.audit._decisions import read_decisions
from skpresto.audit._export import csv_text
from skpresto.audit._fit import audit_epochs, audit_estimator, fit_report
from skpresto.audit._page import About, render_page
from skpresto.audit._safe_write import check_writable, write_texts
from skpresto.audit._same_file import check_separate
from skpresto.audit._sources import (
    Source,
    Wishes,
    read_image_folder,
    read_table,
    read_with_labels,
)
from skpresto.audit._sources.base import listed
from skpresto.audit._sources.frames import check_columns, column_names
from skpresto.audit._sources.images import images_below
from skpresto.audit._sources.matrices import ARRAY_ENDINGS
from skpresto.audit._sources.probabilities import ProbabilitySource
from skpresto.audit._sources.spellings import grouped, note_about
from skpresto.audit._tools import Exported
from skpresto.cli._model import finds_wrong_labels, model_of
from skpresto.cli._other_tools import outputs_for_tools, texts_for_tools
from skpresto.cli._progress import fit_progress
from skpresto.cli._terminal import Terminal
from skpresto.cli._warnings import diverged, notes_of_fit
from skpresto.exceptions import TrainingDivergedError

#: Options about tables, which folders of images do not have.
_OF_TABLES = ("label", "labels", "text", "image", "id", "use", "ignore")


def run(arguments: argparse.Namespace) -> None:
    """Audit labels, and write what was found."""
    terminal = Terminal()
    out = arguments.out or Path(f"{arguments.data.resolve().stem}-audit.html")
    outputs = {"--out": out}
    if arguments.table is not None:
        outputs["--table"] = arguments.table
    outputs |= outputs_for_tools(arguments)
    _check_input(arguments)
    _check_outputs(outputs, arguments)
    model = model_of(arguments)
    started = time.perf_counter()
    source = _read(arguments, terminal)
    checked = _checked(source, arguments)
    report, notes = _report(source, arguments, terminal, model)
    report = _settled(report, arguments, checked)
    terminal.say("Writing the page")
    about = _about(source, arguments, report, notes, time.perf_counter() - started)
    view = source.view()
    page = render_page(report, about=about, shown=view, top=arguments.top)
    texts = {out: page, **texts_for_tools(arguments, Exported(report, about, view))}
    if arguments.table is not None:
        rows = _row_table(report, source)
        texts[arguments.table] = csv_text(rows, float_format="%.6g")
    write_texts(texts, overwrite=arguments.force)
    terminal.summarize(report, about, list(texts))


def _check_input(arguments: argparse.Namespace) -> None:
    """Raise if data, or columns of it, are not there, before outputs are looked at."""
    data, labels, label = arguments.data, arguments.labels, arguments.label
    if not data.exists():
        raise FileNotFoundError(f"{data} does not exist.")
    if data.is_dir():
        _check_no_columns(arguments, data, *_OF_TABLES)
    elif labels is not None and labels.is_dir():
        _check_no_columns(arguments, labels, "label", "text", "image", "id")
    elif label is not None:
        wanted = [label, *_wishes(arguments).named]
        table = data if labels is None else labels
        if table.suffix.lower() not in ARRAY_ENDINGS:
            columns = column_names(table, arguments.encoding)
            check_columns(wanted, columns, table)
    elif labels is None and data.suffix.lower() not in ARRAY_ENDINGS:
        columns = column_names(data, arguments.encoding)
        raise ValueError(
            f"{data} is a table, and an audit needs to know which column holds the "
            f"labels. Pass --label COLUMN. {listed(columns)}"
        )


def _check_no_columns(
    arguments: argparse.Namespace, folder: Path, *options: str
) -> None:
    given = [name for name in options if getattr(arguments, name)]
    if given:
        raise ValueError(
            f"{folder} is a folder of images, whose labels are the names of their "
            f"folders, so that --{given[0]} has no meaning. Leave it out."
        )


def _check_outputs(outputs: dict[str, Path], arguments: argparse.Namespace) -> None:
    """Raise if an output cannot be written, or would replace something else."""
    data, labels = arguments.data, arguments.labels
    inputs = {"DATA": [data], "--labels": [] if labels is None else [labels]}
    inputs["--checked"] = [] if arguments.checked is None else [arguments.checked]
    if any(path.exists() for path in outputs.values()):
        folders = [path for path in (data, labels) if path and path.is_dir()]
        images = [image for folder in folders for image in images_below(folder)]
        inputs["an image of DATA"] = images
    check_separate(outputs, inputs)
    for path in outputs.values():
        check_writable(path, overwrite=arguments.force)


def _read(arguments: argparse.Namespace, terminal: Terminal) -> Source:
    path = arguments.data
    terminal.say(f"Reading {path}")
    if path.is_dir():
        return read_image_folder(path, arguments.labels_as_given)
    if path.suffix.lower() in ARRAY_ENDINGS or arguments.labels is not None:
        return read_with_labels(
            path,
            arguments.labels,
            label=arguments.label,
            wishes=_wishes(arguments),
            as_given=arguments.labels_as_given,
            encoding=arguments.encoding,
        )
    return read_table(
        path,
        arguments.label,
        wishes=_wishes(arguments),
        as_given=arguments.labels_as_given,
        encoding=arguments.encoding,
        say=terminal.say,
    )


def _wishes(arguments: argparse.Namespace) -> Wishes:
    names = ("text", "image", "use", "ignore")
    given = {name: getattr(arguments, name) for name in names}
    return Wishes(ids=arguments.id, **given)


def _report(
    source: Source, arguments: argparse.Namespace, terminal: Terminal, model: Any
) -> tuple[LabelReport, list[str]]:
    """Return the report, and what the user should know about the fit."""
    if isinstance(source, ProbabilitySource):
        report = LabelReport.from_probabilities(
            source.probabilities, source.labels, source.classes
        )
        return report, []
    if model is None and not _without_network(source, arguments):
        model = _network(arguments, source)
    terminal.say("Preparing the features")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of encoders, about columns they find odd
        features = source.features(arguments.seed)
    if model is None or not finds_wrong_labels(model):
        if features.ndim > 2:
            raise ValueError(
                f"--model {arguments.model} needs a table, or embeddings of the images "
                "that a large network has made: skpresto audit embeddings.npy "
                f"--labels {source.path}."
            )
        how = {"n_jobs": arguments.jobs, "random_state": arguments.seed}
        report = LabelReport.from_classifier(model, features, source.labels, **how)
        return report, []
    with (
        fit_progress(terminal, model),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        try:
            report = fit_report(model, features, source.labels)
        except TrainingDivergedError:
            raise diverged() from None
    return report, notes_of_fit(caught)


def _network(arguments: argparse.Namespace, source: Source) -> Any:
    """Return the classifier to fit; raise before a long wait if torch is missing."""
    try:
        return audit_estimator(
            len(source.labels),
            quick=arguments.quick,
            seed=arguments.seed,
            epochs=arguments.epochs,
            n_jobs=arguments.jobs,
        )
    except ImportError as error:
        way_out = "Or pass --quick without --epochs: trees, which need no network."
        if source.kind == "images" and source.embeddings is None:
            way_out = "Or pass embeddings of the images, and --quick."
        raise ImportError(f"{error} {way_out}") from None


def _checked(source: Source, arguments: argparse.Namespace) -> dict[int, bool] | None:
    """Return which positions were checked by hand, and whether they are wrong."""
    if arguments.checked is None:
        return None
    decisions = read_decisions(arguments.checked)
    decisions.check_fingerprint(source.fingerprint, source.path)
    position_of = {int(row): i for i, row in enumerate(source.rows)}
    answers = {
        position_of[row]: is_wrong
        for row, is_wrong in decisions.checked.items()
        if row in position_of
    }
    if not answers:
        raise ValueError(
            f"{arguments.checked} holds no answers to the control sample, of which "
            "--checked makes use. Decide labels in the view 'Control sample' of the "
            "page, and export the decisions."
        )
    return answers


def _settled(
    report: LabelReport,
    arguments: argparse.Namespace,
    checked: dict[int, bool] | None,
) -> LabelReport:
    """Return the report with the threshold and the checked labels of the command."""
    owner = "skpresto audit"
    fields = safe_by(arguments.threshold, report.quality, owner)
    return replace(report, checked=checked, **fields)


def _without_network(source: Source, arguments: argparse.Namespace) -> bool:
    """Return whether trees or a linear model are enough; epochs ask for a network."""
    has_features = source.kind != "images" or source.embeddings is not None
    return arguments.quick and not arguments.epochs and has_features


def _row_table(report: LabelReport, source: Source) -> Any:
    """Return a line per row of the input; rows that were left out have no values."""
    columns = ["given", "suggested", "quality", "is_safe"]
    table = report.frame[columns].astype({"is_safe": "Int8"}).set_axis(source.rows)
    table["given"] = source.spelled
    return table.reindex(range(source.n_rows)).set_axis(source.row_keys())


def _spelling_notes(source: Source) -> list[str]:
    return [note_about(source.variants)] if source.variants else []


def _about(
    source: Source,
    arguments: argparse.Namespace,
    report: Any,
    notes: list[str],
    seconds: float,
) -> About:
    settings = [("rows", f"{len(source.labels):,}")]
    if not isinstance(source, ProbabilitySource):
        if arguments.model is None and not _without_network(source, arguments):
            epochs = arguments.epochs or audit_epochs(len(source.labels))
            settings += [("epochs", str(epochs))]
        settings += [("seed", str(arguments.seed))]
    settings += [("time", str(timedelta(seconds=round(seconds))))]
    ids = source.ids()
    kind = "table" if source.kind == "probabilities" else source.kind
    return About(
        title=source.path.name,
        kind=kind,
        fingerprint=source.fingerprint,
        label_name=source.label_name,
        rows=source.rows.tolist(),
        names=source.row_names(),
        ids=None if ids is None else ids.tolist(),
        id_name=None if ids is None else str(ids.name),
        settings=settings,
        left_out=source.left_out,
        notes=[*_spelling_notes(source), *source.notes, *notes],
        spelled=source.spelled.tolist() if source.variants else None,
        variants=grouped(source.variants),
    )

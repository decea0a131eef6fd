"""Suspects as records of Hugging Face datasets and of Argilla: a line each."""

import json
from typing import Any

from skpresto.audit._tools.exported import Exported


def records_text(exported: Exported, top: int | None) -> str:
    """Return suspects as JSON Lines, one object with the same keys per label.

    Parameters
    ----------
    exported : Exported
        The report.
    top : int or None
        Number of suspects; None means all.
    """
    positions = exported.suspects(top)
    found, samples = exported.findings(positions), exported.samples(positions)
    files = exported.view.files if exported.view is not None else None
    lines = []
    for i, finding, sample in zip(positions.tolist(), found, samples, strict=True):
        row = finding.pop("row")
        known = {"id": finding.pop("id", str(row)), "row": row}
        record: dict[str, Any] = {**known, **finding, **sample}
        if files is not None:
            record["file"] = str(files[i].resolve())
        # Keys would become columns, of which most are empty in most rows.
        record["probabilities"] = [
            {"label": label, "probability": probability}
            for label, probability in finding["probabilities"].items()
        ]
        lines.append(json.dumps(record, ensure_ascii=False))
    return "".join(f"{line}\n" for line in lines)

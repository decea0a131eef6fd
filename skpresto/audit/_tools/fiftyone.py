"""Images with given and suggested labels, as FiftyOne reads them."""

import json
from typing import Any

import numpy as np

from skpresto.audit._tools.exported import Exported

_FIELDS = "fiftyone.core.fields"
_CLASSIFICATION = (
    f"{_FIELDS}.EmbeddedDocumentField(fiftyone.core.labels.Classification)"
)
#: Fields of the samples and their types, as a dataset of FiftyOne names them.
_SCHEMA = {
    "filepath": f"{_FIELDS}.StringField",
    "tags": f"{_FIELDS}.ListField({_FIELDS}.StringField)",
    "ground_truth": _CLASSIFICATION,
    "predictions": _CLASSIFICATION,
    "label_quality": f"{_FIELDS}.FloatField",
    "mistakenness": f"{_FIELDS}.FloatField",
    "row": f"{_FIELDS}.IntField",
}


def fiftyone_text(exported: Exported) -> str:
    """Return all images of a report as the JSON of ``fiftyone.Dataset.from_json``.

    ``ground_truth`` is the given label, ``predictions`` the suggested one, and
    ``mistakenness`` the probability that the given label is wrong. Suspects have the
    tag "suspect".
    """
    files = None if exported.view is None else exported.view.files
    if files is None:
        raise ValueError(
            "FiftyOne shows images, and needs files with them. Pass the paths of the "
            "images: shown=[Path(...), ...], or audit a folder of images, or a table "
            "with --image COLUMN."
        )
    positions = np.arange(len(exported.report))
    is_suspect = exported.report.is_suspect
    content = {
        "name": exported.about.title,
        "media_type": "image",
        "sample_fields": _SCHEMA,
        "default_classes": [str(label) for label in exported.report.classes],
        "samples": [
            _sample(finding, str(files[i].resolve()), bool(is_suspect[i]))
            for i, finding in enumerate(exported.findings(positions))
        ],
    }
    return json.dumps(content, ensure_ascii=False)


def _sample(finding: dict[str, Any], path: str, is_suspect: bool) -> dict[str, Any]:
    return {
        "filepath": path,
        "tags": ["suspect"] if is_suspect else [],
        "ground_truth": {"_cls": "Classification", "label": finding["given"]},
        "predictions": {
            "_cls": "Classification",
            "label": finding["suggested"],
            "confidence": finding["score"],
        },
        "label_quality": finding["quality"],
        "mistakenness": finding["error_probability"],
        "row": finding["row"],
    }

"""Labels to review as files of other tools: Label Studio, Argilla, FiftyOne."""

from skpresto.audit._tools.exported import Exported
from skpresto.audit._tools.fiftyone import fiftyone_text
from skpresto.audit._tools.label_studio import labeling_config, tasks_text
from skpresto.audit._tools.records import records_text

__all__ = [
    "Exported",
    "fiftyone_text",
    "labeling_config",
    "records_text",
    "tasks_text",
]

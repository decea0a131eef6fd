"""What a report can be turned into: files, a page, a plot, and text."""

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from skpresto._labels import decode
from skpresto._packages import needed_by
from skpresto.audit._export import csv_text, json_text, text_or_file
from skpresto.audit._notebook import notebook_html
from skpresto.audit._plot import LabelReportDisplay
from skpresto.audit._safe_write import write_texts
from skpresto.plots._axes import frame_of


class ReportOutputs:
    """The outputs of a :class:`~skpresto.audit.LabelReport`."""

    given: Any
    suggested: Any
    quality: Any
    is_safe: Any
    order: Any
    index: Any
    classes: Any
    is_suspect: Any
    method: str
    summary: Any
    suspects: Any

    @cached_property
    def frame(self) -> Any:
        """One row per sample, in the order of the samples.

        The columns are ``given``, ``suggested``, ``quality``, ``is_safe`` and
        ``review_rank``, which is 1 for the label to review first.
        """
        rank = np.empty(len(self.given), dtype=np.int64)
        rank[self.order] = np.arange(1, len(self.given) + 1)
        frame = frame_of(
            {
                "given": decode(self.given, self.classes),
                "suggested": decode(self.suggested, self.classes),
                "quality": self.quality,
                "is_safe": self.is_safe,
                "review_rank": rank,
            }
        )
        return frame if self.index is None else frame.set_axis(self.index)

    def to_csv(self, path: Any = None) -> str | None:
        """Write :attr:`frame` as CSV, or return it as text if there is no path.

        Texts that a spreadsheet would take for a formula, those that begin with ``=``,
        ``+``, ``-``, ``@``, a tab or a carriage return, are preceded by an apostrophe.
        """
        return text_or_file(csv_text(self.frame), path)

    def to_json(self, path: Any = None) -> str | None:
        """Write summary and :attr:`frame` as JSON, or return the text."""
        return text_or_file(json_text(self.frame, self.summary().to_dict()), path)

    def to_html(self, path: Any, **options: Any) -> Any:
        """Write a page on which a person settles the suspect labels."""
        with needed_by("The page of a label audit", "audit"):
            from skpresto.audit._page import write_page

            return write_page(self, path, **options)

    def to_label_studio(
        self,
        path: Any = None,
        *,
        shown: Any = None,
        top: int | None = None,
        control: bool = False,
    ) -> str | None:
        """Write suspects as tasks of Label Studio, with the suggested labels.

        The labeling config of the project is written beside them, with the ending
        ``.xml``. The project's export in the format "JSON" can be applied as decisions.

        Parameters
        ----------
        path : path, default=None
            The file to import; None returns it as text.
        shown : DataFrame, array, list of str or of Path, default=None
            What is shown of the samples: values, images or texts. None means the
            samples of the report.
        top : int, default=None
            Number of suspects; None means all.
        control : bool, default=False
            A control sample in place of the suspects, without suggestions: 200 labels
            to check, see :meth:`control_sample`.
        """
        tools, exported = self._for_tools("to_label_studio", shown)
        tasks = tools.tasks_text(exported, top, control)
        if path is None:
            return str(tasks)
        config = tools.labeling_config(exported)
        texts = {Path(path): tasks, Path(path).with_suffix(".xml"): config}
        write_texts(texts, overwrite=True)
        return None

    def to_records(
        self, path: Any = None, *, shown: Any = None, top: int | None = None
    ) -> str | None:
        """Write suspects as records of Hugging Face datasets and of Argilla.

        One JSON object per line, for ``datasets.load_dataset("json", data_files=...)``
        and ``Dataset.records.log`` of Argilla.

        Parameters
        ----------
        path : path, default=None
            The file; None returns it as text.
        shown, top
            As in :meth:`to_label_studio`.
        """
        tools, exported = self._for_tools("to_records", shown)
        return text_or_file(tools.records_text(exported, top), path)

    def to_fiftyone(self, path: Any = None, *, shown: Any = None) -> str | None:
        """Write all images, given and suggested labels for FiftyOne.

        For ``fiftyone.Dataset.from_json``. Suspects have the tag "suspect".

        Parameters
        ----------
        path : path, default=None
            The file; None returns it as text.
        shown : list of Path, default=None
            The images, one per sample.
        """
        tools, exported = self._for_tools("to_fiftyone", shown)
        return text_or_file(tools.fiftyone_text(exported), path)

    def _for_tools(self, method: str, shown: Any) -> tuple[Any, Any]:
        with needed_by("A file for another tool", "audit"):
            from skpresto.audit import _tools

            owner = f"{type(self).__name__}.{method}"
            return _tools, _tools.Exported.of(self, shown, owner)

    def decided_labels(self, path: Any) -> Any:
        """Return the labels with the decisions that were exported from the page.

        Rows are found by the ids of the file, if it has any and the report has an
        index, so that decisions about corrected or reordered samples fit, too.

        Parameters
        ----------
        path : path
            The file, ``decisions.json``.

        Returns
        -------
        labels : pandas.Series
            One label per sample, with the index of the report, without the samples
            that were discarded: ``X.loc[labels.index]`` belongs to it.
        """
        from skpresto.audit._decided_labels import decided_labels

        return decided_labels(self, path)

    def plot(self, axes: Any = None) -> LabelReportDisplay:
        """Plot given against suggested labels, and the quality of the labels.

        Parameters
        ----------
        axes : pair of matplotlib axes, default=None
            Axes to plot on. If None, a new figure is created.
        """
        values = self.summary().matrix, self.classes, self.quality, self.is_suspect
        return LabelReportDisplay(*values).plot(axes)

    def __repr__(self) -> str:
        return f"LabelReport by {self.method}: {self.summary().headline()}"

    def _repr_html_(self) -> str:
        return notebook_html(self.summary(), self.suspects())

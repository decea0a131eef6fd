"""What is known of the labels that other tools are to show."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skpresto.audit._page.about import About
from skpresto.audit._page.payload import (
    fingerprint_of_report,
    name_of,
    row_of,
    select_samples,
    with_index,
)
from skpresto.audit._page.views import SampleView, view_of
from skpresto.audit._samples import check_samples


@dataclass(frozen=True)
class Exported:
    """A report, and how its samples are shown.

    Parameters
    ----------
    report : LabelReport
        The report.
    about : About
        Where the labels come from.
    view : SampleView or None
        Shows the samples.
    """

    report: Any
    about: About
    view: SampleView | None

    @classmethod
    def of(cls, report: Any, shown: Any, owner: str) -> "Exported":
        """Return a report with what is shown of its samples, as for its page."""
        if not isinstance(shown, SampleView):
            check_samples(shown, len(report), owner, "shown")
            shown = view_of(report.X if shown is None else shown)
        return cls(report, with_index(About(), report.index), shown)

    @property
    def fingerprint(self) -> str:
        """What identifies the data, as in decisions that are exported from the page."""
        return self.about.fingerprint or fingerprint_of_report(self.report, self.about)

    def suspects(self, top: int | None) -> NDArray[np.intp]:
        """Return positions of the suspects, the most suspect first."""
        n_suspects = int(self.report.is_suspect.sum())
        n_shown = n_suspects if top is None else min(top, n_suspects)
        return self.report.order[:n_shown]

    def controls(self) -> NDArray[np.intp]:
        """Return positions of the control sample, which are those of the page."""
        return select_samples(self.report, 0).controls

    def findings(self, positions: NDArray[np.intp]) -> list[dict[str, Any]]:
        """Return what was found out about each label, in plain values."""
        report, classes = self.report, [str(c) for c in self.report.classes]
        found = []
        for i in positions.tolist():
            probabilities = self._probabilities(i, classes)
            suggested, quality = classes[report.suggested[i]], _short(report.quality[i])
            found.append(
                {
                    "row": row_of(self.about, i),
                    **({} if self.about.ids is None else {"id": self.about.ids[i]}),
                    "name": name_of(self.about, i),
                    "given": classes[report.given[i]],
                    "suggested": suggested,
                    "score": probabilities.get(suggested, 1 - quality),
                    "quality": quality,
                    "error_probability": _short(report.error_probability[i]),
                    "probabilities": probabilities,
                }
            )
        return found

    def samples(self, positions: NDArray[np.intp]) -> list[dict[str, Any]]:
        """Return the samples: ``text``, ``image``, ``values``, as far as there are."""
        if self.view is None:
            return [{} for _ in positions]
        return self.view.whole(positions)

    def _probabilities(self, i: int, classes: list[str]) -> dict[str, float]:
        likeliest = self.report.likeliest
        if likeliest is None:
            return {}
        pairs = zip(likeliest.classes[i], likeliest.probability[i], strict=True)
        return {classes[k]: _short(p) for k, p in pairs}


def _short(value: Any) -> float:
    return float(f"{value:.4g}")

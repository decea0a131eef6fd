"""What a page says about the data and the audit, beside the report itself."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class About:
    """Where the labels of a report come from.

    Parameters
    ----------
    title : str, default="Label audit"
        Name of the data, such as the file name.
    kind : str, default="samples"
        "table", "images", "probabilities" or "samples".
    fingerprint : str, default=None
        Identifies the data in exported decisions. None means a hash of the labels.
    label_name : str, default=None
        Name of the label column.
    rows : sequence of int, default=None
        Position of each sample in the input; None means 0, 1, 2, ...
    names : sequence of str, default=None
        What each sample is called on the page; None means "row 0", "row 1", ...
    ids : sequence of str, default=None
        What identifies each sample in other files, too; all are different.
    id_name : str, default=None
        Name of the column of ``ids``.
    spelled : sequence of str, default=None
        The label of each sample as the input spells it; None means as its class.
    variants : sequence of (str, sequence of (str, str, int)), default=()
        Classes, each with the spellings that are taken for it: as the input has them,
        with blanks that can be seen, and how many labels have them.
    settings : sequence of (str, str), default=()
        How the audit was made, as pairs of a term and a value.
    left_out : sequence of (str, str), default=()
        Rows or files that were not audited, each with the reason.
    notes : sequence of str, default=()
        Further sentences.
    """

    title: str = "Label audit"
    kind: str = "samples"
    fingerprint: str | None = None
    label_name: str | None = None
    rows: Sequence[int] | None = None
    names: Sequence[str] | None = None
    ids: Sequence[str] | None = None
    id_name: str | None = None
    spelled: Sequence[str] | None = None
    variants: Sequence[tuple[str, Sequence[tuple[str, str, int]]]] = ()
    settings: Sequence[tuple[str, str]] = ()
    left_out: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()

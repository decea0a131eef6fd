"""What a report says in words: every number with what it rests on."""

from typing import Any

from skpresto.audit._calibration import ErrorEstimate

#: So many labels of the control sample are worth checking.
WORTH_CHECKING = 50


def headline(summary: Any) -> str:
    """Return the summary as one sentence, or two if errors cannot be told."""
    subject = f"{summary.n_labels:,} labels of {len(summary.classes)} classes"
    wrong = summary.n_wrong
    if not summary.is_known:
        return f"{subject}. {cannot_tell(summary)}"
    return f"{subject}, about {count(wrong)}: {percent(summary.noise_rate)}."


def cannot_tell(summary: Any) -> str:
    """Return why no number of wrong labels is stated, and what to do."""
    return (
        f"How many are wrong cannot be told: {why_not(summary)} Check "
        f"{WORTH_CHECKING} labels of the control sample to find out."
    )


def why_not(summary: Any) -> str:
    """Return why wrong labels cannot be told from samples that are hard."""
    return (
        "these predictions do not tell wrong labels from samples that are hard. Labels "
        "that were made wrong on purpose look more wrong than given ones in only "
        f"{100 * summary.auc:.0f} % of pairs."
    )


def about_suspects(summary: Any) -> str:
    """Return how many of the suspects are wrong."""
    if not summary.n_suspects:
        return "No label is a suspect: all are accepted as correct."
    if not summary.is_known:
        return f"{summary.n_suspects:,} labels are suspects."
    return (
        f"{summary.n_suspects:,} labels are suspects, of which about "
        f"{count(summary.n_wrong_suspects)}."
    )


def rests_on(summary: Any) -> str:
    """Return what the numbers are computed from."""
    if summary.n_checked:
        return (
            f"The numbers rest on {summary.n_checked} labels checked by hand, besides "
            f"{summary.evidence}."
        )
    return (
        f"The numbers rest on {summary.evidence}; no label was checked. Where nearly "
        "all labels are correct they are too high. Some fifty answers to the control "
        "sample make them much more certain."
    )


def count(wrong: ErrorEstimate) -> str:
    """Return a count with its interval as text.

    Examples
    --------
    >>> count(ErrorEstimate(1234.4, 900, 1500))
    '1,234 wrong (900 to 1,500)'
    """
    return f"{wrong.expected:,.0f} wrong ({wrong.low:,.0f} to {wrong.high:,.0f})"


def percent(rate: ErrorEstimate) -> str:
    """Return a rate with its interval as text.

    Examples
    --------
    >>> percent(ErrorEstimate(0.123, 0.1, 0.15))
    '12.3 % (10.0 to 15.0 %)'
    """
    expected, low, high = (100 * value for value in rate)
    return f"{expected:.1f} % ({low:.1f} to {high:.1f} %)"

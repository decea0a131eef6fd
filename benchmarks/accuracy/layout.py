"""Numbers and tables as Markdown."""

import textwrap
from collections.abc import Iterator

import numpy as np
import pandas as pd
from fits import Means

NOTHING = "\N{EN DASH}"


def percent(value: float) -> str:
    return NOTHING if pd.isna(value) else f"{100 * value:.1f}"


def fraction(value: float) -> str:
    return NOTHING if pd.isna(value) else f"{value:.3f}"


def with_error(mean: float, error: float, number=percent) -> str:
    """Return a mean and its standard error, if there is one."""
    return number(mean) if pd.isna(error) else f"{number(mean)} ± {number(error)}"


def texts(means: Means, is_bold: pd.DataFrame | None = None, number=percent):
    """Return the text of each mean, some of them in bold."""

    def text(mean: float, error: float, is_bold: bool) -> str:
        shown = with_error(mean, error, number)
        return f"**{shown}**" if is_bold else shown

    is_bold = np.zeros(means.mean.shape, bool) if is_bold is None else is_bold
    found = np.vectorize(text, otypes=[object])(*means, is_bold)
    return pd.DataFrame(found, means.mean.index, means.mean.columns)


def paragraph(text: str) -> Iterator[str]:
    """Yield the lines of a paragraph and a blank line."""
    yield from textwrap.wrap(" ".join(text.split()), width=100)
    yield ""


def markdown(table: pd.DataFrame, index: str | None = "data, noise") -> Iterator[str]:
    """Yield the lines of a table of texts and a blank line.

    The index is the first column; with None, it is left out.
    """
    if index is not None:
        table = table.reset_index(names=index)
    yield f"| {' | '.join(table.columns)} |"
    yield "|" + "---|" * table.shape[1]
    yield from (f"| {' | '.join(line)} |" for line in table.to_numpy())
    yield ""

"""The results of a benchmark with one line per fit, and statistics over seeds."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import results
from cells import CLEAN, SETTINGS
from contenders import CLEAN_SUBSET, DEFAULT, DEFAULT_RULE
from ranking import METRICS

#: Fractions of smaller gaps are mostly chance: one percentage point of error.
MIN_GAP = 0.01


def read_fits(*paths: Path) -> pd.DataFrame:
    """Return the results of some files, as :func:`fits_of` does."""
    found = results.read(*paths).values()
    if not found:
        raise SystemExit(f"There are no results in {', '.join(map(str, paths))}.")
    return fits_of(found)


def fits_of(found: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """Return results in the order in which they were written, one line per fit.

    If the settings of a data set were changed in between, only fits with its newest
    settings are returned. Further columns:

    - ``where``: data set, and noise with its rate, as in the presets;
    - ``row``: the same as tables name it, in the order of tables: by data set and
      noise, high rates first, clean labels last;
    - ``is_noisy``: whether some labels are wrong;
    - ``row_rate``: the noise rate of the newest fit of the row.
    """
    found = list(found)
    where = [(each["data"], (each["noise"], each["rate"])) for each in found]
    settings = [tuple(map(each.get, SETTINGS)) for each in found]
    fits = pd.DataFrame(found).assign(where=where)
    newest = dict(zip(fits["data"], settings, strict=True))
    fits = fits[[s == newest[d] for s, d in zip(settings, fits["data"], strict=True)]]
    fits = fits.assign(
        is_noisy=fits["noise"] != CLEAN,
        row_rate=fits.groupby("where")["noise_rate"].transform("last"),
    )
    return fits.assign(row=_rows(fits))


def _rows(fits: pd.DataFrame) -> pd.Categorical:
    rate = fits["rate"].astype(float).fillna(fits["row_rate"])
    shown = rate.map(lambda rate: f" {100 * rate:.0f} %").where(fits["is_noisy"], "")
    names = fits["data"] + ", " + fits["noise"] + shown
    order = fits.assign(name=names, data=fits["data"].factorize()[0], rate=-rate)
    order["is_clean"] = ~fits["is_noisy"]
    order = order.sort_values(["data", "is_clean", "noise", "rate"], kind="stable")
    return pd.Categorical(names, categories=order["name"].unique(), ordered=True)


def with_default_rule(fits: pd.DataFrame) -> pd.DataFrame:
    """Return the fits with the default stop rule and history length."""
    is_default = fits["rule"].isna() | (fits["rule"] == DEFAULT_RULE)
    return fits[is_default & (fits["q"].isna() | (fits["q"] == 10))]


def lines_of_scores(fits: pd.DataFrame) -> pd.DataFrame:
    """Return a line per fit and score that it was measured with, with its metrics."""
    fits = fits.reindex(columns=["row", "seed", "method", "scores"])
    lines = pd.DataFrame(
        {"row": row, "seed": seed, "method": method, "score": name} | metrics
        for row, seed, method, scores in fits.itertuples(index=False)
        if isinstance(scores, dict)  # older results have none
        for name, metrics in scores.items()
    ).reindex(columns=["row", "seed", "method", "score", *METRICS])
    return lines.astype({"row": fits["row"].dtype})


def by_seed(
    fits: pd.DataFrame, field: str = "error_last", columns: str = "method"
) -> pd.DataFrame:
    """Return one field of the results by row and seed, and by method or the like."""
    if field not in fits:  # older results have fewer fields
        fits = fits.assign(**{field: np.nan})
    return fits.pivot(index=["row", "seed"], columns=columns, values=field).astype(
        float
    )


class Means(NamedTuple):
    """Means over seeds and their standard errors, which are NaN for one seed."""

    mean: pd.DataFrame
    error: pd.DataFrame

    def of(self, columns: list) -> "Means":
        """Return some columns; those without a result are NaN."""
        return Means(*(part.reindex(columns=columns) for part in self))


def over_seeds(values: pd.DataFrame) -> Means:
    """Return the means of what :func:`by_seed` returns."""
    by_row = values.groupby(level="row", observed=True)
    return Means(by_row.mean(), by_row.agg(standard_error))


def standard_error(values: pd.Series) -> float:
    """Return that of the mean of values; NaN for a single one.

    With numpy's deviation, in whose last digits that of pandas differs: errors are
    multiples of 1 / 1,000, and the tables round them.
    """
    known = values.dropna().to_numpy()
    return np.std(known, ddof=1) / len(known) ** 0.5 if len(known) > 1 else np.nan


class Gaps(NamedTuple):
    """The error that noise adds to plain training, and what methods recover of it.

    ``size`` is the error of Default less that of the clean subset, ``closed`` the error
    of Default less that of a method, both by noisy row and method, over common seeds.
    """

    size: pd.DataFrame
    closed: pd.DataFrame

    @classmethod
    def of(cls, errors: pd.DataFrame) -> "Gaps":
        """Return the gaps by errors of each seed."""
        errors = errors.reindex(columns=errors.columns.union([DEFAULT, CLEAN_SUBSET]))
        gap = errors[DEFAULT] - errors[CLEAN_SUBSET]
        closed = errors.rsub(errors[DEFAULT], axis=0)[gap.notna()]
        size = closed.notna().replace(False, np.nan).astype(float).mul(gap, axis=0)
        means = (over_seeds(values).mean.dropna(how="all") for values in (size, closed))
        return cls(*means)

    @property
    def fraction(self) -> pd.DataFrame:
        """The fraction that is closed; NaN where the gap is very small."""
        return self.closed / self.size.where(self.size >= MIN_GAP)

    @property
    def pooled(self) -> pd.Series:
        """The sum of what is closed over the sum of the gaps, by method."""
        size = self.size.sum()
        return self.closed.sum() / size.where(size > 0)

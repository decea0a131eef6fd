"""Tables of finding wrong labels: metrics of all methods, and CTRL's experiments."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from contenders import CLEAN_LEARNING, DEFAULT, long_name
from fits import Means, by_seed, lines_of_scores, over_seeds
from layout import fraction, markdown, paragraph, percent, texts
from ranking import AVERAGE_PRECISION, METRICS
from rivals import CTRL_METHODS, CTRL_ROWS

if TYPE_CHECKING:
    from comparison import Comparison


#: Scores of a fit that are shown besides its own label quality, and their names.
FURTHER_SCORES = {
    (DEFAULT, "aum"): "Default: AUM",
    (DEFAULT, "log_margin"): "Default: log margin of mean probabilities",
    (CLEAN_LEARNING, "self_confidence"): "cleanlab: self-confidence",
    (CLEAN_LEARNING, "normalized_margin"): "cleanlab: normalized margin",
}
#: Percentage of rows assessed rightly, as published: Yue and Jha, "CTRL: clustering
#: training losses for label error detection", table for 20 % symmetric noise.
PUBLISHED = {
    "CTRL, as published": (98.4, 95.7),
    "confident learning, as published by CTRL's authors": (90.7, 92.0),
}


def scored(fits: pd.DataFrame) -> pd.DataFrame:
    """Return a line per fit and score, with the metrics; ``score`` is its name.

    The label quality of CleanLearning is cleanlab's self-confidence, and not repeated.
    """
    own = fits.reindex(columns=["row", "seed", "method", *METRICS])
    own = own[own["method"] != CLEAN_LEARNING]
    own = own.assign(score=own["method"].map(long_name))
    further = lines_of_scores(fits)
    names = zip(further["method"], further["score"], strict=True)
    further["score"] = [FURTHER_SCORES.get(name) for name in names]
    lines = pd.concat([own, further.dropna(subset="score")])
    return lines.astype(dict.fromkeys(METRICS, float))


def means_of_scores(comparison: "Comparison") -> dict[str, Means]:
    """Return the means over seeds by metric, on the noisy rows."""
    lines = scored(comparison.fits[comparison.fits["is_noisy"]])
    return {m: over_seeds(by_seed(lines, m, columns="score")) for m in METRICS}


def scores_by_group(comparison: "Comparison") -> dict[str, list[str]]:
    """Return the names of the scores that have a result, by group of cost."""
    known = scored(comparison.fits).dropna(subset=AVERAGE_PRECISION)["score"].unique()
    groups = {
        group: [
            score
            for method in methods
            for score in (
                long_name(method),
                *(name for (of, _), name in FURTHER_SCORES.items() if of == method),
            )
            if score in known
        ]
        for group, methods in comparison.groups.items()
    }
    return {group: scores for group, scores in groups.items() if scores}


def highest(means: Means) -> pd.DataFrame:
    """Return, by row and score, whether it is the first one with the highest mean."""
    is_highest = means.mean.eq(means.mean.max(axis=1), axis=0)
    return is_highest & (is_highest.cumsum(axis=1) == 1)


def overview(comparison: "Comparison") -> Iterator[str]:
    """Yield a line per score: the mean of each metric over the noisy rows."""
    yield "## Finding wrong labels: means over the noisy rows\n"
    yield from paragraph(
        """By `label_quality_` of the same fits, unless another score is named. The
        worst class is that of the lowest average precision among the samples with one
        given label. Best: rows in which a score has the highest average precision of
        its group, of those it was measured on; the means are over these rows."""
    )
    means = means_of_scores(comparison)
    for group, scores in scores_by_group(comparison).items():
        yield f"### {group}\n"
        table = pd.DataFrame(
            {
                METRICS[metric]: means[metric].of(scores).mean.mean()
                for metric in METRICS
            }
        ).map(fraction)
        precision = means[AVERAGE_PRECISION].of(scores)
        n_best = highest(precision).sum().map(str)
        table["best"] = n_best + " of " + precision.mean.notna().sum().map(str)
        yield from markdown(table, "score")


def by_group(comparison: "Comparison") -> Iterator[str]:
    """Yield the average precision of each row."""
    yield "## Average precision of finding wrong labels, by row\n"
    yield from paragraph(
        """Mean over seeds ± standard error; the highest value of a group in bold. The
        noise rate is the average precision of a random order."""
    )
    means = means_of_scores(comparison)[AVERAGE_PRECISION]
    for group, scores in scores_by_group(comparison).items():
        yield f"### {group}\n"
        own = means.of(scores)
        table = texts(own, highest(own), fraction)
        rates = comparison.rows["rate"][table.index]
        table.insert(0, "noise rate", rates.map(fraction))
        yield from markdown(table)


def assessed_rightly(fits: pd.DataFrame) -> pd.Series:
    """Return the fraction of labels accepted if correct and rejected if wrong.

    Examples
    --------
    Of ten labels, eight are correct; six of them and one wrong label are accepted:

    >>> fit = {"noise_rate": 0.2, "safe_precision": 6 / 7, "safe_recall": 6 / 8}
    >>> assessed_rightly(pd.DataFrame([fit])).round(6).tolist()
    [0.7]
    """
    rate, precision = fits["noise_rate"], fits["safe_precision"].astype(float)
    accepted_correct = (1 - rate) * fits["safe_recall"].astype(float)
    accepted_wrong = accepted_correct * (1 - precision) / precision
    # Without a precision, nothing is accepted.
    return accepted_correct + rate - accepted_wrong.where(precision.notna(), 0)


def ctrl(comparison: "Comparison") -> Iterator[str]:
    """Yield the experiments of CTRL with 20 % symmetric noise."""
    yield "## Labels assessed rightly with 20 % symmetric noise, %\n"
    yield from paragraph(
        """The fraction of training labels that are accepted and correct or rejected and
        wrong. The published figures are means over ten seeds, with as many rows (75 %
        of each data set, of which 5 % are split off here), other networks, and 17.3 %
        (letter) and 19.6 % (satimage) wrong labels. Size and epochs of those networks
        were chosen by cross-validation with clean labels, and of five filters of
        confident learning the one that is best by the true labels was reported."""
    )
    rows = [*CTRL_ROWS, ("satimage", ("symmetric", 0.2))]
    columns = [data for data, _ in rows]
    fits = comparison.all_fits
    fits = fits[fits["where"].isin(rows)]
    fits = fits.assign(rightly=assessed_rightly(fits))
    means = over_seeds(by_seed(fits, "rightly")).of(list(CTRL_METHODS))
    rates = fits.groupby("row", observed=True)[["data", "row_rate"]].first()
    found = texts(means).set_axis(rates["data"]).T.reindex(columns=columns)
    found = found[means.mean.notna().any()].rename(long_name).fillna(percent(np.nan))
    correct = (1 - rates.set_index("data")["row_rate"]).reindex(columns).map(percent)
    published = pd.DataFrame(PUBLISHED, index=columns, dtype=str).T
    table = pd.concat(
        [published, found, correct.rename("nothing rejected").to_frame().T]
    )
    yield from markdown(table, "method")

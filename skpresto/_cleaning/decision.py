"""Who assesses the labels, and whether learning what is believed is worth it."""

from dataclasses import dataclass

import numpy as np

from skpresto._cleaning.believed import Believed
from skpresto._cleaning.task import Task
from skpresto._label_quality.choice import Candidate, Comparison, likeliest
from skpresto._label_quality.rounds import RoundsAssessment

#: Smaller gains, in standard errors, are taken for chance. Texts and sounds of a few
#: hundred rows were harmed at 0.4, and noise was undone from 0.7 on.
_LEAST_GAIN = 0.5


@dataclass(frozen=True)
class Decision:
    """What was decided on held-out rows.

    Parameters
    ----------
    candidate : Candidate
        Who assesses the labels.
    found : RoundsAssessment or None
        What it has found out when it was compared, if that was on all rows.
    gain : float or None
        By how much the classifier explains a held-out label better if it learns what
        is believed: the mean difference of log-likelihoods; None if not compared.
    is_fallback : bool
        Whether to learn the labels as they are given.
    """

    candidate: Candidate
    found: RoundsAssessment | None
    gain: float | None
    is_fallback: bool


def decide(
    task: Task, candidates: list[Candidate], compared: Comparison | None, guard: bool
) -> Decision:
    """Choose who assesses, and compare learning what is believed with plain training.

    Parameters
    ----------
    task : Task
        On all rows.
    candidates : list of Candidate
        Those to choose from.
    compared : Comparison or None
        The rows on which to compare; None if there are too few. The first candidate is
        then taken, and labels are not replaced unless there is no guard.
    guard : bool
        Whether to compare with plain training.
    """
    if compared is None or (len(candidates) == 1 and not guard):
        return Decision(candidates[0], None, None, is_fallback=guard)
    part, held_out = task.among(compared), compared.held_out
    plain = None
    if guard:  # first, since it is the classifier of the user that refuses bad samples
        plain = part.explained(Believed.given(part.codes, part.weights), held_out)
    best, found = likeliest(
        candidates, task.codes, task.classes, compared, task.weights, task.rng
    )
    of_all = found if len(compared.rows) == len(task.codes) else None
    if plain is None:
        return Decision(best, of_all, None, is_fallback=False)
    gains = part.explained(part.corrected(found), held_out) - plain
    gain, by_chance = float(gains.mean()), gains.std() / np.sqrt(len(gains))
    return Decision(best, of_all, gain, is_fallback=gain <= _LEAST_GAIN * by_chance)

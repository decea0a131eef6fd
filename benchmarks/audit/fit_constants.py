"""Fit the constants of the calibration to stored fits of the development seeds.

    python benchmarks/audit/run.py --modes quick default --seeds 10 11 12 13
    python benchmarks/audit/fit_constants.py

Noise rate and slope are predicted by weighted ridge regression, in which every data set
counts equally. The spreads minimize the mean interval score of 90 % intervals on data
sets that were left out of the regression, one after the other, so that they tell how
far predictions miss on new data. That of classes is the smallest with which 90 % of
the noise rates of their classes are covered. Rows of rules are left out.
"""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import accuracy_scripts  # noqa: F401
import audits
import numpy as np
from audits import Audit
from scipy.optimize import minimize
from scipy.special import logit

from skpresto.audit._calibration import ErrorCalibration
from skpresto.audit._constants import CalibrationConstants

RIDGE = 0.2
NUMBERS = (50, 100, 200, 500)
#: Of the log-odds of a noise rate: eight data sets do not show that it is smaller.
LEAST_SPREAD = 0.2
#: Of the intervals, and what one that misses costs per distance.
COVERAGE = 0.9
PENALTY = 2 / (1 - COVERAGE)
#: Rows of large sets that are used: enough for a curve.
MOST_LABELS = 3000


class Fit:
    """A stored fit: what is known about its labels, and the truth.

    Large sets are thinned out evenly along the ranks.
    """

    def __init__(self, audit: Audit, found: dict[str, Any]) -> None:
        self.data = audit.data
        self.known = audits.evidence_of(found)
        order = np.argsort(found["quality"], kind="stable")
        step = -(-len(order) // MOST_LABELS)
        order = order[step // 2 :: step]
        is_wrong = found["given"] != found["true"]
        self.quality = found["quality"][order]
        self.is_wrong = is_wrong[order]
        self.given = found["given"][order]
        mean_error = float(1 - found["quality"].mean())
        self.rate_inputs = np.array(
            [1.0, _log_odds(mean_error), self.known.disagreement_log_odds]
        )
        n_classes = float(np.log(self.known.n_classes))
        self.slope_inputs = np.array([1.0, self.known.gap, n_classes])
        self.rate = _log_odds(is_wrong.mean())
        self.slope = self._true_slope()
        self.numbers = [n // step for n in NUMBERS if n <= len(is_wrong)]
        self.numbers += [int(self.is_wrong.sum()), len(order)]

    def _true_slope(self) -> float:
        """Return the logarithm of the slope of a logistic regression on the truth."""
        scores = ErrorCalibration(self.quality, self.known)._scores

        def loss(theta: np.ndarray) -> float:
            odds = theta[0] + np.exp(theta[1]) * scores
            return float(np.mean(np.logaddexp(0, odds) - self.is_wrong * odds))

        return float(minimize(loss, [self.rate, 0.0]).x[1])

    def calibration(self, constants: CalibrationConstants) -> ErrorCalibration:
        """Return the calibration by other constants."""
        return ErrorCalibration(self.quality, replace(self.known, constants=constants))

    def interval_score(self, constants: CalibrationConstants) -> float:
        """Return the mean interval score of counts, as fractions of their number."""
        ends = self.calibration(constants).cumulative(np.arange(len(self.quality)))
        truth = np.concatenate([[0], np.cumsum(self.is_wrong)])
        return float(np.mean([_score(ends, truth, n) for n in self.numbers if n]))

    def count_coverage(self, constants: CalibrationConstants) -> float:
        """Return how often intervals of counts contain the truth."""
        ends = self.calibration(constants).cumulative(np.arange(len(self.quality)))
        truth = np.concatenate([[0], np.cumsum(self.is_wrong)])
        is_covered = [ends[1][n] <= truth[n] <= ends[2][n] for n in self.numbers]
        return float(np.mean(is_covered))

    def class_coverage(self, constants: CalibrationConstants) -> float:
        """Return how often intervals of the noise rate of a class contain the truth."""
        calibration, is_covered = self.calibration(constants), []
        for number in np.unique(self.given):
            members = np.flatnonzero(self.given == number)
            _, low, high = calibration.total(members, is_class=True)
            is_covered.append(low <= self.is_wrong[members].sum() <= high)
        return float(np.mean(is_covered))


def _score(ends: tuple[np.ndarray, ...], truth: np.ndarray, n: int) -> float:
    _, low, high = (values[n] for values in ends)
    missed = max(low - truth[n], truth[n] - high, 0)
    return (high - low + PENALTY * missed) / n


def _log_odds(fraction: float) -> float:
    return float(logit(np.clip(fraction, 0.002, 0.998)))


def regression(fits: list[Fit]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the weights that predict noise rate and slope."""
    data = [fit.data for fit in fits]
    weights = np.array([1 / data.count(name) for name in data])
    # Without evidence, both inputs of the noise rate count one half.
    rate = _ridge([f.rate_inputs for f in fits], [f.rate for f in fits], weights, 0.5)
    slope = _ridge([f.slope_inputs for f in fits], [f.slope for f in fits], weights, 0)
    return rate, slope


def _ridge(
    inputs: list[np.ndarray], outputs: list[float], weights: np.ndarray, prior: float
) -> tuple[float, ...]:
    X, y = np.array(inputs), np.array(outputs)
    before = np.array([0.0] + [prior] * (X.shape[1] - 1))
    penalty = RIDGE * np.diag([0.0] + [1.0] * (X.shape[1] - 1))
    left = X.T @ (weights[:, None] * X) + penalty
    return tuple(before + np.linalg.solve(left, X.T @ (weights * (y - X @ before))))


def _spreads(theta: np.ndarray) -> tuple[float, float, float]:
    at_zero, per_gap, slope = np.abs(theta)
    return max(at_zero, LEAST_SPREAD), per_gap, slope


def fit_constants(fits: list[Fit]) -> CalibrationConstants:
    """Return the constants of one kind of fit."""
    names = sorted({fit.data for fit in fits})
    without = {
        name: regression([fit for fit in fits if fit.data != name]) for name in names
    }

    def mean_of(method: str, *spreads: Any) -> float:
        by_data = [
            np.mean(
                [
                    getattr(fit, method)(CalibrationConstants(*without[name], *spreads))
                    for fit in fits
                    if fit.data == name
                ]
            )
            for name in names
        ]
        return float(np.mean(by_data))

    def score_of(theta: np.ndarray) -> float:
        at_zero, per_gap, slope = _spreads(theta)
        return mean_of("interval_score", (at_zero, per_gap), slope, 0.0)

    options = {"maxfev": 80, "xatol": 0.02, "fatol": 1e-3}
    found = minimize(score_of, [0.4, 0.3, 0.7], method="Nelder-Mead", options=options)
    at_zero, per_gap, slope = _spreads(found.x)
    spreads = (at_zero, per_gap), slope
    of_class = next(
        spread
        for spread in np.arange(0, 3, 0.1)
        if mean_of("class_coverage", *spreads, spread) >= COVERAGE
    )
    coverage = mean_of("count_coverage", *spreads, of_class)
    print(f"coverage of counts on data sets that were left out: {coverage:.3f}")
    return CalibrationConstants(*regression(fits), *spreads, of_class)


def stored_fits(mode: str, folder: Path) -> list[Fit]:
    """Return the stored fits of the development seeds, without rules."""
    wanted = [
        Audit(mode, *row, seed)
        for seed in audits.DEVELOPMENT_SEEDS
        for row in audits.rows_of(mode, is_development=True)
        if row[0] not in audits.IMPOSSIBLE
    ]
    return [
        Fit(audit, audits.fitted(audit, folder))
        for audit in wanted
        if (folder / f"{audit.name}.npz").exists()
    ]


def main() -> int:
    """Print the constants of both modes."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--fits", type=Path, default=Path(__file__).parent / "fits")
    folder = parser.parse_args().fits
    for mode in audits.MODES:
        fits = stored_fits(mode, folder)
        constants = fit_constants(fits)
        print(f"{mode}, {len(fits)} fits of {len({f.data for f in fits})} data sets")
        for name, value in constants._asdict().items():
            print(f"    {name}={np.round(value, 3).tolist()}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

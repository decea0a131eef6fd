"""Fit the constants of the calibration to audits of data sets with known errors.

    SKPRESTO_DATA=path/to/folder python benchmarks/audit/run.py --fitted --modes quick
    SKPRESTO_DATA=path/to/folder python benchmarks/audit/fit_constants.py

Noise rate and slope are predicted by weighted ridge regression, whether there are wrong
labels at all by logistic regression; every data set counts equally. The spreads are how
far predictions missed on data sets that were left out of the regression, one after the
other, times the smallest factor with which 90 % intervals cover 90 % of the counts
there, for suspects, the first 100 and all labels alike. The spread of classes is the
smallest with which 90 % of the noise rates of classes are covered.
"""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from audits import KINDS, N_PER_FITTED_SET, audits_of, fitted, report_of
from labelled_sets import CLEAN
from scipy.optimize import minimize
from scipy.special import logit
from sklearn.linear_model import LogisticRegression

from skpresto.audit._calibration import ErrorCalibration
from skpresto.audit._constants import OUT_OF_FOLD, CalibrationConstants
from skpresto.audit._evidence import log_odds

RIDGE = 0.1
#: How much more, where weights are shrunken to those of another kind of evidence.
STRONGER = 20
COVERAGE = 0.9
#: In so many data sets no label is wrong, which is a choice: with .15, the lower end of
#: nearly all intervals would be 0, since clean labels of hard samples look like errors.
CLEAN_SHARE = 0.05
#: Of fewer wrong labels, no slope is counted.
FEWEST_WRONG = 15
FACTORS = np.arange(0.5, 2.01, 0.1)


class Fit:
    """An audit of labels with known errors."""

    def __init__(self, audit: Any, found: dict[str, Any]) -> None:
        report = report_of(found)
        self.data, self.is_clean = audit.data, audit.noise == CLEAN
        self.report, self.evidence = report, report.evidence
        self.is_wrong = found["given"] != found["true"]
        self.rate_inputs = np.array([1.0, *self.evidence.rate_inputs])
        self.slope_inputs = np.array([1.0, *self.evidence.slope_inputs])
        self.rate = log_odds(float(self.is_wrong.mean()))
        self.has_slope = self.is_wrong.sum() >= FEWEST_WRONG
        self.slope = self._true_slope() if self.has_slope else np.nan

    def _true_slope(self) -> float:
        """Return the logarithm of the slope of a logistic regression on the truth."""
        scores = self.calibration(self.evidence.constants).scores

        def loss(theta: np.ndarray) -> float:
            odds = theta[0] + np.exp(theta[1]) * scores
            fit = np.mean(np.logaddexp(0, odds) - self.is_wrong * odds)
            return float(fit + 1e-3 * theta[1] ** 2)

        return float(minimize(loss, [self.rate, 0.0]).x[1])

    def calibration(self, constants: CalibrationConstants) -> ErrorCalibration:
        """Return the calibration by other constants."""
        evidence = replace(self.evidence, constants=constants)
        return ErrorCalibration(self.report.quality, evidence)

    def coverage(self, constants: CalibrationConstants) -> float:
        """Return which part of the intervals of counts contain the truth."""
        calibration, order = self.calibration(constants), self.report.order
        n_suspects = int(self.report.is_suspect.sum())
        ends = calibration.cumulative(order)
        truth = np.concatenate([[0], np.cumsum(self.is_wrong[order])])
        numbers = [n for n in (n_suspects, min(100, len(order)), len(order)) if n]
        return float(np.mean([ends[1][n] <= truth[n] <= ends[2][n] for n in numbers]))

    def class_coverage(self, constants: CalibrationConstants) -> float:
        """Return how often intervals of the noise rate of a class contain the truth."""
        calibration, is_covered = self.calibration(constants), []
        for number in np.unique(self.report.given):
            members = np.flatnonzero(self.report.given == number)
            _, low, high = calibration.total(members, is_class=True)
            is_covered.append(low <= self.is_wrong[members].sum() <= high)
        return float(np.mean(is_covered))


def predictions(
    fits: list[Fit], prior: CalibrationConstants | None
) -> dict[str, tuple[float, ...]]:
    """Return the weights that predict noise rate, slope and cleanness.

    With a prior, where there are few fits, weights are shrunken to it.
    """
    noisy = [fit for fit in fits if not fit.is_clean]
    sloped = [fit for fit in noisy if fit.has_slope]
    return {
        "rate": _ridge(noisy, "rate", prior),
        "slope": _ridge(sloped, "slope", prior),
        "clean": _logistic(fits) if prior is None else prior.clean,
    }


def _weights(fits: list[Fit]) -> np.ndarray:
    names = [fit.data for fit in fits]
    return np.array([1 / names.count(name) for name in names])


def _ridge(
    fits: list[Fit], name: str, prior: CalibrationConstants | None
) -> tuple[float, ...]:
    X = np.array([getattr(fit, f"{name}_inputs") for fit in fits])
    y = np.array([getattr(fit, name) for fit in fits])
    before = np.zeros(X.shape[1]) if prior is None else getattr(prior, name)
    weighted = X.T * _weights(fits)
    penalty = RIDGE * np.diag([0.0] + [1.0] * (X.shape[1] - 1))
    if prior is not None:
        penalty *= STRONGER
    change = np.linalg.solve(weighted @ X + penalty, weighted @ (y - X @ before))
    return tuple((before + change).tolist())


def _logistic(fits: list[Fit]) -> tuple[float, ...]:
    X = np.array([fit.rate_inputs[1:] for fit in fits])
    y = np.array([fit.is_clean for fit in fits])
    weights = _weights(fits)
    if y.all() or not y.any():  # nothing to compare
        return (float(logit(CLEAN_SHARE)), *np.zeros(X.shape[1]).tolist())
    share = weights[y].sum() / weights.sum()
    weights = weights * np.where(
        y, CLEAN_SHARE / share, (1 - CLEAN_SHARE) / (1 - share)
    )
    weights *= len(fits) / weights.sum()
    model = LogisticRegression().fit(X, y, sample_weight=weights)
    return (*model.intercept_.tolist(), *model.coef_[0].tolist())


def fit_constants(
    fits: list[Fit], prior: CalibrationConstants | None = None
) -> CalibrationConstants:
    """Return the constants of one kind of evidence."""
    names = sorted({fit.data for fit in fits})
    left_out = {n: predictions([f for f in fits if f.data != n], prior) for n in names}
    noisy = [fit for fit in fits if not fit.is_clean]
    spreads = {
        f"{name}_spread": _missed(noisy, left_out, name) for name in ("rate", "slope")
    }

    def mean_of(method: str, **further: float) -> float:
        values = [
            getattr(fit, method)(CalibrationConstants(**left_out[fit.data], **further))
            for fit in noisy
        ]
        return float(np.average(values, weights=_weights(noisy)))

    for factor in FACTORS:
        wider = {name: float(factor * value) for name, value in spreads.items()}
        reached = mean_of("coverage", **wider, class_spread=0.0)
        if reached >= COVERAGE:
            break
    of_class = next(
        spread
        for spread in np.arange(0, 3, 0.2)
        if mean_of("class_coverage", **wider, class_spread=spread) >= COVERAGE
    )
    print(f"factor {factor:.1f}: left-out coverage of counts {reached:.3f}")
    return CalibrationConstants(
        **predictions(fits, prior), **wider, class_spread=of_class
    )


def _missed(fits: list[Fit], left_out: dict[str, Any], name: str) -> float:
    """Return the root mean square by which left-out predictions miss."""
    known = [fit for fit in fits if name == "rate" or fit.has_slope]
    missed = [
        getattr(fit, name)
        - np.dot(left_out[fit.data][name], getattr(fit, f"{name}_inputs"))
        for fit in known
    ]
    return float(np.sqrt(np.average(np.square(missed), weights=_weights(known))))


def main() -> int:
    """Print the constants of each kind of evidence."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--fits", type=Path, default=Path(__file__).parent / "fits")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--stored", action="store_true", help="only what is stored")
    args = parser.parse_args()
    for kind in args.kinds:
        audits = audits_of(KINDS[kind], False, N_PER_FITTED_SET[kind])
        if args.stored:
            audits = [a for a in audits if (args.fits / f"{a.name}.npz").exists()]
        fits = [Fit(audit, fitted(audit, args.fits)) for audit in audits]
        # Few audits train networks out of fold, whose mean error alone predicts the
        # rate: left-out log-odds are missed by .59, from the weights of other
        # probabilities by .67.
        prior = None
        if kind == "default":
            prior = OUT_OF_FOLD._replace(rate=(0.0, 1.0, 0.0, 0.0))
        if prior is not None:
            fits = [fit for fit in fits if fit.evidence.auc is not None]
        print(f"{kind}: {len(fits)} audits of {len({f.data for f in fits})} data sets")
        for name, value in fit_constants(fits, prior)._asdict().items():
            print(f"    {name}={np.round(value, 3).tolist()},")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

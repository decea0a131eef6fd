"""Measure whether the numbers and decisions of a label report are right.

    SKPRESTO_DATA=path/to/folder python benchmarks/audit/run.py
    python benchmarks/audit/table.py

Audits data sets with known errors on which no constant was fitted: probabilities of
several classifiers, and ``skpresto audit`` with and without ``--quick``. Numbers of the
report are compared with the truth before any label is checked, and after the answers to
a control sample of 50 labels. Every finished audit is one line of the results file, and
an interrupted run resumes from there. What was trained is stored in the folder
``--fits``; ``--again`` measures it anew, such as with other constants. ``--fitted``
audits the sets of ``fit_constants.py`` instead.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import accuracy_scripts  # noqa: F401
import audits
import numpy as np
import results
from audits import Audit
from measure import versions
from sklearn.metrics import average_precision_score
from tqdm import tqdm

HERE = Path(__file__).parent
RESULTS = HERE / "results.jsonl"
#: Labels that are checked by hand.
N_CHECKED = 50
#: Audits per held-out set, by kind of evidence.
N_PER_SET = {"ready": 16, "rounds": 3, "quick": 4, "default": 3}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the audits without a result."""
    args = parsed(arguments)
    known = [] if args.again else results.lines(args.results)
    done = {Audit(**line["audit"]) for line in known}
    todo = [audit for audit in chosen(args) if audit not in done]
    if args.again and args.results.exists():
        args.results.unlink()
    for audit in tqdm(todo):
        results.append(args.results, measured(audit, args.fits))
    return 0


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    kinds = list(audits.KINDS)
    parser.add_argument("--kinds", nargs="+", choices=kinds, default=kinds)
    parser.add_argument("--fitted", action="store_true", help="the sets of constants")
    parser.add_argument("--fits", type=Path, default=HERE / "fits")
    parser.add_argument("--stored", action="store_true", help="only with a stored fit")
    parser.add_argument("--again", action="store_true", help="replace all results")
    parser.add_argument("--results", type=Path, default=RESULTS)
    return parser.parse_args(arguments)


def chosen(args: argparse.Namespace) -> list[Audit]:
    """Return the audits that the command line asks for."""
    numbers = audits.N_PER_FITTED_SET if args.fitted else N_PER_SET
    wanted = [
        audit
        for kind in args.kinds
        for audit in audits.audits_of(
            audits.KINDS[kind], not args.fitted, numbers[kind]
        )
    ]
    if not args.stored:
        return wanted
    return [audit for audit in wanted if (args.fits / f"{audit.name}.npz").exists()]


def measured(audit: Audit, fits: Path) -> dict[str, Any]:
    """Return stated and true numbers of one audit."""
    found = audits.fitted(audit, fits)
    report = audits.report_of(found)
    is_wrong = found["given"] != found["true"]
    in_order = is_wrong[report.order]
    n_suspects = int(report.is_suspect.sum())
    sample = report.control_sample(N_CHECKED, seed=audit.seed).index
    answers = {int(row): bool(is_wrong[row]) for row in sample}
    after = replace(report, checked=answers)
    f1 = f1_of_first(in_order)
    return {
        "audit": asdict(audit),
        "n_labels": len(report),
        "n_wrong": int(is_wrong.sum()),
        "n_suspects": n_suspects,
        "auc": report.evidence.auc,
        "average_precision": float(average_precision_score(is_wrong, -report.quality))
        if is_wrong.any()
        else None,
        "f1": float(f1[n_suspects]),
        "best_f1": float(f1.max()),
        "before": counts_of(report, in_order, n_suspects),
        "after": counts_of(after, in_order, n_suspects),
        "classes": [
            [*part.noise_rate, float(is_wrong[found["given"] == number].mean())]
            for number, part in enumerate(report.summary().by_class)
            if part.n_labels
        ],
        "seconds": float(found["seconds"]),
        "versions": versions(),
    }


def f1_of_first(in_order: np.ndarray) -> np.ndarray:
    """Return F1 of suspecting the first 0, 1, 2, ... labels."""
    hits = np.concatenate([[0], np.cumsum(in_order)])
    return 2 * hits / np.maximum(np.arange(len(hits)) + hits[-1], 1)


def counts_of(report: Any, in_order: np.ndarray, n_suspects: int) -> dict[str, Any]:
    """Return expected, low, high and true number of errors, and of how many labels."""
    numbers = {"suspects": n_suspects, "first 100": 100, "all": len(report)}
    return {
        name: [*report.expected_errors(n), int(in_order[:n].sum()), n]
        for name, n in numbers.items()
        if 0 < n <= len(report)
    }


if __name__ == "__main__":
    sys.exit(main())

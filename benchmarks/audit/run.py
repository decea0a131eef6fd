"""Measure whether the numbers of a label report are right.

    SKPRESTO_DATA=path/to/folder python benchmarks/audit/run.py
    python benchmarks/audit/table.py

Audits noisy data with known errors as ``skpresto audit`` does, with and without
``--quick``, and compares ``expected_errors(n)`` and the noise rates of the summary with
the truth. Every finished audit is one line of the results file, and an interrupted run
resumes from there. Fits are stored in the folder ``--fits``; ``--again`` measures them
anew, such as with other constants.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import accuracy_scripts  # noqa: F401
import audits
import numpy as np
import results
from audits import Audit
from joblib import Parallel, delayed
from measure import versions
from sklearn.metrics import average_precision_score
from tqdm import tqdm

HERE = Path(__file__).parent
RESULTS = HERE / "results.jsonl"
NUMBERS = (50, 100, 200, 500)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the audits without a result."""
    args = parsed(arguments)
    known = [] if args.again else results.lines(args.results)
    done = {Audit(**line["audit"]) for line in known}
    todo = [audit for audit in chosen(args) if audit not in done]
    if args.again and args.results.exists():
        args.results.unlink()
    runs = Parallel(n_jobs=args.jobs, batch_size=1, return_as="generator")(
        delayed(measure)(audit, args.fits) for audit in todo
    )
    for result in tqdm(runs, total=len(todo)):
        results.append(args.results, result)
    return 0


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--modes", nargs="+", choices=audits.MODES, default=["quick"])
    parser.add_argument("--seeds", nargs="+", type=int, default=list(audits.SEEDS))
    parser.add_argument("--only", nargs="+", choices=audits.SETTINGS, help="data sets")
    parser.add_argument("--jobs", type=int, default=2, help="audits run in parallel")
    parser.add_argument("--fits", type=Path, default=HERE / "fits")
    parser.add_argument("--stored", action="store_true", help="only with a stored fit")
    parser.add_argument("--again", action="store_true", help="replace all results")
    parser.add_argument("--results", type=Path, default=RESULTS)
    return parser.parse_args(arguments)


def chosen(args: argparse.Namespace) -> list[Audit]:
    """Return the audits that the command line asks for."""
    wanted = [
        Audit(mode, *row, seed)
        for mode in args.modes
        for seed in args.seeds
        for row in audits.rows_of(mode, seed in audits.DEVELOPMENT_SEEDS)
        if args.only is None or row[0] in args.only
    ]
    if not args.stored:
        return wanted
    return [audit for audit in wanted if (args.fits / f"{audit.name}.npz").exists()]


def measure(audit: Audit, fits: Path) -> dict[str, Any]:
    """Return predicted and true numbers of one audit."""
    found = audits.fitted(audit, fits)
    report = audits.report_of(found, audit.mode)
    is_wrong = found["given"] != found["true"]
    in_order = is_wrong[np.argsort(found["quality"], kind="stable")]
    n_estimated = round(report.expected_errors().expected)
    numbers = [n for n in NUMBERS if n <= len(report)]
    return {
        "audit": asdict(audit),
        "n_labels": len(report),
        "noise_rate": float(is_wrong.mean()),
        "mean_error": float(1 - found["quality"].mean()),
        "rejected_fraction": float(1 - found["is_safe"].mean()),
        "disagreement": float(found["disagreement"]),
        "average_precision": float(
            average_precision_score(is_wrong, -found["quality"])
        ),
        "counts": {
            name: [*report.expected_errors(n), int(in_order[:n].sum()), n]
            for name, n in (
                *((str(n), n) for n in numbers),
                ("estimated", n_estimated),
                ("all", len(report)),
            )
        },
        "classes": [
            [*part.noise_rate, float(is_wrong[found["given"] == number].mean())]
            for number, part in enumerate(report.summary().by_class)
            if part.n_labels
        ],
        "seconds": float(found["seconds"]),
        "versions": versions(),
    }


if __name__ == "__main__":
    sys.exit(main())

"""Assess the probabilities of cleanlab/label-error-detection-benchmarks.

    git clone https://github.com/cleanlab/label-error-detection-benchmarks
    python benchmarks/external/label_error_detection.py label-error-detection-benchmarks

Out-of-fold probabilities of five networks for images whose labels were given by people,
or made wrong by class. The decision is compared with ``find_label_issues`` of cleanlab
on the same probabilities, if cleanlab is installed. Of food-101n the repository has no
probabilities.
"""

import argparse
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score, f1_score

from skpresto.audit import LabelReport

FILTERS = ("prune_by_noise_rate", "prune_by_class", "both", "confident_learning")


def main() -> int:
    """Print F1 of the decisions, ranking, and stated beside true numbers."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--csv", type=Path, help="also write the table to a file")
    args = parser.parse_args()
    found = []
    for path in sorted(args.checkout.glob("src/experiments/*/*/pred_probs.npy")):
        line = {"data": path.parts[-3], "network": path.parent.name.split("_cv_")[-1]}
        found.append({**line, **measured(path.parent)})
        print(found[-1], flush=True)
    table = pd.DataFrame(found)
    numbers = table.drop(columns="network").groupby("data").mean()
    print(numbers.round(3).T.to_string())
    if args.csv:
        table.to_csv(args.csv, index=False)
    return 0


def measured(folder: Path) -> dict[str, Any]:
    """Return scores of one network."""
    probability = np.load(folder / "pred_probs.npy")
    if (folder / "true_labels.npy").exists():
        given = np.load(folder / "noisy_labels.npy").astype(int)
        is_wrong = given != np.load(folder / "true_labels.npy")
    else:
        given = np.load(folder / "labels.npy").astype(int)
        is_wrong = np.load(folder / "label_errors_mask.npy").astype(bool)
    classes = np.arange(probability.shape[1])
    report = LabelReport.from_probabilities(probability, given, classes)
    in_order, n_suspects = is_wrong[report.order], int(report.is_suspect.sum())
    hits, looked_at = np.cumsum(in_order), np.arange(1, len(in_order) + 1)
    scores = {
        "wrong": is_wrong.mean(),
        "average precision": average_precision_score(is_wrong, -report.quality),
        "F1": f1_score(is_wrong, report.is_suspect),
        "best F1": (2 * hits / (looked_at + hits[-1])).max(),
    }
    for name, n in {
        "suspects": n_suspects,
        "first 100": 100,
        "all": len(given),
    }.items():
        expected, low, high = report.expected_errors(n)
        true = int(in_order[:n].sum())
        scores[f"{name}: stated / true"] = expected / max(true, 1)
        scores[f"{name}: covered"] = float(low <= true <= high)
        scores[f"{name}: width"] = (high - low) / n
    if find_spec("cleanlab"):
        from cleanlab.filter import find_label_issues

        for name in FILTERS:
            issues = find_label_issues(given, probability, filter_by=name, n_jobs=1)
            scores[f"cleanlab, {name}"] = f1_score(is_wrong, issues)
    return scores


if __name__ == "__main__":
    raise SystemExit(main())

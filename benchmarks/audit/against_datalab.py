"""Compare the audit with cleanlab's Datalab, from files and on the same features.

    SKPRESTO_DATA=path/to/folder python benchmarks/audit/against_datalab.py
    python benchmarks/audit/table.py

Writes data with known errors to files, reads them as ``skpresto audit`` does, and finds
wrong labels among the same features with the audit (``--quick`` and default) and with
Datalab: given only the features, and given out-of-fold probabilities of the same trees
as those of the quick audit, or of five networks. Seconds are processor seconds. Needs
``pip install skpresto[bench,audit]``. Every finished method is one line of the results
file, and an interrupted run resumes from there.
"""

import argparse
import contextlib
import io
import json
import tempfile
import time
import warnings
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import accuracy_scripts  # noqa: F401
import numpy as np
import pandas as pd
import results
from cells import Cell, Setting
from data import split_of
from PIL import Image
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from skpresto import DefaultClassifier
from skpresto.audit import LabelReport
from skpresto.audit._fit import audit_epochs, audit_estimator, fit_report
from skpresto.audit._sources import Wishes, read_image_folder, read_table
from skpresto.datasets import load_npz
from skpresto.noise import PairNoise

RESULTS = Path(__file__).parent / "datalab.jsonl"
DIGITS = [
    *("zero", "one", "two", "three", "four"),
    *("five", "six", "seven", "eight", "nine"),
]
N_DIGITS = 3000


def digits(folder: Path, seed: int) -> tuple[Any, np.ndarray]:
    """Return 3,000 digits: scikit-learn's, and some of them moved by one pixel.

    Labels are words, and a column holds text that is HTML.
    """
    rng = np.random.RandomState(0)
    X, y = load_digits(return_X_y=True)
    more = rng.choice(len(X), N_DIGITS - len(X), replace=False)
    moved = [
        np.roll(image, rng.choice([-1, 1]), axis=rng.choice(2)).ravel()
        for image in X[more].reshape(-1, 8, 8)
    ]
    order = rng.permutation(N_DIGITS)
    X, y = np.concatenate([X, moved])[order], np.concatenate([y, y[more]])[order]
    names = np.array(DIGITS)
    given = PairNoise(0.4, random_state=seed).fit_transform(y)
    frame = pd.DataFrame(X, columns=[f"pixel {i}" for i in range(X.shape[1])])
    frame["note"] = [f"<script>alert({i % 7})</script>" for i in range(len(X))]
    return from_csv(folder, frame, names[given]), names[y]


def table(name: str, rows: int | None = None) -> Callable[..., tuple[Any, np.ndarray]]:
    """Return a maker of a table of a data set with 40 % pair noise."""

    def make(folder: Path, seed: int) -> tuple[Any, np.ndarray]:
        split = split_of(Cell("audit", name, "pair", 0.4, seed), Setting(name, 0, rows))
        frame = pd.DataFrame(split.X).add_prefix("column ")
        return from_csv(folder, frame, words(split.y)), words(split.y_true)

    return make


def images(folder: Path, seed: int) -> tuple[Any, np.ndarray]:
    """Return 1,500 photos of CIFAR-10N with the worst of three labels."""
    setting = Setting("cifar10n", 0, rows=1579, test_rows=10)
    split = split_of(Cell("audit", "cifar10n", "worst", None, seed), setting)
    low, high = split.X.min(axis=(0, 2, 3)), split.X.max(axis=(0, 2, 3))
    given, true = words(split.y), {}
    for number, image in enumerate(split.X):
        pixels = 255 * (image.transpose(1, 2, 0) - low) / (high - low)
        file = folder / "photos" / given[number] / f"{number}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels.round().astype(np.uint8)).save(file)
        true[file.name] = words(split.y_true[[number]])[0]
    source = read_image_folder(folder / "photos")
    return source, np.array([true[Path(name).name] for name in source.row_names()])


def texts(folder: Path, seed: int) -> tuple[Any, np.ndarray]:
    """Return questions whose types were assigned by rules."""
    data = load_npz("trec_rules.npz")
    bytes_, ends = data["text_train_utf8"], data["text_train_offsets"]
    questions = [bytes(bytes_[a:b]).decode() for a, b in pairwise(ends)]
    given = words(data["noisy_labels"]["rules"])
    source = from_csv(folder, pd.DataFrame({"question": questions}), given, "question")
    return source, words(data["y_train"])


def words(labels: np.ndarray) -> np.ndarray:
    return np.array([f"class {label}" for label in labels])


def from_csv(
    folder: Path, frame: pd.DataFrame, given: np.ndarray, text: str | None = None
) -> Any:
    frame.assign(label=given).to_csv(folder / "data.csv", index=False)
    return read_table(folder / "data.csv", "label", wishes=Wishes(text=text))


DATA = {
    "digits, CSV": digits,
    "letter, CSV": table("letter", 8000),
    "satimage, CSV": table("satimage"),
    "cifar10n, images": images,
    "trec_rules, text": texts,
}


def quick(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Return the label quality of ``--quick``, of anything but images."""
    report = LabelReport.from_classifier(None, X, y, random_state=seed)
    return report.frame["quality"].to_numpy()


def audit(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Return the label quality of the audit without ``--quick``."""
    report = fit_report(audit_estimator(len(y), quick=False, seed=seed), X, y)
    return report.frame["quality"].to_numpy()


def trees(n_rows: int, seed: int) -> ExtraTreesClassifier:
    """Return the trees of the quick audit."""
    return ExtraTreesClassifier(100, min_samples_leaf=3, random_state=seed)


def network(n_rows: int, seed: int) -> DefaultClassifier:
    """Return a network that is trained as long as those of the audit."""
    return DefaultClassifier(max_epochs=audit_epochs(n_rows), random_state=seed)


def datalab(
    X: np.ndarray, y: np.ndarray, seed: int, classifier: Callable[..., Any] | None
) -> np.ndarray:
    """Return the label scores of Datalab."""
    from cleanlab import Datalab

    inputs: dict[str, Any] = {"features": X}
    if classifier is not None:
        folds = StratifiedKFold(5, shuffle=True, random_state=seed)
        inputs["pred_probs"] = cross_val_predict(
            classifier(len(y), seed), X, y, cv=folds, method="predict_proba"
        )
    lab = Datalab(data={"label": y.tolist()}, label_name="label", verbosity=0)
    lab.find_issues(**inputs, issue_types={"label": {}})
    return lab.get_issues("label")["label_score"].to_numpy()


METHODS: dict[str, Callable[[np.ndarray, np.ndarray, int], np.ndarray]] = {
    "audit --quick": quick,
    "audit": audit,
    "Datalab, features": lambda X, y, seed: datalab(X, y, seed, None),
    "Datalab, trees": lambda X, y, seed: datalab(X, y, seed, trees),
    "Datalab, networks": lambda X, y, seed: datalab(X, y, seed, network),
}


def main() -> int:
    """Run what has no result yet."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=DATA, default=list(DATA))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--results", type=Path, default=RESULTS)
    args = parser.parse_args()
    known = results.lines(args.results)
    done = {(line["data"], line["method"], line["seed"]) for line in known}
    for seed in args.seeds:
        for data in args.only:
            todo = [m for m in args.methods if (data, m, seed) not in done]
            if todo:
                _run(data, todo, seed, args.results)
    return 0


def _run(data: str, methods: list[str], seed: int, path: Path) -> None:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as unsettled stop rules
        source, true = DATA[data](Path(folder), seed)
        y, X = np.asarray(source.labels), source.features(seed)
        is_wrong = y != true
        for method in methods:
            started = time.process_time()
            with contextlib.redirect_stdout(io.StringIO()):
                quality = METHODS[method](X, y, seed)
            result = {
                "data": data,
                "method": method,
                "seed": seed,
                "n_labels": len(y),
                "noise_rate": float(is_wrong.mean()),
                "average_precision": average_precision_score(is_wrong, -quality),
                "precision_at_100": float(is_wrong[np.argsort(quality)[:100]].mean()),
                "seconds": time.process_time() - started,
            }
            results.append(path, result)
            print(json.dumps(result), flush=True)


if __name__ == "__main__":
    raise SystemExit(main())

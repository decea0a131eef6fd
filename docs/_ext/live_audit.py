"""The audit report that the first page embeds, made when the site is built."""

import json
import warnings
from pathlib import Path

#: Digits that look alike: each is mistaken for its partner.
LOOKALIKES = {1: 7, 7: 1, 3: 8, 8: 3, 4: 9, 9: 4, 5: 6, 6: 5, 0: 2, 2: 0}


def live_audit(folder: Path) -> dict[str, str]:
    """Write the report, and return the numbers that the first page states about it.

    Digits of which a tenth carry the label of a lookalike are audited, which takes
    about ten seconds. A report that is newer than this file is kept.
    """
    page, numbers = folder / "digits-audit.html", folder / "digits-audit.json"
    changed = Path(__file__).stat().st_mtime
    if not numbers.exists() or numbers.stat().st_mtime < changed:
        folder.mkdir(parents=True, exist_ok=True)
        found = _audit(page)
        numbers.write_text(json.dumps(found), encoding="utf-8")
    return json.loads(numbers.read_text(encoding="utf-8"))


def _audit(page: Path) -> dict[str, str]:
    from sklearn.datasets import load_digits

    from skpresto import CrossPrestoppingClassifier
    from skpresto.audit import LabelReport
    from skpresto.noise import PairNoise

    X, y = load_digits(return_X_y=True)
    noise = PairNoise(0.1, LOOKALIKES, exact=True, random_state=0)
    y_noisy = noise.fit_transform(y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf = CrossPrestoppingClassifier(random_state=0).fit(X / 16, y_noisy)
    report = LabelReport.from_estimator(clf, X / 16, y_noisy)
    report.to_html(page, shown=X.reshape(-1, 1, 8, 8))
    wrong = noise.flipped_mask_
    estimate = report.expected_errors()
    return {
        "n_labels": f"{len(y):,}",
        "n_wrong": str(wrong.sum()),
        "n_suspects": str(report.is_suspect.sum()),
        "n_found": str(wrong[report.is_suspect].sum()),
        "n_expected": f"{estimate.expected:.0f} ({estimate.low:.0f} to "
        f"{estimate.high:.0f})",
    }

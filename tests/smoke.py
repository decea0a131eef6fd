"""Try an installed package: ``make dist`` runs this in an empty environment.

``tox -e light`` does so in one without torch. It needs neither pytest nor the checkout,
and is not collected by pytest.
"""

import json
import subprocess
import sys
import sysconfig
import tempfile
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path


def try_training():
    """Fit, predict and look at the labels, with the dependencies alone."""
    import numpy as np
    from sklearn.datasets import load_digits

    import skpresto
    from skpresto.noise import SymmetricNoise

    assert "torch" not in sys.modules, "import skpresto must not load torch"
    where = Path(skpresto.__file__).resolve()
    assert where.is_relative_to(Path(sysconfig.get_path("purelib")).resolve()), where
    assert skpresto.__version__ == version("skpresto")
    assert (where.parent / "py.typed").exists()
    X, y = load_digits(return_X_y=True)
    noise = SymmetricNoise(0.4, random_state=0)
    y_noisy = noise.fit_transform(y[:1200])
    clf = skpresto.PrestoppingClassifier(random_state=0).fit(X[:1200] / 16, y_noisy)
    accuracy = clf.score(X[1200:] / 16, y[1200:])
    lowest = np.argsort(clf.label_quality_)[:100]
    assert accuracy > 0.75, accuracy
    assert noise.flipped_mask_[lowest].mean() > 0.9
    print(f"fitted: accuracy {accuracy:.1%} with 40 % wrong training labels")


def try_audit():
    """Run the command line on a file."""
    from sklearn.datasets import load_iris

    program = Path(sysconfig.get_path("scripts")) / "skpresto"
    with tempfile.TemporaryDirectory() as folder:
        table = load_iris(as_frame=True).frame
        table.to_csv(Path(folder) / "iris.csv", index=False)
        command = [program, "audit", "iris.csv", "--label", "target", "--quick"]
        subprocess.run(command, cwd=folder, check=True)
        page = (Path(folder) / "iris-audit.html").read_text(encoding="utf-8")
        assert "<!doctype html>" in page.lower()
        print(f"audited: a page of {len(page):,} characters")


def try_without_torch():
    """Audit a table and probabilities, and apply decisions, with few packages."""
    import numpy as np
    from sklearn.datasets import load_iris

    from skpresto.audit import LabelReport

    program = Path(sysconfig.get_path("scripts")) / "skpresto"
    table = load_iris(as_frame=True).frame.replace({"target": {0: 7}})
    y = table["target"].to_numpy().copy()
    table.loc[[3, 60], "target"] = [2, 7]
    pred_proba = 0.05 + 0.85 * (y[:, None] == [1, 2, 7])
    report = LabelReport.from_probabilities(pred_proba, table["target"])
    assert set(report.suspects().index) == {3, 60}
    with tempfile.TemporaryDirectory() as folder:

        def run(*command):
            return subprocess.run(
                [program, *command], cwd=folder, capture_output=True, text=True
            )

        table.to_csv(Path(folder) / "iris.csv", index=False)
        np.savez(Path(folder) / "p.npz", pred_proba=pred_proba, classes=[1, 2, 7])
        audit = ("audit", "iris.csv", "--label", "target")
        done = run(*audit, "--quick", "--table", "found.csv")
        assert done.returncode == 0, done.stderr
        done = run("audit", "p.npz", "--labels", "iris.csv", "--label", "target")
        assert done.returncode == 0, done.stderr
        page = (Path(folder) / "iris-audit.html").read_text(encoding="utf-8")
        data = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
        made = [{"row": 3, "given": "2", "label": "7"}]
        decisions = {name: data[name] for name in ("kind", "label", "fingerprint")}
        decisions |= {"format": "skpresto decisions", "version": 1}
        decisions |= {"source": "iris.csv", "decisions": made}
        (Path(folder) / "d.json").write_text(json.dumps(decisions))
        done = run("apply", "d.json", "iris.csv", "--out", "clean.csv")
        assert "Labels changed: 1" in done.stdout, done.stderr
        refused = run(*audit, "--out", "network.html")
        assert "needs torch" in refused.stderr
        assert "--quick" in refused.stderr
    print("audited without torch, and applied a decision")


if __name__ == "__main__":
    if "--without-torch" in sys.argv:
        assert find_spec("torch") is None, "the environment has torch"
        try_without_torch()
    elif "--audit" in sys.argv:
        try_audit()
    else:
        assert find_spec("pandas") is None, "the environment is not empty"
        try_training()

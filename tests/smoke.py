"""Try an installed package: ``make dist`` runs this in an empty environment.

It needs neither pytest nor the checkout, and is not collected by pytest.
"""

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


if __name__ == "__main__":
    if "--audit" in sys.argv:
        try_audit()
    else:
        assert find_spec("pandas") is None, "the environment is not empty"
        try_training()

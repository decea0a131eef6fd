"""Draw the figures of the Prestopping paper again, at the scale of a laptop.

Run it with ``python docs/examples/paper_figures.py [folder]``. It trains on
scikit-learn's digits, or on ``letter.npz`` in the folder that the environment variable
``SKPRESTO_DATA`` names, with wrong labels put in on purpose. True labels of training
rows serve to measure, and in the rule that is called ideal; no other method sees them.

H. Song, M. Kim, D. Park, J.-G. Lee, "How does early stopping help generalization
against label noise?", arXiv:1911.08059, 2019.
"""

import argparse
import io
import os
import sys
import time
import warnings
from functools import cache
from itertools import product
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import PercentFormatter
from PIL import Image
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from skorch.callbacks import LRScheduler

from skpresto import (
    CoTeachingPlusClassifier,
    DefaultClassifier,
    PrestoppingClassifier,
    PrestoppingPlusClassifier,
    plots,
)
from skpresto.noise import PairNoise, SymmetricNoise
from skpresto.stopping import AgreementStop, OracleStop, ValidationStop

matplotlib.use("Agg")  # draws into files, needs no screen

NOISES = {"symmetric": SymmetricNoise, "pair": PairNoise}
RATE = 0.4
RATES = (0.0, 0.2, 0.4)
HISTORY_LENGTHS = (1, 5, 10, 20)
SEEDS = (0, 1)
RECIPE = {"max_epochs": 40, "lr": 0.05}


@cache
def load_data():
    """Return training, clean validation and test rows and labels, scaled."""
    if folder := os.environ.get("SKPRESTO_DATA"):
        with np.load(Path(folder) / "letter.npz") as data:
            X, y = data["X_train"].astype(np.float32), data["y_train"]
            X_test, y_test = data["X_test"].astype(np.float32), data["y_test"]
        mean, scale = X.mean(axis=0), X.std(axis=0)
        X, X_test = (X - mean) / scale, (X_test - mean) / scale
    else:
        X, y = load_digits(return_X_y=True)
        X, X_test, y, y_test = train_test_split(
            X / 16, y, test_size=0.3, random_state=0, stratify=y
        )
    # As in the paper, a few clean rows are for the validation rule only.
    split = {"test_size": 0.05, "random_state": 0, "stratify": y}
    X, X_val, y, y_val = train_test_split(X, y, **split)
    return X, y, X_val, y_val, X_test, y_test


@cache
def noisy_labels(kind, rate, seed):
    _, y, *_ = load_data()
    return NOISES[kind](rate=rate, random_state=seed).fit_transform(y)


@cache
def trained(method, kind, rate=RATE, seed=0, q=10):
    """Return a classifier trained on noisy labels; each is trained once."""
    X, y, X_val, y_val, X_test, y_test = load_data()
    clf = {
        "Default": DefaultClassifier(),
        "Prestopping": PrestoppingClassifier(stop=AgreementStop()),
        "Prestopping (validation)": PrestoppingClassifier(stop=ValidationStop()),
        "Prestopping (ideal)": PrestoppingClassifier(stop=OracleStop()),
        "Prestopping+": PrestoppingPlusClassifier(
            stop=AgreementStop(margin=0, window=3)  # its default without X_val
        ),
    }[method].set_params(q=q, random_state=seed, **RECIPE)
    if method != "Prestopping (validation)":
        # Rules that do not ask for X_val ignore it: its error is recorded, that is all.
        X_val, y_val = X_test, y_test
    given = {"X_val": X_val, "y_val": y_val, "y_true": y}
    with warnings.catch_warnings(record=True) as caught:
        clf.fit(X, noisy_labels(kind, rate, seed), **given)
    for warning in caught:
        print(f"{method}, {rate:.0%} {kind}, seed {seed}, q {q}: {warning.message}")
    return clf


def test_error(clf):
    *_, X_test, y_test = load_data()
    return 1 - clf.score(X_test, y_test)


def panels(n_rows, n_columns, width=4.0, height=3.3):
    size = (width * n_columns, height * n_rows)
    return plt.subplots(n_rows, n_columns, figsize=size, layout="constrained")


def share_legend(figure, axes):
    """Replace the legends of the panels by one below them."""
    shown = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            # What differs from panel to panel stands in their titles.
            shown.setdefault(label.split(":")[0], handle)
        if ax.get_legend():
            ax.get_legend().remove()
    where = {"loc": "outside lower center", "ncols": min(4, len(shown))}
    figure.legend(shown.values(), shown.keys(), fontsize="small", **where)


def loss_distribution():
    """Figure 1: losses at a training accuracy of 50 %."""
    X, y, *_ = load_data()
    figure, axes = panels(1, 2)
    for ax, kind in zip(axes.flat, NOISES, strict=True):
        records = trained("Default", kind).history_
        n_epochs = next(r.epoch for r in records if r.train_error <= 0.5)
        # Until then the learning rate has not been lowered: neither is it here.
        steady = LRScheduler("StepLR", step_size=10**6)
        clf = DefaultClassifier(random_state=0, callbacks=[steady], **RECIPE)
        y_noisy = noisy_labels(kind, RATE, 0)
        clf.set_params(max_epochs=n_epochs).fit(X, y_noisy)
        plots.LossDistributionDisplay.from_estimator(clf, X, y_noisy, y, bins=30, ax=ax)
        ax.set_title(f"{RATE:.0%} {kind} noise, after {n_epochs} epochs")
    return figure


def memorization():
    """Figure 2: what is memorized, and what it costs."""
    figure, axes = panels(2, 3)
    for row, kind in zip(axes, NOISES, strict=True):
        for ax, method in zip(row, ("Default", "Prestopping"), strict=False):
            plots.MemorizationDisplay.from_estimator(trained(method, kind), ax=ax)
            ax.set_title(f"{method}, {RATE:.0%} {kind} noise")
        draw_test_errors(row[2], kind)
    share_legend(figure, axes.flat)
    return figure


def draw_test_errors(ax, kind):
    for method, dashes in (("Default", "--"), ("Prestopping", "-")):
        clf = trained(method, kind)
        stop = getattr(clf, "stop_epoch_", np.inf)
        kept = [r for r in clf.history_ if r.phase == 2 or r.epoch <= stop]
        epochs, errors = zip(*((r.epoch, r.valid_error) for r in kept), strict=True)
        ax.plot(epochs, errors, dashes, color="black", label=f"test error of {method}")
    ax.set(xlabel="epoch", ylabel="test error", ylim=(0, 0.5))
    ax.yaxis.set_major_formatter(PercentFormatter(1))
    ax.set_title(f"Test error, {RATE:.0%} {kind} noise")


def stop_point():
    """Figure 3: the stop point, ideal and by clean validation rows."""
    figure, axes = panels(2, 2)
    for row, kind in zip(axes, NOISES, strict=True):
        for ax, rule in zip(row, ("ideal", "validation"), strict=True):
            clf = trained(f"Prestopping ({rule})", kind)
            curves = ["memorization_precision", "memorization_recall"]
            if rule == "validation":
                curves.append("valid_error")
            shown = (clf.history_, clf.stop_epoch_, "stop point", curves)
            plots.StopPointDisplay(*shown).plot(ax)
            ax.set_title(f"{RATE:.0%} {kind} noise, {rule} rule")
    share_legend(figure, axes.flat)
    return figure


def noise_rate_curve():
    """Figures 4, 6 and 7: test error against the noise rate."""
    methods = ("Default", "Prestopping", "Prestopping (validation)")
    figure, axes = panels(1, 2)
    for ax, kind in zip(axes.flat, NOISES, strict=True):
        results = []
        for method, rate, seed in product(methods, RATES, SEEDS):
            # Without noise both kinds are the same training.
            clf = trained(method, kind if rate else "pair", rate, seed)
            row = {"method": method, "rate": rate, "seed": seed}
            results.append({**row, "error": test_error(clf)})
        plots.NoiseRateCurveDisplay.from_results(results, ax=ax)
        ax.set_title(f"{kind.capitalize()} noise, {len(SEEDS)} seeds")
    return figure


def safe_set():
    """Appendix A: precision and recall of the safe set."""
    figure, axes = panels(1, 2)
    for ax, kind in zip(axes.flat, NOISES, strict=True):
        plots.SafeSetDisplay.from_estimator(trained("Prestopping", kind), ax=ax)
        ax.set_title(f"{RATE:.0%} {kind} noise")
    return figure


def history_length():
    """Appendix: grid search of q."""
    results = []
    for kind, q, seed in product(NOISES, HISTORY_LENGTHS, SEEDS):
        error = test_error(trained("Prestopping", kind, RATE, seed, q))
        row = {"noise": f"{RATE:.0%} {kind} noise", "q": q, "seed": seed}
        results.append({**row, "error": error})
    figure, ax = panels(1, 1, width=5.5)
    plots.HistoryLengthDisplay.from_results(results, ax=ax)
    return figure


def transition_matrix():
    """Section 4: the two kinds of noise, as they came out."""
    _, y, *_ = load_data()
    figure, axes = panels(1, 2, width=5.2, height=4.2)
    for ax, kind in zip(axes.flat, NOISES, strict=True):
        plots.TransitionMatrixDisplay.from_labels(y, noisy_labels(kind, RATE, 0), ax=ax)
        ax.set_title(f"{RATE:.0%} {kind} noise")
    return figure


def co_teaching_plus():
    """Appendix: two networks that soon agree have little left to learn from."""
    X, *_ = load_data()
    figure, ax = panels(1, 1, width=5.5)
    for hidden, dashes in (((16,), "-"), ((256, 256), "--")):
        clf = CoTeachingPlusClassifier(noise_rate=RATE, random_state=0, **RECIPE)
        clf.set_params(module__hidden=hidden).fit(X, noisy_labels("symmetric", RATE, 0))
        shares = [record.disagreement_fraction for record in clf.history_]
        label = f"hidden layers of {' and '.join(map(str, hidden))}"
        ax.plot(range(1, len(shares) + 1), shares, dashes, lw=2, label=label)
    ax.set(xlabel="epoch", ylabel="samples the networks disagree on", ylim=(0, None))
    ax.yaxis.set_major_formatter(PercentFormatter(1))
    ax.set_title(f"Co-teaching+, {RATE:.0%} symmetric noise")
    ax.legend()
    return figure


def corrected_labels():
    """Appendix: labels that Prestopping+ corrected; None if rows are no images."""
    X, y, *_ = load_data()
    if X.shape[1] != 64:
        return None
    clf = trained("Prestopping+", "pair")
    y_noisy = noisy_labels("pair", RATE, 0)
    rows = np.flatnonzero(clf.corrected_mask_)[:12]
    figure, axes = panels(2, 6, width=1.3, height=1.6)
    for ax, row in zip(axes.flat, rows, strict=False):
        ax.imshow(X[row].reshape(8, 8), cmap="gray_r")
        mark = "" if clf.corrected_labels_[row] == y[row] else f" (is {y[row]})"
        ax.set_title(f"{y_noisy[row]} → {clf.corrected_labels_[row]}{mark}")
    for ax in axes.flat:
        ax.set_axis_off()
    return figure


FIGURES = (
    loss_distribution,
    memorization,
    stop_point,
    noise_rate_curve,
    safe_set,
    history_length,
    transition_matrix,
    co_teaching_plus,
    corrected_labels,
)


def save(figure, path):
    """Write a picture of few colours, which keeps its file small."""
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=100)
    plt.close(figure)
    Image.open(drawn).convert("RGB").quantize(256).save(path, optimize=True)


def main(argv=None):
    names = [draw.__name__ for draw in FIGURES]
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    default = Path(__file__).parents[1] / "figures"
    parser.add_argument("folder", nargs="?", type=Path, default=default)
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    arguments = parser.parse_args(argv)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for draw in (draw for draw in FIGURES if draw.__name__ in arguments.only):
        started = time.perf_counter()
        path = arguments.folder / f"{draw.__name__}.png"
        if figure := draw():
            save(figure, path)
        print(f"{path.name:<24} {time.perf_counter() - started:6.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())

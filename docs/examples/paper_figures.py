"""Reproduce the figures of the Prestopping paper with small data sets.

Run it with ``python docs/examples/paper_figures.py [folder]``. It trains on the digits
data of scikit-learn, or on ``letter.npz`` in the folder named by the environment
variable ``SKPRESTO_DATA``, with injected label noise. True labels of training rows are
used to measure memorization and by the ideal stop rule; no other method uses them.

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

matplotlib.use("Agg")  # writes files, needs no display

NOISES = {"symmetric": SymmetricNoise, "pair": PairNoise}
RATE = 0.4
RATES = (0.0, 0.2, 0.4)
HISTORY_LENGTHS = (1, 5, 10, 20)
SEEDS = (0, 1)
RECIPE = {"max_epochs": 40, "lr": 0.05}


@cache
def load_data():
    """Return rows and labels for training, clean validation and test, scaled."""
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
    # As in the paper, a few clean rows are set aside for ValidationStop.
    split = {"test_size": 0.05, "random_state": 0, "stratify": y}
    X, X_val, y, y_val = train_test_split(X, y, **split)
    return X, y, X_val, y_val, X_test, y_test


@cache
def noisy_labels(kind, rate, seed):
    _, y, *_ = load_data()
    return NOISES[kind](rate=rate, random_state=seed).fit_transform(y)


@cache
def trained(method, kind, rate=RATE, seed=0, q=10):
    """Return a classifier trained on noisy labels; results are cached."""
    X, y, X_val, y_val, X_test, y_test = load_data()
    clf = {
        "Default": DefaultClassifier(),
        "Prestopping": PrestoppingClassifier(stop=AgreementStop()),
        "Prestopping (validation)": PrestoppingClassifier(stop=ValidationStop()),
        "Prestopping (ideal)": PrestoppingClassifier(stop=OracleStop()),
        "Prestopping+": PrestoppingPlusClassifier(
            stop=AgreementStop(margin=0, window=3)  # the default without X_val
        ),
    }[method].set_params(q=q, random_state=seed, **RECIPE)
    if method != "Prestopping (validation)":
        # The error on X_val is recorded for all rules and used by ValidationStop only.
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


def merge_legends(figure, axes):
    """Replace the legends of all panels by one legend below them."""
    shown = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            # The stop epoch after the colon differs between panels.
            shown.setdefault(label.split(":")[0], handle)
        if ax.get_legend():
            ax.get_legend().remove()
    where = {"loc": "outside lower center", "ncols": min(4, len(shown))}
    figure.legend(shown.values(), shown.keys(), fontsize="small", **where)


def loss_distribution():
    """Figure 1: loss distributions at a training accuracy of 50 %."""
    X, y, *_ = load_data()
    figure, axes = panels(1, 2)
    for ax, kind in zip(axes.flat, NOISES, strict=True):
        records = trained("Default", kind).history_
        n_epochs = next(r.epoch for r in records if r.train_error <= 0.5)
        # In the longer training the learning rate has not been lowered by then, so it
        # stays constant in the shorter one.
        constant = LRScheduler("StepLR", step_size=10**6)
        clf = DefaultClassifier(random_state=0, callbacks=[constant], **RECIPE)
        y_noisy = noisy_labels(kind, RATE, 0)
        clf.set_params(max_epochs=n_epochs).fit(X, y_noisy)
        plots.LossDistributionDisplay.from_estimator(clf, X, y_noisy, y, bins=30, ax=ax)
        ax.set_title(f"{RATE:.0%} {kind} noise, after {n_epochs} epochs")
    return figure


def memorization():
    """Figure 2: memorized labels and test errors."""
    figure, axes = panels(2, 3)
    for row, kind in zip(axes, NOISES, strict=True):
        for ax, method in zip(row, ("Default", "Prestopping"), strict=False):
            plots.MemorizationDisplay.from_estimator(trained(method, kind), ax=ax)
            ax.set_title(f"{method}, {RATE:.0%} {kind} noise")
        draw_test_errors(row[2], kind)
    merge_legends(figure, axes.flat)
    return figure


def draw_test_errors(ax, kind):
    for method, dashes in (("Default", "--"), ("Prestopping", "-")):
        clf = trained(method, kind)
        stop = getattr(clf, "stop_epoch_", np.inf)
        kept = [r for r in clf.history_ if r.stage == "phase 2" or r.epoch <= stop]
        epochs, errors = zip(*((r.epoch, r.valid_error) for r in kept), strict=True)
        ax.plot(epochs, errors, dashes, color="black", label=f"test error of {method}")
    ax.set(xlabel="epoch", ylabel="test error", ylim=(0, 0.5))
    ax.yaxis.set_major_formatter(PercentFormatter(1))
    ax.set_title(f"Test error, {RATE:.0%} {kind} noise")


def stop_point():
    """Figure 3: stop points of the ideal rule and of the validation rule."""
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
    merge_legends(figure, axes.flat)
    return figure


def noise_rate_curve():
    """Figures 4, 6 and 7: test error against the noise rate."""
    methods = ("Default", "Prestopping", "Prestopping (validation)")
    figure, axes = panels(1, 2)
    for ax, kind in zip(axes.flat, NOISES, strict=True):
        results = []
        for method, rate, seed in product(methods, RATES, SEEDS):
            # Without noise both kinds of noise give the same training.
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
    """Appendix: test error against the history length q."""
    results = []
    for kind, q, seed in product(NOISES, HISTORY_LENGTHS, SEEDS):
        error = test_error(trained("Prestopping", kind, RATE, seed, q))
        row = {"noise": f"{RATE:.0%} {kind} noise", "q": q, "seed": seed}
        results.append({**row, "error": error})
    figure, ax = panels(1, 1, width=5.5)
    plots.HistoryLengthDisplay.from_results(results, ax=ax)
    return figure


def transition_matrix():
    """Section 4: transition matrices of the two kinds of noise, as injected."""
    _, y, *_ = load_data()
    figure, axes = panels(1, 2, width=5.2, height=4.2)
    for ax, kind in zip(axes.flat, NOISES, strict=True):
        plots.TransitionMatrixDisplay.from_labels(y, noisy_labels(kind, RATE, 0), ax=ax)
        ax.set_title(f"{RATE:.0%} {kind} noise")
    return figure


def co_teaching_plus():
    """Appendix: fraction of samples for which the two networks disagree."""
    X, *_ = load_data()
    figure, ax = panels(1, 1, width=5.5)
    for hidden, dashes in (((16,), "-"), ((256, 256), "--")):
        clf = CoTeachingPlusClassifier(noise_rate=RATE, random_state=0, **RECIPE)
        clf.set_params(module__hidden=hidden).fit(X, noisy_labels("symmetric", RATE, 0))
        fractions = [record.disagreement_fraction for record in clf.history_]
        label = f"hidden units: {' + '.join(map(str, hidden))}"
        ax.plot(range(1, len(fractions) + 1), fractions, dashes, lw=2, label=label)
    ylabel = "samples with different predictions"
    ax.set(xlabel="epoch", ylabel=ylabel, ylim=(0, None))
    ax.yaxis.set_major_formatter(PercentFormatter(1))
    ax.set_title(f"Co-teaching+, {RATE:.0%} symmetric noise")
    ax.legend()
    return figure


def corrected_labels():
    """Appendix: labels corrected by Prestopping+; None if the rows are no images."""
    X, y, *_ = load_data()
    if X.shape[1] != 64:
        return None
    clf = trained("Prestopping+", "pair")
    y_noisy = noisy_labels("pair", RATE, 0)
    rows = np.flatnonzero(clf.corrected_mask_)[:12]
    figure, axes = panels(2, 6, width=1.4, height=1.7)
    figure.suptitle("given label → corrected label", fontsize="medium")
    for ax, row in zip(axes.flat, rows, strict=False):
        ax.imshow(X[row].reshape(8, 8), cmap="gray_r")
        mark = "" if clf.corrected_labels_[row] == y[row] else f" (true: {y[row]})"
        title = f"{y_noisy[row]} → {clf.corrected_labels_[row]}{mark}"
        ax.set_title(title, fontsize="small")
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
    """Save with 256 colors, which keeps the file small."""
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=100)
    plt.close(figure)
    Image.open(buffer).convert("RGB").quantize(256).save(path, optimize=True)


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

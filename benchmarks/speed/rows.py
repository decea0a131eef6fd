"""The rows of the table, one function per measurement."""

import itertools
import time
import warnings
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from cleanlab.classification import CleanLearning
from contenders import (
    BATCH_SIZE,
    N_CLASSES,
    STEP,
    LoaderLoop,
    Q,
    SmallConvNet,
    SmallMLP,
    TightLoop,
    images,
    plain_skorch,
    table,
    trainer,
)
from internals import (
    history_bytes,
    run_phase_one,
    run_phase_two,
    run_phase_two_with_quality,
)
from timing import fastest

from skpresto import (
    CrossPrestoppingClassifier,
    DefaultClassifier,
    PrestoppingClassifier,
)
from skpresto.modules import FastDropout, SmallCNN


@dataclass(frozen=True)
class Row:
    """One line of the table: a measured value and its upper limit."""

    work: str
    value: float
    limit: float
    unit: str = ""

    def line(self):
        """Return the row in markdown."""
        holds = "yes" if self.value <= self.limit else "NO"
        value = f"{self.value:.2f}" if self.unit == "" else f"{self.value:.0f}"
        limit = f"{self.limit:.2f}" if self.unit == "" else f"{self.limit:.0f}"
        unit = f" {self.unit}" if self.unit else ""
        return f"| {self.work} | {value}{unit} | {limit}{unit} | {holds} |"


def epochs_of_an_mlp(full):
    X, y = table(20_000)
    ours = trainer(SmallMLP, X, y)
    run_phase_one(ours, Q)  # fills the prediction history
    seconds = fastest(
        {
            "tight": TightLoop(SmallMLP, X, y).epoch,
            "fused": TightLoop(SmallMLP, X, y, fused=True).epoch,
            "one": partial(run_phase_one, ours),
            "two": partial(run_phase_two, ours),
            "quality": partial(run_phase_two_with_quality, ours),
            "loader": LoaderLoop(SmallMLP, X, y).epoch,
        },
        rounds=60 if full else 25,
    )
    size = f"MLP, 20,000 x 32, batch {BATCH_SIZE}"
    one, two = seconds["one"], seconds["two"]
    yield Row(
        f"phase I epoch : tight loop epoch ({size})", one / seconds["tight"], 1.35
    )
    yield Row(
        "phase I epoch : tight loop epoch with a fused optimizer",
        one / seconds["fused"],
        1.35,
    )
    yield Row(
        "phase I epoch : TensorDataset + DataLoader epoch", one / seconds["loader"], 0.6
    )
    yield Row("phase II epoch : phase I epoch", two / one, 1.15)
    yield Row("the same with label quality", seconds["quality"] / one, 1.2)


def epochs_of_a_conv_net(full):
    X, y = images(1_024)
    contenders = {
        "tight": TightLoop(SmallConvNet, X, y).epoch,
        "one": partial(run_phase_one, trainer(SmallConvNet, X, y)),
    }
    seconds = fastest(contenders, rounds=100 if full else 25)
    ratio = seconds["one"] / seconds["tight"]
    yield Row("phase I epoch : tight loop epoch (small CNN, 28 x 28)", ratio, 1.05)


def epochs_in_bfloat16(full):
    for shape in ((1, 28, 28), (3, 32, 32)):
        X, y = images(512, shape)
        ours = trainer(SmallCNN, X, y, autocast="bfloat16")
        built_in = partial(SmallCNN, shape, N_CLASSES)
        seconds = fastest(
            {
                "tight": TightLoop(built_in, X, y).epoch,
                "ours": partial(run_phase_one, ours),
            },
            rounds=20 if full else 6,
        )
        size = " x ".join(map(str, shape))
        work = f"phase I epoch, bfloat16 : tight float32 loop (built-in CNN, {size})"
        yield Row(work, seconds["ours"] / seconds["tight"], 0.55)


def dropout(full):
    X, slope = torch.randn(128, 256, requires_grad=True), torch.randn(128, 256)
    layers = {"torch": torch.nn.Dropout(0.1), "ours": FastDropout(0.1)}

    def repeated(layer):
        for _ in range(200):
            layer(X).backward(slope)

    contenders = {name: partial(repeated, layer) for name, layer in layers.items()}
    seconds = fastest(contenders, rounds=20)
    work = "FastDropout : torch.nn.Dropout, forward and backward (128 x 256)"
    yield Row(work, seconds["ours"] / seconds["torch"], 0.6)


def convolutions(full):
    for shape in ((1, 28, 28), (3, 32, 32)):
        X, y = images(512, shape)
        built_in = partial(SmallCNN, shape, N_CLASSES)
        contenders = {
            "tight": TightLoop(built_in, X, y).epoch,
            "ours": partial(run_phase_one, trainer(SmallCNN, X, y)),
        }
        seconds = fastest(contenders, rounds=20 if full else 4)
        size = " x ".join(map(str, shape))
        work = f"phase I epoch : tight loop epoch (built-in CNN, {size})"
        yield Row(work, seconds["ours"] / seconds["tight"], 0.95)


def several_jobs(full):
    X, y = table(4_000)
    clocks = {"processor": time.process_time, "wall": time.perf_counter}
    best = {(name, n_jobs): np.inf for name in clocks for n_jobs in (1, 2)}
    for n_jobs in (1, 2) * 3:
        started = {name: clock() for name, clock in clocks.items()}
        clf = CrossPrestoppingClassifier(max_epochs=5, n_jobs=n_jobs, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clf.fit(X, y)
        for name, clock in clocks.items():
            seconds = clock() - started[name]
            best[name, n_jobs] = min(best[name, n_jobs], seconds)
    for name, limit in (("processor", 1.15), ("wall", 1.05)):
        work = f"CrossPrestopping with n_jobs=2 : n_jobs=1, {name} time (4,000 x 32)"
        yield Row(work, best[name, 2] / best[name, 1], limit)


def whole_fits(full):
    X, y = table(20_000 if full else 4_000)
    epochs = 60 if full else 40
    settings = {"lr": STEP["lr"], "max_epochs": epochs, "batch_size": BATCH_SIZE}

    def robust():
        PrestoppingClassifier(SmallMLP, random_state=0, **settings).fit(X, y)

    def plain():
        plain_skorch(SmallMLP, epochs).fit(X, y)

    def cleaned():
        CleanLearning(
            plain_skorch(SmallMLP, epochs),
            cv_n_folds=5,
            find_label_issues_kwargs={"n_jobs": 1},
        ).fit(X, y)

    seconds = fastest({"ours": robust, "skorch": plain}, rounds=6)
    slowly = fastest({"ours": robust, "cleanlab": cleaned}, rounds=2)
    ours = min(seconds["ours"], slowly["ours"])
    name = f"whole PrestoppingClassifier.fit ({epochs} epochs)"
    ratio = ours / seconds["skorch"]
    yield Row(f"{name} : whole skorch NeuralNetClassifier.fit", ratio, 0.8)
    ratio = ours / slowly["cleanlab"]
    yield Row("the same : cleanlab CleanLearning(cv_n_folds=5).fit", ratio, 0.2)


def time_per_sample(full):
    few, many = 10_000, 1_000_000
    small, large = (trainer(SmallMLP, *table(n)) for n in (few, many))

    def visit(runner, n_times):
        """Visit every sample ``n_times`` in each phase."""
        for _ in range(n_times):
            run_phase_one(runner)
            run_phase_two_with_quality(runner)

    visit(large, 1)
    seconds = fastest(
        {
            # The same number of visits for both.
            "small": lambda: visit(small, many // few),
            "large": lambda: visit(large, 1),
        },
        rounds=4 if full else 2,
    )
    ratio = seconds["large"] / seconds["small"]
    yield Row("seconds per sample, 1,000,000 rows : 10,000 rows", ratio, 1.2)


def memory_of_the_history(full):
    n_samples = 1_000_000
    per_sample = history_bytes(n_samples, n_classes=256, q=10) / n_samples
    work = "prediction history per sample, 256 classes, q = 10"
    yield Row(work, per_sample, 12, "bytes")


def predictions_of_built_in_networks(full):
    X, y = table(400_000)
    for hidden in ((100,), (64,), (32, 32), (256, 256), (512, 256)):
        clf = DefaultClassifier(max_epochs=1, random_state=0, module__hidden=hidden)
        module = clf.fit(X[:2_000], y[:2_000]).net_.module_.eval()

        @torch.inference_mode()
        def by_hand(module=module):
            blocks = torch.from_numpy(X).split(4096)
            return torch.cat([torch.softmax(module(b), dim=1) for b in blocks])

        contenders = {"ours": partial(clf.predict_proba, X), "hand": by_hand}
        seconds = fastest(contenders, rounds=10 if full else 3)
        work = f"predict_proba on 400,000 rows : the module by hand, hidden {hidden}"
        yield Row(work, seconds["ours"] / seconds["hand"], 1.35)


def prediction(full):
    X, y = table(1_000_000)
    classifier = PrestoppingClassifier(SmallMLP, max_epochs=1, random_state=0)
    classifier.fit(X[:2_000], y[:2_000])
    module = classifier.net_.module_.eval()

    @torch.inference_mode()
    def by_hand(size):
        blocks = torch.from_numpy(X).split(size)
        return np.concatenate([module(block).argmax(dim=1).numpy() for block in blocks])

    contenders = {f"{size}": lambda size=size: by_hand(size) for size in (4096, 16384)}
    seconds = fastest(
        {**contenders, "ours": lambda: classifier.predict(X)}, rounds=40 if full else 20
    )
    ours = seconds.pop("ours")
    yield Row(
        "predict on 1,000,000 rows : calling the module on large batches",
        ours / min(seconds.values()),
        1.2,
    )


def every_row(full):
    """Return all rows, measured one after another."""
    measurements = (
        epochs_of_an_mlp,
        epochs_of_a_conv_net,
        convolutions,
        epochs_in_bfloat16,
        dropout,
        several_jobs,
        whole_fits,
        time_per_sample,
        memory_of_the_history,
        prediction,
        predictions_of_built_in_networks,
    )
    return itertools.chain.from_iterable(measure(full) for measure in measurements)

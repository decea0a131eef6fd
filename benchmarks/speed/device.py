"""Measure training on a GPU or Apple's chip: a plain loop, skorch and every classifier.

    python benchmarks/speed/device.py            # the device that "auto" means
    python benchmarks/speed/device.py --device cuda:1

The table is printed, and written to a file that is named after the device, such as
``speed-NVIDIA-A100.md``, so that it can be sent. Each row is the fastest of three fits;
the time of a batch is that of a fit divided by the batches in it, on a table of 32
columns with the built-in network, and on pictures of 3 x 32 x 32 with the built-in CNN.
"""

import argparse
import platform
import re
import time
import warnings
from pathlib import Path

import numpy as np
import torch
from skorch import NeuralNetClassifier
from torch import nn

import skpresto
from skpresto import baselines
from skpresto._device import resolved_device
from skpresto.modules import MLP, SmallCNN

N_EPOCHS, BATCH_SIZE = 6, 128
METHODS = [
    getattr(package, name)
    for package in (skpresto, baselines)
    for name in package.__all__
    if name.endswith("Classifier") and name != "LabelCleaningClassifier"
]
#: What keeps methods from estimating a noise rate first.
GIVEN = {"noise_rate": 0.2}


def waited(device):
    """Wait for a device to have done its work; return the time."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    if device.type == "mps":
        torch.mps.synchronize()
    return time.perf_counter()


def problems(n_samples):
    """Return samples with labels of ten classes, and the network for them."""
    rng = np.random.RandomState(0)
    y = rng.randint(0, 10, n_samples)
    table = rng.normal(size=(n_samples, 32)).astype(np.float32)
    pictures = rng.normal(size=(n_samples // 4, 3, 32, 32)).astype(np.float32)
    return {
        "table": (table, y, lambda: MLP(32, 10)),
        "pictures": (pictures, y[: len(pictures)], lambda: SmallCNN((3, 32, 32), 10)),
    }


def plain_loop(X, y, make, device):
    """Train as a loop written by hand, with the samples on the device."""
    X, y = torch.from_numpy(X).to(device), torch.from_numpy(y).to(device)
    module = make().to(device).train()
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1, momentum=0.9)
    for _ in range(N_EPOCHS):
        order = torch.randperm(len(X)).to(device)
        for index in order.split(BATCH_SIZE):
            optimizer.zero_grad()
            nn.functional.cross_entropy(module(X[index]), y[index]).backward()
            optimizer.step()


def plain_skorch(X, y, make, device):
    """Train with skorch alone."""
    net = NeuralNetClassifier(make(), criterion=nn.CrossEntropyLoss, lr=0.1)
    net.set_params(device=str(device), max_epochs=N_EPOCHS, batch_size=BATCH_SIZE)
    net.set_params(train_split=None, verbose=0, optimizer__momentum=0.9)
    net.set_params(iterator_train__shuffle=True)
    net.fit(X, y)


def fit_of(Classifier):
    """Return a function that fits a classifier."""

    def fit(X, y, make, device):
        own = {k: v for k, v in GIVEN.items() if k in Classifier().get_params()}
        clf = Classifier(max_epochs=N_EPOCHS, batch_size=BATCH_SIZE, **own)
        clf.set_params(device=str(device), random_state=0)
        clean = {}
        if "Reweight" in Classifier.__name__:
            clean = {"X_val": X[:256], "y_val": y[:256]}
        clf.fit(X, y, **clean)
        return len(clf.history_)

    return fit


def milliseconds(function, X, y, make, device, rounds=3):
    """Return the least time of a batch."""
    times = []
    for _ in range(rounds):
        started = waited(device)
        n_epochs = function(X, y, make, device) or N_EPOCHS
        n_batches = n_epochs * -(-len(X) // BATCH_SIZE)
        times.append((waited(device) - started) / n_batches)
    return 1000 * min(times)


def name_of(device):
    """Return the name that the maker gave to a device."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"{platform.processor() or platform.machine()}-{device.type}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--folder", type=Path, default=Path())
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    device = resolved_device(options.device)
    rows = {"plain loop": plain_loop, "skorch": plain_skorch}
    rows |= {Classifier.__name__: fit_of(Classifier) for Classifier in METHODS}
    versions = f"torch {torch.__version__}, skpresto {skpresto.__version__}"
    lines = [f"{name_of(device)}, {versions}, milliseconds per batch", ""]
    lines += ["| | table | pictures |", "|---|---|---|"]
    print("\n".join(lines))
    data = problems(options.samples)
    for title, function in rows.items():
        found = [milliseconds(function, *problem, device) for problem in data.values()]
        lines.append(f"| {title} | {found[0]:.3f} | {found[1]:.3f} |")
        print(lines[-1], flush=True)
    path = options.folder / f"speed-{re.sub(r'[^A-Za-z0-9]+', '-', name_of(device))}.md"
    path.write_text("\n".join(lines) + "\n")
    print(f"\nwritten to {path}")


if __name__ == "__main__":
    main()

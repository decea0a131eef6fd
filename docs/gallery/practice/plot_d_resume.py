"""
A fit that is killed goes on
============================

A long training is killed by a signal that no program can catch. Started again, it goes
on after the last stored epoch, and ends with the same bits as one that was never
killed.
"""

# %%
# The program to be killed: it fits inside ``skpresto.resumable(folder)``. ``every=0``
# stores each epoch; by default at most one write is made in thirty seconds.

import tempfile
from pathlib import Path

PROGRAM = """
import sys, time
import numpy as np
from sklearn.datasets import load_digits
import skpresto
from skpresto.noise import PairNoise
from skorch.callbacks import Callback

class Slow(Callback):  # so that there is time to kill it
    def on_epoch_end(self, net, **kwargs):
        time.sleep(0.05)

X, y = load_digits(return_X_y=True)
y_noisy = PairNoise(0.3, random_state=0).fit_transform(y)
clf = skpresto.PrestoppingClassifier(random_state=0, callbacks=[Slow()])
with skpresto.resumable(sys.argv[1], every=0):
    clf.fit(X / 16, y_noisy)
np.save(sys.argv[2], clf.predict_proba(X / 16))
"""
folder = Path(tempfile.mkdtemp())
program = folder / "train.py"
_ = program.write_text(PROGRAM)

# %%
# It is started, and killed with SIGKILL after some more epochs, three times; then it
# may end. ``resume_status`` tells how far the fits in a folder are, also while they
# run.

import subprocess
import sys
import time

import skpresto

command = [sys.executable, program, folder / "progress", folder / "resumed.npy"]


def stored():
    """Return the number of the stored epoch, and its stage."""
    try:
        (fit,) = skpresto.resume_status(folder / "progress")
    except (ValueError, OSError):  # not begun, or ended: there is no such folder
        return 0, None
    return fit.n_epochs, fit.stage


timeline = []
started = time.perf_counter()
for n_more in (8, 12, 16, None):
    before = stored()[0]
    child = subprocess.Popen(command)
    while child.poll() is None:
        n_epochs, stage = stored()
        timeline.append((time.perf_counter() - started, n_epochs, stage))
        if n_more is not None and n_epochs >= before + n_more:
            child.kill()  # SIGKILL
            child.wait()
        time.sleep(0.02)
    print(f"exit code {child.returncode}, {stored()[0]} epochs are stored")

# %%
# The same program in another folder, without interruption, for comparison:

subprocess.run(
    [*command[:2], folder / "other", folder / "unbroken.npy"], check=True, timeout=300
)

import numpy as np

resumed, unbroken = np.load(folder / "resumed.npy"), np.load(folder / "unbroken.npy")
print("same bits:", bool((resumed == unbroken).all()))

# %%
# Number of the epoch over time. Phase I goes on for a while after the stop point; phase
# II continues from the stop point, so the number falls there. Between a kill and the
# next epoch, Python starts and loads the data.

import matplotlib.pyplot as plt

figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
for stage, color in (("phase 1", "tab:blue"), ("phase 2", "tab:orange")):
    points = [(when, n) for when, n, where in timeline if where == stage]
    ax.plot(*zip(*points, strict=True), ".", ms=3, color=color, label=stage)
_ = ax.set(xlabel="seconds", ylabel="stored epoch", title="Killed three times")
_ = ax.legend()

import shutil

shutil.rmtree(folder)

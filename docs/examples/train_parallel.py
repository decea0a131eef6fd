"""Fit on several processes, and go on if one of them is killed.

Run it with two processes on this machine::

    torchrun --nproc-per-node=2 docs/examples/train_parallel.py

or, on each of two machines with the number 0 or 1 as ``--node-rank``::

    torchrun --nnodes=2 --node-rank=0 --nproc-per-node=2 --master-addr=<machine 0> \
        docs/examples/train_parallel.py

The progress is stored in the folder ``runs/digits``. With ``--max-restarts=3``,
torchrun starts the processes anew if one of them is killed, and the fit goes on.
"""

import torch.distributed as dist
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import skpresto
from skpresto.noise import PairNoise
from skpresto.stopping import NoiseRateStop


def main() -> None:
    dist.init_process_group("gloo")  # "nccl" for GPUs, one per process
    X, y = load_digits(return_X_y=True)
    X = (X / 16).astype("float32").reshape(-1, 1, 8, 8)
    X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    y_noisy = PairNoise(0.3, random_state=0).fit_transform(y)

    clf = skpresto.PrestoppingClassifier(
        stop=NoiseRateStop(0.3), max_epochs=12, verbose=2, random_state=0
    )
    with skpresto.data_parallel(), skpresto.resumable("runs/digits", every=5):
        clf.fit(X, y_noisy)

    # Every process has the same classifier now; one of them is enough to use it.
    if dist.get_rank() == 0:
        print(f"Test accuracy: {clf.score(X_test, y_test):.3f}")
        print(f"Labels that seem wrong: {(~clf.safe_mask_).sum()} of {len(y)}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

"""A program that two processes run, as torchrun would start it, each on its own GPU."""

import os
import sys
from pathlib import Path


def main(folder: Path) -> None:
    """Fit together with the other process, and store what this one predicts."""
    is_pretended = os.environ["SKPRESTO_TEST_DEVICE"] == "pretend"
    if is_pretended:
        from tests.device.pretend.device import load

        load()
    import numpy as np
    import torch
    import torch.distributed as dist

    import skpresto

    rank = int(os.environ["LOCAL_RANK"])
    backend = "gloo" if is_pretended else "nccl"
    meeting = f"file://{folder}/meeting"
    dist.init_process_group(backend, init_method=meeting, rank=rank, world_size=2)
    data = np.load(folder / "data.npz")
    clf = skpresto.PrestoppingClassifier(torch.nn.LazyLinear, device="cuda")
    clf.set_params(module__out_features=3, max_epochs=5, batch_size=32, random_state=0)
    with skpresto.data_parallel():
        clf.fit(data["X"], data["y"])
    np.save(folder / f"{rank}.npy", clf.predict_proba(data["X"]))
    (folder / f"{rank}.txt").write_text(clf.net_.device)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]))

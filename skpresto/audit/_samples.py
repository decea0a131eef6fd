"""The samples that a report shows, and their index."""

from typing import Any


def check_samples(X: Any, n_labels: int, owner: str, name: str = "X") -> None:
    """Raise if there is not one sample per label; None stands for no samples."""
    if X is None:
        return
    n_samples = X.shape[0] if hasattr(X, "shape") else len(X)
    if n_samples != n_labels:
        raise ValueError(
            f"{owner} needs one label per sample, but {name} has {n_samples} samples "
            f"and y has {n_labels} labels. Pass {name} of the labeled samples, in "
            "their order."
        )


def index_of(*sources: Any) -> Any:
    """Return the pandas index of the first source with one, or None."""
    return next((s.index for s in sources if hasattr(s, "iloc")), None)

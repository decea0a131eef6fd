"""The figure of the first page: every row of the benchmark, the lost ones included."""

import json
from collections import defaultdict
from pathlib import Path

#: Files with one JSON object per fit; those of later files count.
RESULTS = ("laptop.jsonl", "rivals.jsonl")
#: What is compared with plain training, and how it is drawn.
METHODS = {
    "CrossPrestopping": ("o", "#0072b2"),
    "Prestopping": ("s", "#d55e00"),
    "Co-teaching": ("D", "#56b4e9"),
    "CleanLearning": ("^", "#009e73"),
}
_LABELS = {
    "Co-teaching": "Co-teaching, given the true noise rate",
    "CleanLearning": "CleanLearning (cleanlab)",
}

Rows = dict[tuple, tuple[float, float]]


def read_errors(folder: Path) -> dict[str, dict[tuple, float]]:
    """Return test errors by method, and by data, noise, rate and seed."""
    errors: dict[str, dict[tuple, float]] = defaultdict(dict)
    for name in RESULTS:
        path = folder / name
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        for line in lines:
            fit = json.loads(line)
            has_default_params = fit["q"] in (None, 10)
            if has_default_params and fit["rule"] in (None, "default rule"):
                where = fit["data"], fit["noise"], fit["rate"], fit["seed"]
                errors[fit["method"]][where] = fit["error_last"]
    return errors


def gains(errors: dict[str, dict[tuple, float]], method: str) -> Rows:
    """Return for each data and noise the error of plain training, and what is gained.

    Means over the seeds that both were fitted with, in percentage points.
    """
    seeds = defaultdict(list)
    for where, error in errors[method].items():
        plain = errors["Default"].get(where)
        if plain is not None:
            seeds[where[:3]].append((100 * plain, 100 * (plain - error)))
    return {
        row: tuple(sum(column) / len(pairs) for column in zip(*pairs, strict=True))
        for row, pairs in seeds.items()
    }


def first_figure(results: Path, path: Path) -> dict[str, str]:
    """Draw the figure, and return the numbers that the text beside it states."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    errors = read_errors(results)
    by_method = {method: gains(errors, method) for method in METHODS}
    figure, ax = plt.subplots(figsize=(8.6, 4.6), layout="constrained")
    ax.axhspan(-100, 0, color="0.93", zorder=0)
    ax.axhline(0, color="0.3", lw=1)
    for method, (marker, color) in reversed(METHODS.items()):
        points = list(by_method[method].values())
        style = {"color": color, "ms": 7, "mec": "white", "mew": 0.6}
        label = _LABELS.get(method, method)
        ax.plot(*zip(*points, strict=True), marker, label=label, **style)
    lowest = min(gain for rows in by_method.values() for _, gain in rows.values())
    ax.set_ylim(min(-4, lowest - 1), None)
    ax.set_xlim(0, None)
    where = {"transform": ax.get_yaxis_transform(), "ha": "right", "va": "top"}
    ax.text(0.99, -0.4, "worse than plain training", size="small", color="0.3", **where)
    ax.set_xlabel("test error of plain training on the noisy labels, %")
    ax.set_ylabel("percentage points gained")
    handles, labels = ax.get_legend_handles_labels()
    ax.legend(handles[::-1], labels[::-1], loc="upper left", fontsize="small")
    ax.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    plt.close(figure)
    ours = by_method["CrossPrestopping"]
    return {
        "n_rows": str(len(ours)),
        "n_gained": str(sum(gain > 0 for _, gain in ours.values())),
        "mean_gain": f"{sum(gain for _, gain in ours.values()) / len(ours):.1f}",
        "loses": _said_of_losses([gain for _, gain in ours.values()]),
        "n_gained_one_run": str(
            sum(gain > 0 for _, gain in by_method["Prestopping"].values())
        ),
    }


def _said_of_losses(gains_of_rows: list[float]) -> str:
    worst = -min(gains_of_rows)
    return f"loses up to {worst:.1f}" if round(worst, 1) > 0 else "loses in none"

"""Any data set in one npz file, by the names of its arrays."""

import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from skpresto.datasets._arrays import as_bunch
from skpresto.datasets._source import DATA_VARIABLE

#: How the name of an array of noisy labels starts.
_NOISY = "y_train_"

#: Numbers of channels by which the axis of the channels is known.
_CHANNELS = (1, 3, 4)


def load_npz(
    file: str | os.PathLike,
    *,
    noise: str | None = None,
    normalize: bool = False,
    channels_last: bool | None = None,
) -> Bunch:
    """Load a data set from one ``.npz`` file, by the names of its arrays.

    The file holds ``X_train`` and at least one array of its labels: ``y_train``, the
    right ones, or ``y_train_<source>``, noisy ones from some source, as many as you
    like. ``X_test`` with ``y_test``, ``X_valid`` with ``y_valid``, both with right
    labels, and ``classes``, the names of the classes, may be there; labels then are
    numbers of classes. Any further array is passed on under its own name. Nothing in
    the file is unpickled.

    Parameters
    ----------
    file : path
        The file. A relative path that does not exist is looked for in the folder
        that the environment variable ``SKPRESTO_DATA`` names.
    noise : str, default=None
        Source of the labels to return as ``y_noisy``: "worst" for ``y_train_worst``.
        By default the only one, if there is only one.
    normalize : bool, default=False
        Return ``X`` as float32 with mean 0 and standard deviation 1 of each column,
        or of each channel of images, over the training rows.
    channels_last : bool, default=None
        Whether images have the shape (n, height, width, channels). By default they
        have if the last axis has length 1, 3 or 4 and the second has not.

    Returns
    -------
    data : Bunch
        The arrays of the file, with ``X_...`` of images as (n, channels, height,
        width), grey ones with one channel, and float16 as float32. In place of
        ``y_train_<source>`` there are ``noisy_labels``, a dict from source to labels,
        and ``y_noisy``, the chosen ones.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from skpresto.datasets import load_npz
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "shapes.npz"
    ...     np.savez(
    ...         file,
    ...         X_train=np.zeros((4, 28, 28), dtype=np.uint8),
    ...         y_train=[0, 1, 0, 1],
    ...         y_train_crowd=[0, 1, 1, 1],
    ...         classes=["circle", "square"],
    ...     )
    ...     data = load_npz(file)
    >>> data.X_train.shape
    (4, 1, 28, 28)
    >>> (data.y_noisy != data.y_train).tolist()
    [False, False, True, False]
    """
    path = _found(file)
    arrays = _read(path)
    noisy = {n.removeprefix(_NOISY): a for n, a in arrays.items() if _is_noisy(n)}
    _check_rows(path, arrays, noisy)
    _check_labels(path, arrays)
    for name in [name for name in arrays if name.startswith("X_")]:
        arrays[name] = _channels_first(arrays[name], channels_last)
    _check_shapes(path, arrays)

    entries: dict[str, Any] = {n: a for n, a in arrays.items() if not _is_noisy(n)}
    source = _chosen(path, noise, noisy)
    if noisy:
        entries["noisy_labels"] = noisy
    if source is not None:
        entries["y_noisy"] = noisy[source]
    return as_bunch(normalize, **entries)


def _is_noisy(name: str) -> bool:
    return name.startswith(_NOISY)


def _found(file: str | os.PathLike) -> Path:
    path = Path(file).expanduser()
    below = Path(os.environ.get(DATA_VARIABLE, "")).expanduser() / path
    for place in (path, below):
        if place.is_file():
            return place
    raise FileNotFoundError(
        f"load_npz needs the file {str(path)!r}, looked for there and at "
        f"{str(below)!r}. Make it with numpy.savez, or set {DATA_VARIABLE} to the "
        "folder that holds it."
    )


def _read(path: Path) -> dict[str, NDArray]:
    try:
        with path.open("rb") as stream:
            content = np.load(stream, allow_pickle=False)
            if not isinstance(content, np.lib.npyio.NpzFile):
                raise ValueError("it holds one array without a name")
            return dict(content)
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(
            f"load_npz needs an .npz file of plain arrays, got {str(path)!r}: {error}. "
            "Write it with numpy.savez, and names as an array of str."
        ) from None


def _check_rows(
    path: Path, arrays: dict[str, NDArray], noisy: dict[str, NDArray]
) -> None:
    """Raise unless every ``X`` has its labels, one for each row."""
    if "X_train" not in arrays or not (noisy or "y_train" in arrays):
        raise ValueError(
            "load_npz needs the arrays X_train and y_train or y_train_<source>, got "
            f"{sorted(arrays)} in {str(path)!r}. Rename them."
        )
    pairs = [("X_train", _NOISY + source) for source in noisy]
    pairs += [("X_train", "y_train")] if "y_train" in arrays else []
    for part in ("test", "valid"):
        if f"X_{part}" in arrays or f"y_{part}" in arrays:
            pairs.append((f"X_{part}", f"y_{part}"))
    for rows, labels in pairs:
        is_whole = rows in arrays and labels in arrays
        if not is_whole or arrays[labels].shape != arrays[rows].shape[:1]:
            raise ValueError(
                f"load_npz needs one label in {labels} for each row of {rows}, got "
                f"{_shape(arrays, labels)} and {_shape(arrays, rows)} in "
                f"{str(path)!r}. Mend or leave out the array."
            )


def _shape(arrays: dict[str, NDArray], name: str) -> str:
    return f"the shape {arrays[name].shape}" if name in arrays else "no array"


def _check_labels(path: Path, arrays: dict[str, NDArray]) -> None:
    """Raise unless labels are numbers of classes, if the classes have names."""
    if "classes" not in arrays:
        return
    n_classes = len(arrays["classes"])
    for name in [name for name in arrays if name.startswith("y_")]:
        found = np.unique(arrays[name])
        if found.dtype.kind not in "iu" or not set(found) <= set(range(n_classes)):
            raise ValueError(
                f"load_npz needs {name} to hold numbers from 0 to {n_classes - 1}, as "
                f"there are {n_classes} classes, got {found[[0, -1]].tolist()} as "
                f"lowest and highest in {str(path)!r}. Number the labels by classes, "
                "or leave classes out."
            )


def _check_shapes(path: Path, arrays: dict[str, NDArray]) -> None:
    shapes = {n: a.shape[1:] for n, a in arrays.items() if n.startswith("X_")}
    if len(set(shapes.values())) > 1:
        raise ValueError(
            f"load_npz needs samples of one shape, got {shapes} in {str(path)!r}."
        )


def _channels_first(X: NDArray, channels_last: bool | None) -> NDArray:
    """Return images as (n, channels, height, width), and half floats as floats."""
    if X.dtype == np.float16:
        X = X.astype(np.float32)
    if X.ndim == 3 and X.dtype == np.uint8:
        return X[:, None]
    if X.ndim != 4:
        return X
    if channels_last is None:
        channels_last = X.shape[3] in _CHANNELS and X.shape[1] not in _CHANNELS
    return np.ascontiguousarray(X.transpose(0, 3, 1, 2)) if channels_last else X


def _chosen(path: Path, noise: str | None, noisy: dict[str, NDArray]) -> str | None:
    if noise is None:
        return next(iter(noisy)) if len(noisy) == 1 else None
    if noise not in noisy:
        raise ValueError(
            f"load_npz needs noise to be one of the sources {sorted(noisy)} in "
            f"{str(path)!r}, got {noise!r}."
        )
    return noise

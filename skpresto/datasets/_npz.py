"""Any data set in one npz file with arrays of given names."""

import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from os.path import isfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from skpresto.datasets._arrays import as_bunch, is_count
from skpresto.datasets._source import DATA_VARIABLE, as_path, in_data_folder

#: Prefix of the names of noisy labels.
_NOISY = "y_train_"

#: Size of arrays that a smaller file is decompressed to by default.
_MAX_BYTES = 2**32

#: Numbers of channels by which the channel axis is recognized.
_CHANNELS = (1, 3, 4)


def load_npz(
    file: str | os.PathLike,
    *,
    noise: str | None = None,
    normalize: bool = False,
    channels_last: bool | None = None,
    max_bytes: int | None = _MAX_BYTES,
) -> Bunch:
    """Load a data set from one ``.npz`` file with arrays of given names.

    The file contains ``X_train`` and at least one array of labels: the true labels
    ``y_train``, or any number of noisy labels ``y_train_<source>``. Optional arrays are
    ``X_test`` and ``y_test``, ``X_valid`` and ``y_valid``, both with true labels, and
    ``classes``, the names of the classes, for which labels must be class numbers. Other
    arrays are returned under their own names. Nothing in the file is unpickled.

    Parameters
    ----------
    file : path
        The file. A relative path that does not exist is searched in the folder that
        the environment variable ``SKPRESTO_DATA`` names.
    noise : str, default=None
        Source of the labels to return as ``y_noisy``: "worst" for ``y_train_worst``.
        Not needed if there is only one.
    normalize : bool, default=False
        Return ``X`` as float32, with mean 0 and standard deviation 1 of each column, or
        of each channel of images, over the training rows.
    channels_last : bool, default=None
        Whether images have the shape (n, height, width, channels). By default True if
        the length of the last axis is 1, 3 or 4 and that of the second is not.
    max_bytes : int, default=2**32
        Largest size of all arrays together that a compressed file is read to. A small
        file can contain arrays that would fill the memory. None means no limit. Files
        that are larger than this themselves are read, because nothing in them is
        compressed.

    Returns
    -------
    data : Bunch
        The arrays of the file. Images ``X_...`` have the shape (n, channels, height,
        width), with one channel if they are grayscale, and float16 is converted to
        float32. Instead of ``y_train_<source>`` there are ``noisy_labels``, a dict from
        source to labels, and ``y_noisy``, the labels of the chosen source.

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
    if max_bytes is not None and not is_count(max_bytes):
        raise ValueError(
            f"load_npz needs max_bytes to be a positive int or None, but got "
            f"{max_bytes!r}."
        )
    path = in_data_folder(as_path("load_npz", "file", file))
    if not isfile(path):
        raise FileNotFoundError(
            f"load_npz needs the file {str(path)!r}, but found it neither there nor in "
            f"the folder that {DATA_VARIABLE} names. Create it with numpy.savez, or "
            f"set {DATA_VARIABLE} to the folder that contains it."
        )
    arrays = _read(path, max_bytes)
    noisy = {n.removeprefix(_NOISY): a for n, a in arrays.items() if _is_noisy(n)}
    _check_rows(path, arrays)
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


def _read(path: Path, max_bytes: int | None) -> dict[str, NDArray]:
    """Return the arrays in a file by name, without unpickling."""
    with _reading(path), zipfile.ZipFile(path) as archive:
        n_bytes = sum(member.file_size for member in archive.infolist())
        n_on_disk = path.stat().st_size
    if max_bytes is not None and n_bytes > max(max_bytes, n_on_disk):
        raise ValueError(
            f"load_npz does not decompress {str(path)!r}: its {n_on_disk} bytes are "
            f"arrays of {n_bytes} bytes when decompressed, more than max_bytes="
            f"{max_bytes}. Pass a larger max_bytes if there is memory for it."
        )
    with _reading(path), np.load(path, allow_pickle=False) as content:
        arrays = dict(content)
        for name, array in arrays.items():
            if not isinstance(array, np.ndarray):
                raise ValueError(f"it contains {name!r}, which is not an array")
    return arrays


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Say which file an error is about."""
    try:
        yield
    except OSError as error:
        raise type(error)(
            f"load_npz cannot read {str(path)!r}: {error.strerror or error}. Check its "
            "permissions and the disk."
        ) from None
    except Exception as error:
        # A damaged file can raise any error.
        raise ValueError(
            "load_npz needs an .npz file without pickled objects, but cannot read "
            f"{str(path)!r}: {str(error).rstrip('.')}. Write it with numpy.savez, and "
            "names as an array of str."
        ) from None


def _check_rows(path: Path, arrays: dict[str, NDArray]) -> None:
    """Raise if an ``X`` does not have one label per row."""
    names = [name for name in arrays if name == "y_train" or _is_noisy(name)]
    if "X_train" not in arrays or not names:
        raise ValueError(
            "load_npz needs the arrays X_train and y_train or y_train_<source>, but "
            f"got {sorted(arrays)} in {str(path)!r}. Rename the arrays."
        )
    pairs = [("X_train", name) for name in names]
    for pair in (("X_test", "y_test"), ("X_valid", "y_valid")):
        pairs += [pair] if set(pair) & set(arrays) else []
    for rows, labels in pairs:
        is_complete = rows in arrays and labels in arrays and arrays[rows].ndim > 1
        if not is_complete or arrays[labels].shape != arrays[rows].shape[:1]:
            raise ValueError(
                f"load_npz needs one label in {labels} for each row of {rows}, but got "
                f"{_shape(arrays, labels)} and {_shape(arrays, rows)} in "
                f"{str(path)!r}. Correct or remove these arrays."
            )


def _shape(arrays: dict[str, NDArray], name: str) -> str:
    return f"the shape {arrays[name].shape}" if name in arrays else "no array"


def _check_labels(path: Path, arrays: dict[str, NDArray]) -> None:
    """Raise if ``classes`` is there and labels are not class numbers."""
    if "classes" not in arrays:
        return
    if arrays["classes"].ndim != 1:
        raise ValueError(
            "load_npz needs classes to be a 1-D array of names, but got an array of "
            f"shape {arrays['classes'].shape} in {str(path)!r}."
        )
    n_classes = len(arrays["classes"])
    for name in [name for name in arrays if name.startswith("y_")]:
        found = np.unique(arrays[name])
        if not len(found):
            continue
        if found.dtype.kind not in "iu" or not set(found) <= set(range(n_classes)):
            raise ValueError(
                f"load_npz needs integers from 0 to {n_classes - 1} in {name}, because "
                f"there are {n_classes} classes, but got {found[[0, -1]].tolist()} as "
                f"lowest and highest in {str(path)!r}. Convert the labels to positions "
                "in classes, or remove the array classes."
            )


def _check_shapes(path: Path, arrays: dict[str, NDArray]) -> None:
    shapes = {n: a.shape[1:] for n, a in arrays.items() if n.startswith("X_")}
    if len(set(shapes.values())) > 1:
        raise ValueError(
            f"load_npz needs samples of the same shape in all arrays, but got {shapes} "
            f"in {str(path)!r}. Resize them, or remove an array."
        )


def _channels_first(X: NDArray, channels_last: bool | None) -> NDArray:
    """Return images as (n, channels, height, width), and float16 as float32."""
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
    if not isinstance(noise, str) or noise not in noisy:
        raise ValueError(
            f"load_npz needs noise to be one of the sources {sorted(noisy)} in "
            f"{str(path)!r}, but got {noise!r}."
        )
    return noise

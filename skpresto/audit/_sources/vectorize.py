"""Mixed columns as numbers that a network can be trained on."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skpresto.audit._fit import standardized

#: Dimensions of a column of texts that the user named, and at most of other strings.
N_TEXT_DIMENSIONS = 200
N_STRING_DIMENSIONS = 30
#: Rows per dimension of a string: with fewer, networks learn the rows by heart.
_ROWS_PER_DIMENSION = 100

#: Standard deviations at which values are cut off: outliers disturb training.
_MAX_DEVIATION = 5.0


def vectorize(frame: pd.DataFrame, text: str | None, seed: int) -> NDArray[np.float32]:
    """Return the columns of a table as numbers.

    Categories, dates and strings are encoded by skrub's TableVectorizer, and missing
    numbers replaced by the median. The columns that are made of one column of the table
    have a total variance of 1, so that the dimensions of a free text together count
    as much as one number. A text column that the user named counts as much as all
    others.

    Parameters
    ----------
    frame : DataFrame
        The columns.
    text : str or None
        A column of texts.
    seed : int
        Seed of the text encoders.
    """
    others = frame.drop(columns=[text]) if text else frame
    blocks = _encoded_columns(others, seed) if len(others.columns) else []
    if text:
        # Components of texts keep their relative variances.
        encoded = _encoded_text(frame[text], seed)
        scale = np.sqrt(encoded.var(axis=0).sum() / max(len(blocks), 1))
        blocks.append((encoded - encoded.mean(axis=0)) / (scale or 1.0))
    return np.concatenate(blocks, axis=1).astype(np.float32)


def _encoded_columns(frame: pd.DataFrame, seed: int) -> list[NDArray[np.float32]]:
    """Return the encoded columns, one array per column of the table."""
    from skrub import StringEncoder, TableVectorizer

    n_dimensions = int(
        np.clip(len(frame) // _ROWS_PER_DIMENSION, 2, N_STRING_DIMENSIONS)
    )
    strings = StringEncoder(n_components=n_dimensions, random_state=seed)
    vectorizer = TableVectorizer(high_cardinality=strings)
    encoded = vectorizer.fit_transform(frame)
    made_of = pd.Series(vectorizer.output_to_input_)
    return [
        _block(encoded[names.index].to_numpy(dtype=np.float32))
        for _, names in made_of.groupby(made_of, sort=False)
    ]


def _encoded_text(texts: pd.Series, seed: int) -> NDArray[np.float32]:
    """Return the main components of the words and word pairs of each text."""
    from skrub import StringEncoder

    encoder = StringEncoder(
        n_components=N_TEXT_DIMENSIONS,
        ngram_range=(1, 2),
        analyzer="word",
        random_state=seed,
    )
    known = texts.astype(object).where(texts.notna(), "")
    encoded = encoder.fit_transform(known.astype(str))
    return encoded.to_numpy(dtype=np.float32)


def _block(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return columns without missing values, with a total variance of 1."""
    is_missing = ~np.isfinite(values)
    if is_missing.any():
        known = np.where(is_missing, np.nan, values)
        known[:, is_missing.all(axis=0)] = 0.0
        values = np.where(is_missing, np.nanmedian(known, axis=0), values)
        has_missing = is_missing.any(axis=1, keepdims=True).astype(np.float32)
        values = np.concatenate([values, has_missing], axis=1)
    scaled = np.clip(standardized(values), -_MAX_DEVIATION, _MAX_DEVIATION)
    n_varying = max(int((scaled.std(axis=0) > 0).sum()), 1)
    return scaled / np.float32(np.sqrt(n_varying))

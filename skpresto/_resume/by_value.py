"""Any value as texts by place, the same in every process."""

from typing import Any

from skpresto._resume import describe_code, describe_torch, describe_values
from skpresto._resume.description import Description, describe

#: Where kinds of values are registered.
KINDS = describe_code, describe_torch, describe_values


def described(value: Any, place: str, reads_files: bool = False) -> Description:
    """Return the description of a value.

    Parameters
    ----------
    value : object
        Anything.
    place : str
        What it is called.
    reads_files : bool, default=False
        Whether paths of files also stand for what is in the files.

    Examples
    --------
    >>> import numpy as np
    >>> described({"rate": np.float64(0.1), "size": (3, 3)}, "it").texts
    {'it': "dict of 'rate', 'size'", "it['rate']": '0.1', "it['size']": 'tuple of 2', \
"it['size'][0]": '3', "it['size'][1]": '3'}
    """
    found = Description(reads_files)
    try:
        describe(value, place, found)
    except RecursionError:
        found.put_unknown(place, value)
    return found

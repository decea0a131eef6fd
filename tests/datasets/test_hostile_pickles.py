"""Pickles that are programs: each line of the table is one that must not run."""

import pickle
import struct

import numpy as np
import pytest

from skpresto.datasets import load_cifar10
from skpresto.datasets._pickles import read_pickle, read_pickled_npy
from skpresto.datasets._source import Source

SOURCE = Source("load_it", "It", "https://example.org")
OBJECT_DTYPE = b"cnumpy\ndtype\n(\x8c\x02O8K\x00K\x01tR"
U1 = b"cnumpy\ndtype\n(\x8c\x02u1K\x00K\x01tR"
NEW_ARRAY = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(K\x00tC\x01btR"


def pickled_array(shape, dtype, data):
    """Return the instructions for an array with any state."""
    lengths = b"".join(b"J" + struct.pack("<i", length) for length in shape)
    return NEW_ARRAY + b"(K\x01(" + lengths + b"t" + dtype + b"\x89" + data + b"tb"


HOSTILE = {
    "an array of objects at addresses of the file's choice": (
        b"cnumpy\nndarray\n(K\x01\x85" + OBJECT_DTYPE + b"C\x08AAAAAAAAtR",
        "a call of numpy.ndarray",
    ),
    "object dtype with raw bytes": (
        pickled_array((1,), OBJECT_DTYPE, b"C\x08AAAAAAAA"),
        "an array of dtype 'O8'",
    ),
    "object dtype with a list shorter than the shape": (
        pickled_array((2,), OBJECT_DTYPE, b"](}e"),
        "an array of objects",
    ),
    "object dtype with what may be nested without end": (
        pickled_array((), OBJECT_DTYPE, b"](]e"),
        "an array of objects",
    ),
    "a dtype that loses its flags": (
        pickled_array(
            (1,),
            OBJECT_DTYPE
            + b"(K\x03\x8c\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb",
            b"C\x08AAAAAAAA",
        ),
        "an array of dtype 'O8'",
    ),
    "a dtype of another kind": (
        pickled_array((1,), b"cnumpy\ndtype\n(\x8c\x04V1e9K\x00K\x01tR", b"C\x01A"),
        "an array of dtype 'V1e9'",
    ),
    "a single object at an address": (
        b"cnumpy.core.multiarray\nscalar\n(" + OBJECT_DTYPE + b"C\x08AAAAAAAAtR",
        "an array of dtype 'O8'",
    ),
    "an array over the memory of another": (
        b"cnumpy.core.numeric\n_frombuffer\n("
        + pickled_array((1,), U1, b"C\x01A")
        + U1
        + b"(K\x01t\x8c\x01CtR",
        "an array without bytes",
    ),
    "a dtype that is none": (
        pickled_array((4,), b"K\x07", b"C\x04ABCD"),
        "an array without bytes",
    ),
    "attributes of what it was given": (
        b"c_codecs\nencode\n(}}\x8c\x05_callK\x09stb",
        "a change of a function",
    ),
    "deep tuples as key": (
        b"}(" + b"K\x01" + b"\x85" * 300_000 + b"K\x01u",
        "more than 1000 tuples",
    ),
    "another encoding": (
        b"c_codecs\nencode\n(X\x01\x00\x00\x00a\x8c\x05rot13tR",
        "text encoded as 'rot13'",
    ),
    "instances": (b"(cos\nsystem\no", r"a call of os\.system"),
    "new objects": (b"cos\nPathLike\n)\x81", r"a call of os\.PathLike"),
    "names in a name": (
        b"\x8c\x05numpy\x8c\x0dndarray.dumps\x93",
        r"a call of numpy\.ndarray\.dumps",
    ),
    "a system call": (b"cos\nsystem\n(X\x02\x00\x00\x00lstR", r"a call of os\.system"),
    "an attribute of numpy": (b"cnumpy\nload\n", r"a call of numpy\.load"),
}


@pytest.mark.parametrize(("program", "message"), HOSTILE.values(), ids=HOSTILE)
def test_a_pickle_that_does_more_than_hold_arrays_is_refused(
    tmp_path, program, message
):
    path = tmp_path / "file"
    path.write_bytes(b"\x80\x04" + program + b".")
    with pytest.raises(
        ValueError, match=rf"load_it cannot use .*it contains .*({message})"
    ):
        read_pickle(SOURCE, path)


@pytest.mark.parametrize(
    "program",
    [
        pickled_array((2**30, 4), U1, b"C\x04ABCD"),
        pickled_array((-1, -4), U1, b"C\x04ABCD"),
        pickled_array((2**31 - 1,) * 4, U1, b"C\x00"),
        pickled_array((1,), b"cnumpy\ndtype\n((K\x01ttR", b"C\x01A"),
        b"cnumpy\nndarray\n(K\x01\x85}\x92",
        b"\x82\x01",
        b"B\xff\xff\xff\x7fabc",
    ],
)
def test_a_pickle_that_does_not_fit_together_is_named(tmp_path, program):
    path = tmp_path / "file"
    path.write_bytes(b"\x80\x04" + program + b".")
    with pytest.raises(ValueError, match=r"load_it cannot use .*Error \(.*Download"):
        read_pickle(SOURCE, path)


@pytest.mark.parametrize("dtype", ["?", "<i2", ">u4", "<f8", "f2"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_all_numbers_survive(tmp_path, dtype, order):
    array = np.arange(12).reshape(3, 4).astype(dtype, order=order)
    for protocol in (2, 4, 5):
        path = tmp_path / "file"
        path.write_bytes(pickle.dumps(array, protocol=protocol))
        read = read_pickle(SOURCE, path)
        np.testing.assert_array_equal(read, array)
        assert read.dtype.kind == array.dtype.kind
        assert read.flags.writeable


def test_an_address_in_a_cifar_file_is_never_followed(cifar10):
    program, _ = next(iter(HOSTILE.values()))
    path = cifar10 / "cifar-10-batches-py" / "data_batch_1"
    path.write_bytes(b"\x80\x04" + program + b".")
    with pytest.raises(ValueError, match=r"load_cifar10 .*a call of numpy\.ndarray"):
        load_cifar10(cifar10, check_counts=False)


def test_an_object_array_of_several_objects_is_refused(tmp_path):
    path = tmp_path / "file.npy"
    np.save(path, np.array([{}, 1], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="contains an array of objects"):
        read_pickled_npy(SOURCE, path)

"""Pickles that are programs: each line of the table is one that must not run."""

import pickle
import struct
import tracemalloc

import numpy as np
import pytest
import torch

from skpresto.datasets import load_cifar10
from skpresto.datasets._pickles import read_pickle, read_pickled_npy, read_torch
from skpresto.datasets._source import Source

SOURCE = Source("load_it", "It", "https://example.org")
OBJECT_DTYPE = b"cnumpy\ndtype\n(\x8c\x02O8K\x00K\x01tR"
U1 = b"cnumpy\ndtype\n(\x8c\x02u1K\x00K\x01tR"
NEW_ARRAY = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(K\x00tC\x01btR"


def pickled_array(shape, dtype, data):
    """Return the instructions for an array with any state."""
    lengths = b"".join(b"J" + struct.pack("<i", length) for length in shape)
    return NEW_ARRAY + b"(K\x01(" + lengths + b"t" + dtype + b"\x89" + data + b"tb"


def repeated(n):
    """Return a list of two lists of two lists ..., which is short and huge."""
    return b"]q\x00(K\x01K\x02e" + b"".join(
        b"]q" + bytes([i]) + b"(h" + bytes([i - 1]) * 1 + b"h" + bytes([i - 1]) + b"e"
        for i in range(1, n)
    )


HOSTILE = {
    "an array of objects at addresses of the file's choice": (
        b"cnumpy\nndarray\n(K\x01\x85" + OBJECT_DTYPE + b"C\x08AAAAAAAAtR",
        "a call of numpy.ndarray",
    ),
    "object dtype with raw bytes": (
        pickled_array((1,), OBJECT_DTYPE, b"C\x08AAAAAAAA"),
        "an array of objects",
    ),
    "object dtype with a list": (
        pickled_array((2,), OBJECT_DTYPE, b"](K\x01K\x02e"),
        "an array of objects",
    ),
    "a dtype that loses its flags": (
        pickled_array(
            (1,),
            OBJECT_DTYPE
            + b"(K\x03\x8c\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb",
            b"C\x08AAAAAAAA",
        ),
        "an array of objects",
    ),
    "a dtype with fields": (
        pickled_array((1,), U1 + b"(K\x03\x8c\x01|NK\x01NK\x01K\x01K\x00tb", b"C\x01A"),
        "an array with named fields",
    ),
    "a dtype of another kind": (
        pickled_array((1,), b"cnumpy\ndtype\n(\x8c\x04V1e9K\x00K\x01tR", b"C\x01A"),
        "an array of dtype 'V1e9'",
    ),
    "fewer bytes than the shape": (
        pickled_array((2**30, 4), U1, b"C\x04ABCD"),
        r"an array of shape \(1073741824, 4\) in 4 bytes",
    ),
    "a negative shape": (
        pickled_array((-1, -4), U1, b"C\x04ABCD"),
        r"an array of shape \(-1, -4\)",
    ),
    "a dtype that is none": (
        pickled_array((4,), b"K\x07", b"C\x04ABCD"),
        "an array without bytes",
    ),
    "an array without state": (NEW_ARRAY, "an array without content"),
    "an array of another class": (
        b"cnumpy.core.multiarray\n_reconstruct\n(K\x01(K\x00tC\x01btR",
        "an array of another class than numpy.ndarray",
    ),
    "attributes of what it was given": (
        b"c_codecs\nencode\n(}}\x8c\x06n_leftK\x09stb",
        "a change of Latin1Encoder",
    ),
    "a type as a value": (b"cnumpy\nndarray\n", "ArrayType as a value"),
    "the same text encoded many times": (
        b"c_codecs\nencode\nq\x00(X\x40\x00\x00\x00"
        + b"a" * 64
        + b"\x8c\x06latin1tq\x01"
        + b"h\x00h\x01R0".replace(b"0", b"q\x02") * 30,
        "text encoded more than once",
    ),
    "lists of the same lists": (repeated(20), "the same objects in many places"),
    "the same array many times": (
        b"]" + pickled_array((60,), U1, b"C<" + b"a" * 60) + b"q\x00a" + b"h\x00a" * 20,
        "the same objects in many places",
    ),
    "a list in itself": (b"]q\x00h\x00a", "nested more than 20 times|many places"),
    "deep lists": (b"]" * 50 + b"a" * 49, "nested more than 20 times"),
    "deep tuples as key": (
        b"}(" + b"K\x01" + b"\x85" * 300_000 + b"K\x01u",
        "more than 1000 tuples",
    ),
    "a tuple as key": (b"}(K\x01\x85K\x01u", "a tuple as key of a dict"),
    "memory for a billion numbered objects": (
        b"K\x01r\xff\xff\xff\x3f",
        "the object number 1073741823",
    ),
    "sets": (b"\x8f", "the instruction EMPTY_SET"),
    "instances": (b"(cos\nsystem\no", "the instruction OBJ"),
    "new objects": (b"cos\nPathLike\n)\x81", "the instruction NEWOBJ"),
    "a registered extension": (b"\x82\x01", "the instruction EXT1"),
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
    "program", [b"B\xff\xff\xff\x7fabc", b"\x8e" + b"\xff" * 7 + b"\x00abc"]
)
def test_no_memory_is_reserved_for_bytes_that_are_not_there(tmp_path, program):
    path = tmp_path / "file"
    path.write_bytes(b"\x80\x04" + program)
    tracemalloc.start()
    with pytest.raises(ValueError, match="cannot use .*expected .* bytes"):
        read_pickle(SOURCE, path)
    assert tracemalloc.get_traced_memory()[1] < 2**24
    tracemalloc.stop()


@pytest.mark.parametrize("dtype", ["?", "<i2", ">u4", "<f8", "f2"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_all_numbers_survive(tmp_path, dtype, order):
    array = np.arange(12).reshape(3, 4).astype(dtype, order=order)
    for protocol in (2, 4, 5):
        path = tmp_path / "file"
        path.write_bytes(pickle.dumps(array, protocol=protocol))
        read = read_pickle(SOURCE, path)
        np.testing.assert_array_equal(read, array)
        assert read.dtype == array.dtype
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


def test_a_torch_file_that_is_huge_when_decompressed_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "file.pt"
    torch.save({"x": torch.zeros(100)}, path)
    monkeypatch.setattr("skpresto.datasets._pickles._MAX_TORCH_BYTES", 100)
    with pytest.raises(ValueError, match=r"cannot use .*bytes when decompressed"):
        read_torch(SOURCE, path)

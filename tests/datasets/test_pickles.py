import os
import pickle

import numpy as np
import pytest
import torch

from skpresto.datasets._pickles import read_pickle, read_pickled_npy, read_torch
from skpresto.datasets._source import Source

SOURCE = Source("load_it", "It", "https://example.org")


class Evil:
    """Runs a command when it is unpickled without restrictions."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


CONTENT = {
    "numbers": np.arange(3),
    "bytes": np.array([[1, 2]], dtype=np.uint8, order="F"),
    "names": [b"a", "b", 1, 2.5, None, True],
    "scalar": np.float32(0.5),
}


def assert_same(content):
    assert content.keys() == CONTENT.keys()
    for key in ("numbers", "bytes", "scalar"):
        np.testing.assert_array_equal(content[key], CONTENT[key])
    assert content["names"] == CONTENT["names"]


@pytest.mark.parametrize("module", [b"numpy._core.", b"numpy.core."])
@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_arrays_and_containers_are_read(tmp_path, protocol, module):
    path = tmp_path / "file"
    content = pickle.dumps(CONTENT, protocol=protocol)
    if protocol < 4:  # later ones store the lengths of names
        content = content.replace(b"numpy._core.", module)
    path.write_bytes(content)
    assert_same(read_pickle(SOURCE, path))


@pytest.mark.parametrize("reader", [read_pickle, read_pickled_npy])
def test_no_code_is_executed(tmp_path, reader):
    path, trace = tmp_path / "file.npy", tmp_path / "trace"
    if reader is read_pickle:
        path.write_bytes(pickle.dumps(Evil(trace)))
    else:
        np.save(path, np.array({"x": Evil(trace)}, dtype=object), allow_pickle=True)
    with pytest.raises(
        ValueError,
        match=r"contains a call of \w+\.mkdir.*nothing was executed.*example.org",
    ):
        reader(SOURCE, path)
    assert not trace.exists()


def test_no_code_of_torch_files_is_executed(tmp_path):
    path, trace = tmp_path / "file.pt", tmp_path / "trace"
    torch.save({"x": Evil(trace)}, path)
    with pytest.raises(ValueError, match="UnpicklingError"):
        read_torch(SOURCE, path)
    assert not trace.exists()


@pytest.mark.parametrize("content", [b"", b"\x80\x02}q", b"not a pickle"])
def test_a_damaged_pickle_is_named(tmp_path, content):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"load_it cannot use .*file.*Error"):
        read_pickle(SOURCE, path)


@pytest.mark.parametrize("is_zip", [True, False])
def test_torch_files_of_arrays_are_read_without_torch(tmp_path, monkeypatch, is_zip):
    path = tmp_path / "file.pt"
    torch.save(CONTENT, path, _use_new_zipfile_serialization=is_zip)
    monkeypatch.setattr("importlib.import_module", None)
    assert_same(read_torch(SOURCE, path))


@pytest.mark.parametrize("is_zip", [True, False])
def test_torch_files_of_tensors_are_read_with_torch(tmp_path, is_zip):
    path = tmp_path / "file.pt"
    content = {"x": torch.arange(3)}
    torch.save(content, path, _use_new_zipfile_serialization=is_zip)
    assert np.asarray(read_torch(SOURCE, path)["x"]).tolist() == [0, 1, 2]


@pytest.mark.parametrize("content", [b"", b"text", pickle.dumps(3, protocol=2)])
def test_a_damaged_torch_file_is_named(tmp_path, content):
    path = tmp_path / "file.pt"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"load_it cannot use .*file\.pt.*Error"):
        read_torch(SOURCE, path)


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_a_single_object_in_an_npy_file_is_read(tmp_path, version):
    path = tmp_path / "file.npy"
    with path.open("wb") as stream:
        np.lib.format.write_array(stream, np.array(CONTENT, dtype=object), version)
    assert_same(read_pickled_npy(SOURCE, path))


def test_an_npy_file_with_other_content_is_refused(tmp_path):
    path = tmp_path / "file.npy"
    np.save(path, np.arange(3))
    with pytest.raises(
        ValueError, match="expected a dict, got an array of dtype int64"
    ):
        read_pickled_npy(SOURCE, path)
    path.write_bytes(b"something else")
    with pytest.raises(ValueError, match=r"not an \.npy file"):
        read_pickled_npy(SOURCE, path)

"""Compile the pretend device for the installed torch, once."""

import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

_SOURCES = (
    Path(__file__).with_name("operators.cpp"),
    Path(__file__).with_name("memory.h"),
)


def reason_not_to_build():
    """Return why the device cannot be compiled here, None if it can."""
    if sys.platform != "linux":
        return "the pretend device is built on Linux only"
    if shutil.which(_compiler()) is None:
        return f"there is no C++ compiler {_compiler()!r} to build the pretend device"
    if not Path(sysconfig.get_paths()["include"], "Python.h").exists():
        return "Python.h is not installed, which the pretend device is built with"
    return None


def library():
    """Return the compiled library; about ten seconds the first time."""
    # Not imported, since the library has to be loaded before.
    torch = Path(importlib.util.find_spec("torch").submodule_search_locations[0])
    key = hashlib.blake2b(digest_size=8)
    key.update(f"{torch} {sys.version}".encode() + (torch / "version.py").read_bytes())
    for source in _SOURCES:
        key.update(source.read_bytes())
    built = _folder() / f"pretend-{key.hexdigest()}.so"
    with open(built.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the others wait for the first process
        if not built.exists():
            part = built.with_suffix(".part")
            subprocess.run(_command(torch, part), check=True)
            part.replace(built)
    return built


def _compiler():
    return os.environ.get("CXX", "g++")


def _command(torch, target):
    included = [torch / "include", torch / "include/torch/csrc/api/include"]
    included.append(Path(sysconfig.get_paths()["include"]))
    flags = ["-std=c++20", "-O0", "-fPIC", "-shared", "-w", "-ltorch_cpu", "-lc10"]
    return [
        _compiler(),
        *map("-I{}".format, included),
        str(_SOURCES[0]),
        "-o",
        str(target),
        f"-L{torch / 'lib'}",
        f"-Wl,-rpath,{torch / 'lib'}",
        *flags,
    ]


def _folder():
    """Return a folder for libraries that no other user can write to."""
    folder = Path(tempfile.gettempdir(), f"skpresto-pretend-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if status.st_uid != os.getuid() or status.st_mode & 0o022:
        raise RuntimeError(f"{folder} can be written to by others; remove it.")
    return folder

"""A model: the bytes of its file, and its number in the library."""

from __future__ import annotations

import contextlib
import ctypes
import os
import tempfile
import weakref
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _arguments, _jobs, _library
from ._categories import Categories
from ._errors import Error, FileError, shown
from ._tables import features


class Model:
    """A trained model. It is immutable, pickles as its file, and may be used by several threads.

    Attributes:
        file: the bytes of the model file, those that ``listwise train`` writes.
        about: what the file says of the method, the features and the training.
    """

    def __init__(self, file: bytes, about: dict[str, Any] | None = None, *, name: str = "model") -> None:
        if not isinstance(file, (bytes, bytearray, memoryview)):
            raise Error(f"file: found {shown(file)}, expected the bytes of a model file")
        self.file = bytes(file)
        self._generation = 0  # of the copy of the library that _number is of
        self._number = 0
        if about is not None:
            self._keep(about)
        else:
            self._load(name)

    def _keep(self, about: dict[str, Any]) -> None:
        self.about = about
        self._generation, self._number = _library.generation(), int(about["number"])
        weakref.finalize(self, _release, self._generation, self._number)

    def _load(self, name: str = "model") -> None:
        request = _jobs.Request()
        request.add(np.frombuffer(self.file or b"\n", np.uint8))
        with _jobs.run("load", {"name": name}, request) as answer:
            if answer.has(0):  # another system's
                self.file = answer.array(0, np.uint8).tobytes()
            self._keep(answer.fields["model"])

    @property
    def number(self) -> int:
        """The model's number in the library that this process uses."""
        if self._generation != _library.generation():
            self._load()
        return self._number

    @property
    def features(self) -> int:
        """The number of features of a document."""
        return int(self.about["features"])

    @property
    def names(self) -> list[str] | None:
        """The names of the features, None if they have none."""
        names: list[str] | None = self.about["names"]
        return names

    @property
    def categories(self) -> Categories:
        """The values of texts in a matrix, by the name of a categorical feature: codes, or the numbers
        themselves. The value is None for a feature that the model does not use."""
        categories: Categories = self.about.get("categories") or {}
        return categories

    def score_query(self, x: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
        """Scores of one query's documents, shape (n,); x has shape (n, features)."""
        if not (isinstance(x, np.ndarray) and x.dtype == np.float32 and x.ndim == 2 and x.flags.c_contiguous):
            x = features(x, "x").x
        if x.shape[1] != self.features:
            raise Error(f"x: found {x.shape[1]} features, expected {self.features}")
        scores = np.empty(len(x))
        pointer = ctypes.c_void_p()
        lib, number = _library.library(), self.number
        if lib.score(number, x.ctypes.data, len(x), x.shape[1], scores.ctypes.data, ctypes.byref(pointer)):
            raise Error(_jobs.worded(lib.text(pointer)))
        return scores

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file, whole or not at all."""
        write_file(path, self.file)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Model:
        """Read a model file of listwise or of another system (see docs/interchange.md)."""
        return cls(read_file(path), name=os.fspath(path))

    def __reduce__(self) -> tuple[Any, ...]:
        return Model, (self.file,)


def _release(generation: int, number: int) -> None:
    # A child process must not call the library that its parent loaded.
    state = _library._state
    if state.library is not None and state.process == os.getpid() and state.copies == generation:
        state.library.release(number)


def write_file(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file, whole or not at all."""
    path = _arguments.path("path", path)
    folder = os.path.dirname(path) or "."
    if os.path.isdir(path):
        raise Error(f"{path}: found a folder, expected the name of a file")
    try:
        fd, temporary = tempfile.mkstemp(prefix=".listwise-", suffix=".tmp", dir=folder)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileError(f"{path}: found no folder {folder}") from error
    except PermissionError as error:
        raise Error(f"{path}: {error.strerror}") from error
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def read_file(path: str | os.PathLike[str]) -> bytes:
    """The content of a file."""
    path = _arguments.path("path", path)
    try:
        with open(path, "rb") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileError(f"{path}: no such file") from error
    except (IsADirectoryError, PermissionError) as error:
        raise Error(f"{path}: {error.strerror}") from error

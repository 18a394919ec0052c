"""Jobs of the library. They start with a request and arrays, and Ctrl-C ends them."""

from __future__ import annotations

import ctypes
import json
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from ._errors import DataWarning, Error, FileError, InternalError, shown
from ._library import Array, Library, library

Progress = Callable[[dict[str, Any]], object]

_KINDS = {"f4": b"f", "f8": b"d", "i8": b"q", "u1": b"b"}

# How long a call waits before Python may handle a signal, and how long a cancelled job is waited
# for, in milliseconds.
_TICK = 50
_PATIENCE = 600

# Jobs that did not end soon after they were cancelled, with the arrays that they may still read.
_lingering: list[tuple[Library, int, object]] = []


class Request:
    """A request in the making: its arrays are numbered."""

    def __init__(self) -> None:
        self.arrays: list[npt.NDArray[Any]] = []

    def add(self, array: npt.NDArray[Any] | None) -> int | None:
        """The number of an array that is C-contiguous, None for None."""
        if array is None:
            return None
        assert array.flags.c_contiguous
        self.arrays.append(array)
        return len(self.arrays) - 1

    def _structures(self) -> ctypes.Array[Array]:
        all = (Array * max(1, len(self.arrays)))()
        for i, a in enumerate(self.arrays):
            all[i] = Array(a.ctypes.data, a.size, _KINDS[a.dtype.str[1:]])
        return all


class Answer:
    """The answer of a job that is done."""

    def __init__(self, lib: Library, job: int, fields: dict[str, Any]) -> None:
        self._lib, self._job, self.fields = lib, job, fields
        tell(fields.get("warnings"))

    def has(self, i: int) -> bool:
        """Whether the answer has array i."""
        return bool(self._lib.size(self._job, i) >= 0)

    def array(self, i: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """A copy of one of the answer's arrays."""
        size = self._lib.size(self._job, i)
        if size < 0:
            raise InternalError(f"found no array {i} in the answer")
        array = np.empty(size, dtype)
        self._lib.copy(self._job, i, array.ctypes.data)
        return array

    def __enter__(self) -> Answer:
        return self

    def __exit__(self, *_: object) -> None:
        self._lib.end(self._job)


def tell(sentences: Sequence[str] | None) -> None:
    """Warn about the line that called the package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "listwise":
        level, frame = level + 1, frame.f_back
    for sentence in dict.fromkeys(sentences or ()):
        warnings.warn(worded(sentence), DataWarning, stacklevel=level)


def _encoded(request: dict[str, Any]) -> bytes:
    """Encode a request as JSON. Values that JSON lacks raise Error."""
    try:
        return json.dumps(request, allow_nan=False, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        around = error.object[max(0, error.start - 20) : error.end + 20]
        raise Error(f"found {shown(around)}, expected Unicode text without lone surrogates") from None
    except (TypeError, ValueError, RecursionError) as error:
        raise Error(f"found an argument that cannot be passed on: {error}") from error


def run(op: str, fields: dict[str, Any], request: Request | None = None, progress: Progress | None = None) -> Answer:
    """Run an operation of the library. Use the answer in a with statement.

    An interrupt, and an exception of progress, ends the job and is raised."""
    request = request or Request()
    text = _encoded({"op": op, **fields})
    _reap()
    lib = library()
    arrays = request._structures()
    job = int(lib.start(text, len(text), arrays, len(request.arrays)))
    try:
        state, answer = 0, ""
        while state == 0:
            pointer = ctypes.c_void_p()
            state = lib.wait(job, _TICK, ctypes.byref(pointer))
            answer = lib.text(pointer)
            if state == 0 and answer and progress is not None:
                progress(json.loads(answer))
    except BaseException:
        _abandon(lib, job, (request, arrays))
        raise
    if state == 1:
        return Answer(lib, job, json.loads(answer))
    lib.end(job)
    _raise(json.loads(answer))


def _abandon(lib: Library, job: int, arrays: object) -> None:
    """Cancel a job and wait for its end, or keep its arrays where that takes long."""
    ended = False
    try:
        lib.cancel(job)
        ended = _ended(lib, job, _PATIENCE)
    finally:
        if ended:
            lib.end(job)
        else:
            _lingering.append((lib, job, arrays))


def _ended(lib: Library, job: int, patience: int) -> bool:
    pointer = ctypes.c_void_p()
    state = lib.wait(job, patience, ctypes.byref(pointer))
    lib.text(pointer)
    return bool(state != 0)


def _reap() -> None:
    """Forget jobs that have ended. An entry is removed first, since other threads do the same."""
    for _ in range(len(_lingering)):
        try:
            entry = _lingering.pop(0)
        except IndexError:
            return
        lib, job, _arrays = entry
        if lib is not library():
            continue  # of the process that this one was forked from
        if _ended(lib, job, 0):
            lib.end(job)
        else:
            _lingering.append(entry)


_MISSING = ' (or missing="zero", or another rule for missing values)'


def worded(message: str) -> str:
    """A message with infinite numbers, the way to turn a run round, and the rule for missing values, as Python has them."""
    message = re.sub(r", or to be told what missing values stand for| \(or an option that says what missing ones become\)", _MISSING, message)
    message = re.sub(r"\(--lower-is-better .* ranks them by ascending score\)", "(scores with the other sign turn that round)", message)
    return message.replace("+Inf", "inf").replace("-Inf", "-inf")


def _raise(failure: dict[str, str]) -> NoReturn:
    kind, message = failure["kind"], worded(failure["message"])
    if kind == "internal":
        raise InternalError(message)
    if kind == "file":
        raise FileError(message)
    if kind == "memory":
        raise MemoryError(message)
    raise Error(message)

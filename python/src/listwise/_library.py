"""The shared library: loading it, also after a fork, and its functions.

A Go program's threads do not survive a fork, so a child process cannot use the copy of the
library that its parent loaded. It loads another one, from a file of its own in memory, which the
dynamic linker takes for a different library: a fresh runtime. The library is loaded when it is
first needed, so that a child of a parent that never used it loads the file itself.
"""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
import threading
from pathlib import Path

FILE = Path(__file__).with_name("liblistwise.so")


class Array(ctypes.Structure):
    """An array in the caller's memory, as lw_array in native/main.go has it."""

    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_int64), ("kind", ctypes.c_char)]


class Library:
    """One loaded copy of the library."""

    def __init__(self, path: str) -> None:
        lib = ctypes.CDLL(path)
        out = ctypes.POINTER(ctypes.c_void_p)
        number, size, pointer = ctypes.c_uint64, ctypes.c_int64, ctypes.c_void_p
        self.start = _function(lib, "lw_start", number, ctypes.c_char_p, size, ctypes.POINTER(Array), size)
        self.wait = _function(lib, "lw_wait", ctypes.c_int, number, size, out)
        self.cancel = _function(lib, "lw_cancel", None, number)
        self.end = _function(lib, "lw_end", None, number)
        self.size = _function(lib, "lw_size", size, number, size)
        self.copy = _function(lib, "lw_copy", None, number, size, pointer)
        self.release = _function(lib, "lw_release", None, number)
        self.score = _function(lib, "lw_score", ctypes.c_int, number, pointer, size, size, pointer, out)
        self.threads = _function(lib, "lw_threads", ctypes.c_int, ctypes.c_int)
        self._free = _function(lib, "lw_free", None, pointer)

    def text(self, pointer: ctypes.c_void_p) -> str:
        """The text that the library returned, which is freed."""
        if not pointer.value:
            return ""
        try:
            return ctypes.string_at(pointer.value).decode("utf-8", "replace")
        finally:
            self._free(pointer)


def _function(lib: ctypes.CDLL, name: str, result: object, *arguments: object) -> ctypes._NamedFuncPointer:
    function = lib[name]
    function.restype = result  # type: ignore[assignment]
    function.argtypes = arguments  # type: ignore[assignment]
    return function


class _State:
    """The libraries loaded in this process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.library: Library | None = None
        self.process = 0  # that loaded it
        self.copies = 0  # loaded by this process and those that it was forked from
        self.threads = 0  # that were asked for


_state = _State()


def _after_fork() -> None:
    _state.lock = threading.Lock()  # another thread of the parent may have held it


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def library() -> Library:
    """The copy of the library that this process uses."""
    if _state.library is not None and _state.process == os.getpid():
        return _state.library
    with _state.lock:
        if _state.library is None or _state.process != os.getpid():
            _state.library = _load(_state.copies)
            _state.process = os.getpid()
            _state.copies += 1
            threads = _state.threads or _environment_threads()
            if threads:
                _state.library.threads(threads)
        return _state.library


def generation() -> int:
    """A number that differs between copies of the library; numbers of models are a copy's own."""
    library()
    return _state.copies


def _environment_threads() -> int:
    """The number of threads that LISTWISE_NUM_THREADS or OMP_NUM_THREADS asks for, 0 if none does.

    joblib sets the latter in its workers, so that together they use the machine once."""
    for name in ("LISTWISE_NUM_THREADS", "OMP_NUM_THREADS"):
        text = os.environ.get(name, "").split(",")[0].strip()
        if text.isascii() and text.isdigit() and (n := int(text[:20])) > 0:
            return min(n, _most_threads())
    return 0


def _most_threads() -> int:
    """The largest useful number of threads: four a core."""
    return 4 * (os.cpu_count() or 1)


def set_threads(n: int) -> int:
    """Set on how many cores the library runs in this process and those forked from it.

    Results do not depend on it. Returns the number before. The default is all cores, or what the
    environment variables LISTWISE_NUM_THREADS or OMP_NUM_THREADS say. The most is four a core."""
    from ._arguments import whole

    n = min(whole("threads", n, 1, 2**31 - 1), _most_threads())
    before = int(library().threads(n))
    _state.threads = n
    return before


def _load(copies: int) -> Library:
    if not FILE.exists():
        raise ImportError(f"found no {FILE}: listwise is not built for this system (see python/build.py)")
    if copies == 0:
        return Library(str(FILE))
    return _load_copy(copies)


def _load_copy(copies: int) -> Library:
    """Load a copy of the file, which the dynamic linker must not take for one that is loaded."""
    if sys.platform == "linux" and hasattr(os, "memfd_create"):
        try:
            fd = os.memfd_create("liblistwise", os.MFD_CLOEXEC)
        except OSError:
            pass
        else:
            try:
                with FILE.open("rb") as source:
                    size, done = os.fstat(source.fileno()).st_size, 0
                    while done < size:
                        done += os.sendfile(fd, source.fileno(), done, size - done)
                # The linker compares names, too: no two copies have the same.
                return Library("/proc/self/fd/" + "./" * copies + str(fd))
            except OSError:
                pass
            finally:
                os.close(fd)
    with tempfile.NamedTemporaryFile(prefix="liblistwise-", suffix=".so") as copy:
        copy.write(FILE.read_bytes())
        copy.flush()
        return Library(copy.name)

"""Exceptions and warnings. Messages are the library's own."""

from __future__ import annotations


class Error(ValueError):
    """A wrong argument, or data from which nothing can be learned or measured.

    The message says where, what was found and what was expected."""


class KindError(Error, TypeError):
    """An argument of a type that has no numbers."""


class FileError(Error, FileNotFoundError):
    """A file that is not there."""


class InternalError(RuntimeError):
    """A mistake in listwise itself; the message has what to report."""


class NotFittedError(Error, AttributeError):
    """A ranker that was neither fitted nor loaded."""


class DataWarning(UserWarning):
    """What was merged, replaced or left out, and what makes a result doubtful."""


def shown(value: object, most: int = 200) -> str:
    """The beginning of a value's repr, for messages. It does not raise."""
    try:
        text = repr(value)
    except Exception:  # such as for an int of more than 4300 digits
        text = f"a value of type {type(value).__name__}"
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= most else text[:most] + "…"

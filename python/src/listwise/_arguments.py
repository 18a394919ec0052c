"""Checks of arguments other than arrays. Errors name the argument."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from ._errors import Error, shown


def word(name: str, value: Any) -> str:
    """A text."""
    if not isinstance(value, str):
        raise Error(f"{name}: found {shown(value)}, expected a text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Error(f"{name}: found {shown(value)}, expected Unicode text without lone surrogates") from None
    return str(value)


def words(name: str, value: Any) -> list[str]:
    """A text, or a list of texts."""
    if isinstance(value, str):
        return [word(name, value)]
    return [word(name, v) for v in items(name, value)]


def items(name: str, value: Any) -> list[Any]:
    """The items of an iterable."""
    if isinstance(value, (str, bytes, dict)) or not isinstance(value, Iterable):
        raise Error(f"{name}: found {shown(value)}, expected a list of values")
    try:
        return list(value)
    except TypeError as error:  # an array without dimensions
        raise Error(f"{name}: found {shown(value)}, expected a list of values") from error


def whole(name: str, value: Any, least: int, most: int) -> int:
    """A whole number from least to most."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or not least <= value <= most:
        raise Error(f"{name}: found {shown(value)}, expected a whole number from {least} to {most}")
    return int(value)


def number(name: str, value: Any, finite: bool = True) -> float:
    """A number, finite unless told otherwise."""
    try:
        if not isinstance(value, (bool, np.bool_, str, bytes)) and (math.isfinite(found := float(value)) or not finite):
            return found
    except (TypeError, ValueError, OverflowError):
        pass
    raise Error(f"{name}: found {shown(value)}, expected a {'finite ' if finite else ''}number")


def flag(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise Error(f"{name}: found {shown(value)}, expected True or False")
    return bool(value)


def path(name: str, value: Any) -> str:
    """The path of a file."""
    if not isinstance(value, (str, os.PathLike)):
        raise Error(f"{name}: found {shown(value)}, expected the path of a file")
    found = os.fspath(value)
    if not isinstance(found, str) or not found or "\0" in found:
        raise Error(f"{name}: found {shown(found)}, expected the path of a file, a text")
    return word(name, found)

"""Arguments of Ranker, and their form in requests to the library."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _jobs
from ._arguments import whole, word
from ._errors import Error, shown

# The arguments of Ranker that are no hyperparameters of methods.
OWN = ("method", "measure", "scorer", "convention", "threshold", "normalize", "views", "transforms", "missing", "seed", "settings", "verbose")


def text_of(ranker: Any, name: str) -> str:
    """A text argument."""
    return word(name, getattr(ranker, name))


def settings_of(ranker: Any) -> dict[str, str]:
    """The hyperparameters of a ranker, as texts."""
    if not isinstance(ranker.settings, (Mapping, type(None))):
        raise Error(f"settings: found {shown(ranker.settings)}, expected a dict")
    further = dict(ranker.settings or {})
    for name in further:
        if name in ranker.hyperparameters:
            raise Error(f"settings: found {name} twice, there and among the arguments, expected it once")
    return settings({**ranker.hyperparameters, **further})


def recipe_of(ranker: Any) -> dict[str, Any]:
    """The other arguments of a ranker."""
    recipe: dict[str, Any] = {name: text_of(ranker, name) for name in ("convention", "normalize", "views", "missing")}
    for name in ("measure", "scorer"):
        recipe[name] = "" if getattr(ranker, name) is None else text_of(ranker, name)
    recipe["threshold"] = text("threshold", ranker.threshold)
    recipe["transform"] = transforms_of(ranker)
    recipe["seed"] = seed_of(ranker.seed)
    return recipe


def transforms_of(ranker: Any) -> list[str]:
    """The transforms of a ranker, as texts."""
    if not isinstance(ranker.transforms, (str, list, tuple)):
        raise Error(f"transforms: found {shown(ranker.transforms)}, expected a list of texts")
    steps = [ranker.transforms] if isinstance(ranker.transforms, str) else list(ranker.transforms)
    return [text("transforms", step) for step in steps]


def seed_of(seed: Any) -> int:
    """A checked seed."""
    return whole("seed", seed, 0, 2**64 - 1)


@functools.cache
def _hyperparameters() -> frozenset[str]:
    """The names of the hyperparameters of all methods."""
    with _jobs.run("hyperparameters", {}) as answer:
        return frozenset(answer.fields["names"])


def check_names(names: Sequence[str]) -> None:
    """Raise Error for names that no method has. The training checks them against its method, since
    scikit-learn sets method and hyperparameters in any order."""
    for name in names:
        if name in _hyperparameters():
            continue
        near = difflib.get_close_matches(name, [*OWN, *sorted(_hyperparameters())], 1)
        hint = f": did you mean {near[0]!r}?" if near else f": {', '.join(OWN)}, or one that listwise methods lists"
        raise Error(f"found the argument {name!r}, expected one of Ranker or a hyperparameter of a method{hint}")


def text(name: str, value: Any) -> str:
    """A value in the form of the command line."""
    if isinstance(value, (list, tuple)):
        return ",".join(_scalar(name, v) for v in value)
    return _scalar(name, value)


def _scalar(name: str, value: Any) -> str:
    if isinstance(value, (np.generic, np.ndarray)) and np.ndim(value) == 0:
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return word(name, value)
    if isinstance(value, float):
        return repr(value)
    try:
        if isinstance(value, int):
            return str(value)
    except ValueError:  # more than 4300 digits
        pass
    raise Error(f"{name}: found {shown(value)}, expected a number, a text, a bool or a list of such")


def settings(hyperparameters: Mapping[str, Any]) -> dict[str, str]:
    """Hyperparameters as texts; None stands for the default."""
    return {word("settings", name): text(name, value) for name, value in hyperparameters.items() if value is not None}

"""Learning to rank: train, measure, compare and explain ranking functions.

``Ranker`` follows the conventions of scikit-learn. Models are those of the command ``listwise``,
byte for byte. The documentation is docs/python.md.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._errors import DataWarning, Error, FileError, InternalError, KindError, NotFittedError
from ._evaluate import Evaluation, evaluate, scorer
from ._library import set_threads
from ._model import Model
from ._read import Documents, Qrels, Run, read, read_qrels, read_run
from ._version import __version__

if TYPE_CHECKING:
    from . import clicks
    from ._auto import AutoRanker
    from ._commands import Comparison, Report, Tuning, compare, evaluate_run, fuse, report, tune
    from ._displays import DifferencesDisplay, ImportanceDisplay, LearningCurveDisplay
    from ._ranker import Explanation, Ranker
    from ._results import Results

__all__ = [
    "AutoRanker",
    "Comparison",
    "DataWarning",
    "DifferencesDisplay",
    "Documents",
    "Error",
    "Evaluation",
    "Explanation",
    "FileError",
    "ImportanceDisplay",
    "InternalError",
    "KindError",
    "LearningCurveDisplay",
    "Model",
    "NotFittedError",
    "Qrels",
    "Ranker",
    "Report",
    "Results",
    "Run",
    "Tuning",
    "__version__",
    "clicks",
    "compare",
    "evaluate",
    "evaluate_run",
    "fuse",
    "read",
    "read_qrels",
    "read_run",
    "report",
    "scorer",
    "set_threads",
    "tune",
]

# Ranker is an estimator of scikit-learn if that is installed, whose import takes long: it, and what
# uses it, is imported when it is first asked for.
_LATER = {
    "_auto": ["AutoRanker"],
    "_displays": ["DifferencesDisplay", "ImportanceDisplay", "LearningCurveDisplay"],
    "_ranker": ["Explanation", "Ranker"],
    "_results": ["Results"],
    "_commands": ["Comparison", "Report", "Tuning", "compare", "evaluate_run", "fuse", "report", "tune"],
}


def __getattr__(name: str) -> Any:
    if name == "clicks":
        return importlib.import_module(".clicks", __name__)
    for module, names in _LATER.items():
        if name in names:
            value = getattr(importlib.import_module("." + module, __name__), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'listwise' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

"""Columns of categories, for a model that learned from a data frame with such."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ._errors import Error

# Maps the name of a categorical feature to the values of its texts: codes, or the numbers themselves.
# The value is None if the model does not use the feature.
Categories = Mapping[str, Mapping[str, float] | None]


def coded(column: Any, texts: Mapping[str, float] | None, name: str) -> npt.NDArray[np.float64]:
    """A column as the library takes it: numbers as they are, texts as what they stand for, and NaN
    where nothing stands. The library refuses numbers that are no categories."""
    if texts is None:
        return np.zeros(len(column))
    values = _values(column)
    known = {v: _number(v, texts, name) for v in set(values) if v is not None}
    return np.array([np.nan if v is None else known[v] for v in values], np.float64)


def _values(column: Any) -> list[Any]:
    """The values of a column, None where one is missing."""
    if hasattr(column, "to_pylist"):
        values = column.to_pylist()
    elif hasattr(column, "isna"):
        values = column.astype(object).where(~column.isna(), None).tolist()
    else:
        values = column.to_list()
    return [None if isinstance(v, float) and v != v else v for v in values]


def _number(value: Any, texts: Mapping[str, float], name: str) -> float:
    if isinstance(value, str):
        if value in texts:
            return texts[value]
        try:
            return float(value)
        except ValueError:
            pass
        some = ", ".join(map(repr, sorted(texts, key=lambda text: texts[text])[:6])) or "numbers"
        raise Error(f"{name}: found {value!r}, expected one of the model's categories: {some}{' …' if len(texts) > 6 else ''}")
    if isinstance(value, (bool, int, float, np.number, np.bool_)):
        return float(value)
    raise Error(f"{name}: found a value of type {type(value).__name__}, expected a category of the model")

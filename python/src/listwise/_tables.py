"""Features and columns of numpy, pandas, polars, pyarrow and scipy as arrays of numpy.

None of these but numpy is imported: what a value is, its type's module says.
"""

from __future__ import annotations

import re
import warnings
from typing import Any, Collection, NamedTuple

import numpy as np
import numpy.typing as npt

from ._categories import Categories, coded
from ._errors import DataWarning, Error, KindError, shown

QID = "qid"  # the column of query ids in a table of features

# Names of columns that number the rows, and of columns that may: package dataset/internal/table has the same.
_NUMBERS_ROWS = re.compile(r"|__index_level_\d+__|Unnamed: \d+(\.\d+)*|\.\.\.\d+", re.ASCII)
_MAY_NUMBER_ROWS = re.compile(r"level\d+|index|idx|row|rowid|rowindex|rownr|rownum|rownumber", re.ASCII)


class Features(NamedTuple):
    """A matrix of features, with the names and query ids of a table."""

    x: npt.NDArray[np.float32]  # (documents, features), C-contiguous
    names: list[str] | None  # of the features
    qid: Any  # the column of query ids, None if there is none


def library_of(value: Any) -> str:
    """The package of a value's type."""
    return type(value).__module__.partition(".")[0]


def features(
    value: Any, name: str = "X", known: Collection[str] | None = None, categories: Categories | None = None, training: bool = False
) -> Features:
    """The matrix of a table or an array: float32 and C-contiguous without a copy, else with one.

    A table's columns that number the rows are left out, with a warning. With known, the names of the
    features wanted, these decide; none are left out if it is empty. Columns may have the categories
    given by their names. For training, features whose doubles become one as float32 are warned of."""
    kind = library_of(value)
    if kind == "scipy" and hasattr(value, "toarray"):
        if getattr(value, "ndim", 2) != 2:
            raise Error(f"{name}: found a sparse array of {value.ndim} dimensions, expected 2")
        if value.dtype.kind not in "fiub":
            raise Error(f"{name}: found values of type {value.dtype}, expected numbers")
        return Features(np.ascontiguousarray(value.astype(np.float32).toarray(order="C")), None, None)
    if kind == "pandas" and hasattr(value, "columns"):
        return _table(list(value.columns), lambda j: value.iloc[:, j], len(value), name, known, categories, training)
    if kind == "polars" and hasattr(value, "columns"):
        if not hasattr(value, "get_column"):
            raise Error(f"{name}: found a {type(value).__name__} of polars, expected a DataFrame: collect() makes one")
        return _table(list(value.columns), lambda j: value[:, j], value.height, name, known, categories, training)
    if kind == "pyarrow" and hasattr(value, "column_names"):
        return _table(list(value.column_names), value.column, value.num_rows, name, known, categories, training)
    return Features(_matrix(value, name, training), None, None)


def _matrix(value: Any, name: str, training: bool) -> npt.NDArray[np.float32]:
    if value is None:
        raise Error(f"{name}: found None, expected a matrix of features, documents × features")
    try:
        with np.errstate(over="ignore"):
            array = _unmasked(value)
            if array.dtype.kind == "c":
                raise Error(f"{name}: Complex data not supported: found values of type {array.dtype}, expected numbers")
            if array.dtype.kind not in "fiubO":
                raise Error(f"{name}: found values of type {array.dtype}, expected numbers")
            if array.dtype.kind == "O":
                array = array.astype(np.float64)  # None and texts of numbers among them
            x = np.ascontiguousarray(array, np.float32)
    except Error:
        raise
    except TypeError as error:
        raise KindError(f"{name}: expected a matrix of numbers, documents × features: {error}") from error
    except (ValueError, OverflowError) as error:
        raise Error(f"{name}: expected a matrix of numbers, documents × features: {error}") from error
    if array.ndim != 2:
        hint = ". Reshape your data: x.reshape(1, -1) for one document, x.reshape(-1, 1) for one feature" if array.ndim == 1 else ""
        raise Error(f"{name}: found {array.ndim} dimensions, expected 2: documents × features{hint}")
    if training and _longer(array.dtype):
        for k in range(array.shape[1]):
            if _warn_of_collapsed(array[:, k], x[:, k], f"{name}: feature {k + 1}"):
                break  # of one feature
    return x


def _unmasked(value: Any) -> npt.NDArray[Any]:
    """An array; elements masked by numpy.ma are missing."""
    if not isinstance(value, np.ma.MaskedArray) or not np.ma.is_masked(value):
        return np.asarray(value)
    dtype = value.dtype if value.dtype.kind == "f" else np.float64
    return np.asarray(np.ma.filled(value.astype(dtype), np.nan))


def _table(
    columns: list[Any],
    column: Any,
    rows: int,
    name: str,
    known: Collection[str] | None,
    categories: Categories | None,
    training: bool,
) -> Features:
    """A table's features, copied column by column."""
    texts = [str(c) for c in columns]
    if len(set(texts)) < len(texts):
        twice = next(t for t in texts if texts.count(t) > 1)
        raise Error(f"{name}: found two columns named {twice!r}, expected different names")
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise Error(f"{name}: found the name of a column {text!r}, expected text without half of a surrogate pair") from error
    texts_of_features: list[str] | None = []
    if any(not isinstance(c, str) for c in columns):
        texts_of_features = None  # as 0, 1, … of a DataFrame of pandas without names
        if any(isinstance(c, str) for c in columns):
            raise Error(f"{name}: found names of columns that are texts and others, expected texts alone")
    qid = None
    places = []
    for j, text in enumerate(texts):
        if columns[j] == QID:
            qid = column(j)
        elif texts_of_features is None:
            places.append(j)
        elif not _left_out(text, lambda j=j: column(j), name, known):
            places.append(j)
            texts_of_features.append(text)
    x = np.empty((rows, len(places)), np.float32)
    with np.errstate(over="ignore"):
        for k, j in enumerate(places):
            what = f"{name}: column {texts[j]!r}"
            if categories and texts[j] in categories:
                x[:, k] = coded(column(j), categories[texts[j]], what)
                continue
            values = _numbers(column(j), what)
            x[:, k] = values
            if training and _longer(values.dtype):
                training = not _warn_of_collapsed(values, x[:, k], what)
    return Features(x, texts_of_features, qid)


def _left_out(text: str, column: Any, name: str, known: Collection[str] | None) -> bool:
    """Whether a column is a row number and not a feature, by its name, or by its name and values."""
    sure = _NUMBERS_ROWS.fullmatch(text)
    if not sure and not _MAY_NUMBER_ROWS.fullmatch(re.sub("[ _-]", "", text.lower())):
        return False
    if known is not None:
        return len(known) > 0 and text not in known
    if not sure:
        values = _numbers(column(), f"{name}: column {text!r}")
        values = values[~np.isnan(values)] if values.dtype.kind == "f" else values
        with np.errstate(invalid="ignore"):
            whole = (values >= 0) & (values < 1 << 28) & (values == np.floor(values))
        if len(values) < 2 or values.dtype.kind == "b" or not whole.all() or len(np.unique(values)) < len(values):
            return False
    warnings.warn(f"{name}: column {text!r} contains row numbers and is not used (another name keeps it)", DataWarning, stacklevel=5)
    return True


def _longer(dtype: np.dtype[Any]) -> bool:
    """Whether numbers of a type may have more digits than float32."""
    return dtype == np.float64 or dtype.kind in "iu" and dtype.itemsize > 2


def _warn_of_collapsed(exact: npt.NDArray[Any], rounded: npt.NDArray[Any], name: str) -> bool:
    """Warn if a tenth of the distinct values in float32 are of several doubles, by a sample of rows."""
    rows = slice(None, None, 1 + len(exact) // 16384)
    exact, rounded = exact[rows].astype(np.float64), rounded[rows]
    finite = np.isfinite(exact)
    exact, rounded = exact[finite], rounded[finite]
    if len(exact) == 0:
        return False
    order = np.argsort(exact, kind="stable")  # rounding keeps the order
    exact, rounded = exact[order], rounded[order]
    starts = np.flatnonzero(np.r_[True, rounded[1:] != rounded[:-1]])
    least, largest = exact[starts], exact[np.r_[starts[1:], len(exact)] - 1]
    several = np.flatnonzero(largest - least > 1e-12 * np.maximum(np.abs(least), np.abs(largest)))
    if len(several) == 0 or 10 * len(several) < len(starts):
        return False
    a, b = float(least[several[0]]), float(largest[several[0]])
    sentence = f"{name}: different numbers become equal, such as {a!r} and {b!r}, because float32 has about seven digits; subtract an offset"
    warnings.warn(sentence, DataWarning, stacklevel=6)
    return True


_HINT = (
    "expected numbers: a column of categories or texts is made numbers by whoever knows what they mean, "
    "such as pandas.get_dummies or sklearn.preprocessing.OneHotEncoder"
)


def _numbers(column: Any, name: str) -> npt.NDArray[Any]:
    """A column of numbers, NaN where a value is missing."""
    dtype = str(getattr(column, "dtype", getattr(column, "type", "")))
    kind = library_of(column)
    try:
        if kind == "pandas":
            if dtype == "category" or dtype.startswith(("datetime", "timedelta", "period")):
                raise Error(f"{name}: found the type {dtype}, {_HINT}")
            array = column.to_numpy()
            if array.dtype.kind == "c":
                raise Error(f"{name}: found the complex type {dtype}, expected numbers")
            if array.dtype.kind not in "fiub":
                array = column.to_numpy(dtype=np.float64, na_value=np.nan)
                if dtype in ("object", "str", "string") and any(isinstance(v, str) for v in column):
                    raise Error(f"{name}: found texts, {_HINT}")
        elif kind == "polars":
            if not (column.dtype.is_numeric() or str(column.dtype) == "Boolean"):
                raise Error(f"{name}: found the type {dtype}, {_HINT}")
            array = column.cast(type(column.dtype)).to_numpy()
        else:  # pyarrow
            if not any(dtype.startswith(t) for t in ("float", "double", "halffloat", "int", "uint", "bool", "decimal", "null")):
                raise Error(f"{name}: found the type {dtype}, {_HINT}")
            array = column.to_numpy() if hasattr(column, "chunks") else column.to_numpy(zero_copy_only=False)
        if array.dtype.kind not in "fiub":
            array = array.astype(np.float64)  # None is NaN
    except Error:
        raise
    except Exception as error:  # pandas, polars and pyarrow have exceptions of their own
        raise Error(f"{name}: found the type {dtype}, {_HINT}") from error
    return np.asarray(array)


def vector(value: Any, name: str) -> npt.NDArray[Any]:
    """One value a document, of any type, as an array of one dimension."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise Error(f"{name}: found masked values, expected one value a document")
    kind = library_of(value)
    if kind in ("polars", "pandas") and hasattr(value, "columns"):
        if len(value.columns) != 1:
            raise Error(f"{name}: found {len(value.columns)} columns, expected 1")
        value = value.iloc[:, 0] if kind == "pandas" else value[:, 0]
    try:
        if kind == "pyarrow" and not hasattr(value, "chunks"):
            array = value.to_numpy(zero_copy_only=False)
        elif hasattr(value, "to_numpy"):
            array = value.to_numpy()
        else:
            array = np.asarray(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise Error(f"{name}: found {shown(value)}, expected one value a document: {error}") from error
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise Error(f"{name}: found {array.ndim} dimensions, expected 1: one value a document")
    return np.asarray(array)


def numbers(value: Any, name: str, documents: int | None = None) -> npt.NDArray[np.float64]:
    """One number a document, shape (n,), C-contiguous."""
    if value is None:
        if not name.endswith("y"):
            raise Error(f"{name}: found None, expected one number a document")
        raise Error(f"{name}: requires y to be passed, but the target y is None: expected one number a document")
    array = vector(value, name)
    if array.dtype.kind not in "fiubO":
        raise Error(f"{name}: found values of type {array.dtype}, expected numbers")
    try:
        with np.errstate(over="ignore"):
            array = np.ascontiguousarray(array, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise Error(f"{name}: expected numbers: {error}") from error
    if documents is not None and len(array) != documents:
        raise Error(f"{name}: found {len(array)} values, expected {documents}: one a document")
    return array


def frame(columns: dict[str, list[Any]]) -> Any:
    """A DataFrame of pandas, or a list of dicts if that is not installed."""
    try:
        import pandas
    except ImportError:
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return pandas.DataFrame(columns)

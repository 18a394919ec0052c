"""The queries of documents, by qid, an id per document, or by group, the sizes of queries."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ._arguments import word
from ._errors import Error, shown
from ._tables import vector


class Queries(NamedTuple):
    """Runs of successive documents of one query. A query may have several."""

    ids: list[str]  # of the runs' queries
    counts: npt.NDArray[np.int64]  # of the runs' documents

    def numbers(self) -> npt.NDArray[np.intp]:
        """The number of each document's query, in the order in which they first appear."""
        known: dict[str, int] = {}
        of = [known.setdefault(i, len(known)) for i in self.ids]
        return np.repeat(np.asarray(of, np.intp), self.counts)


def queries(qid: Any, group: Any, documents: int, name: str = "") -> Queries | None:
    """The queries of a number of documents, None if neither qid nor group is given."""
    if qid is not None and group is not None:
        raise Error(f"{name}qid and group: found both, expected one of them")
    if qid is not None:
        return _by_ids(qid, documents, f"{name}qid")
    if group is not None:
        return _by_sizes(group, documents, f"{name}group")
    return None


def one_query(documents: int) -> Queries:
    """One query with all documents."""
    return Queries(["1"], np.asarray([documents], np.int64))


def _by_sizes(group: Any, documents: int, name: str) -> Queries:
    sizes = vector(group, name)
    if sizes.dtype.kind not in "iu":
        raise Error(f"{name}: found values of type {sizes.dtype}, expected whole numbers: how many successive documents each query has")
    if len(sizes) and sizes.min() < 1:
        raise Error(f"{name}: found a query of {sizes.min()} documents, expected 1 or more")
    if len(sizes) and sizes.max() > documents:  # checked first, as the sum may overflow
        raise Error(f"{name}: found a query of {sizes.max()} documents, expected {documents} together")
    if sizes.sum() != documents:
        raise Error(f"{name}: found queries of {sizes.sum()} documents together, expected {documents}")
    return Queries([str(i + 1) for i in range(len(sizes))], np.ascontiguousarray(sizes, np.int64))


def _by_ids(qid: Any, documents: int, name: str) -> Queries:
    ids = vector(qid, name)
    if len(ids) != documents:
        raise Error(f"{name}: found {len(ids)} ids, expected {documents}: one a document")
    if ids.dtype.kind == "f":
        if not np.isfinite(ids).all() or (ids != np.trunc(ids)).any():
            raise Error(f"{name}: found numbers that are not whole, expected whole numbers or texts")
        exact = 2.0 ** (np.finfo(ids.dtype).nmant + 1)
        if (np.abs(ids) > exact).any():  # different ids may be the same number
            raise Error(f"{name}: found a number above {exact:.0f} of type {ids.dtype}, which does not tell such apart, expected whole numbers of an integer type, or texts")
        ids = ids.astype(np.int64)
    if ids.dtype.kind == "O":
        wrong = next((i for i, v in enumerate(ids) if not isinstance(v, (str, int, np.integer))), None)
        if wrong is not None:
            raise Error(f"{name}: found {shown(ids[wrong])} for document {wrong + 1}, expected a whole number or a text")
        try:
            ids = np.asarray([str(v) for v in ids], object)
        except ValueError as error:  # more than 4300 digits
            raise Error(f"{name}: {error}") from error
    elif ids.dtype.kind not in "iuUST" or ids.dtype.kind == "S":
        raise Error(f"{name}: found values of type {ids.dtype}, expected whole numbers or texts")
    if not len(ids):
        return Queries([], np.empty(0, np.int64))
    starts = np.flatnonzero(np.concatenate(([True], ids[1:] != ids[:-1])))
    counts = np.diff(np.append(starts, len(ids))).astype(np.int64)
    return Queries([word(name, str(v)) for v in ids[starts].tolist()], counts)


def texts(value: Any, documents: int, name: str) -> list[str]:
    """One text a document, such as its identifier; whole numbers are written out."""
    of = _by_ids(value, documents, name)
    return [i for i, n in zip(of.ids, of.counts.tolist(), strict=True) for _ in range(n)]

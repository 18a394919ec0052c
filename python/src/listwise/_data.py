"""Judged documents in a request to the library."""

from __future__ import annotations

from typing import Any, Collection

import numpy as np
import numpy.typing as npt

from ._errors import Error
from ._jobs import Request
from ._queries import Queries, queries
from ._tables import Features, features, numbers


class Data:
    """Documents in a request."""

    def __init__(self, fields: dict[str, Any], names: list[str] | None, of: Queries, documents: int) -> None:
        self.fields, self.names, self.queries, self.documents = fields, names, of, documents

    @classmethod
    def of(cls, request: Request, given: Features, y: npt.NDArray[np.float64] | None, of: Queries, name: str) -> Data:
        n, width = given.x.shape
        fields: dict[str, Any] = {
            "name": name,
            "features": width,
            "names": given.names,
            "x": request.add(given.x),
            "y": request.add(np.zeros(n) if y is None else y),
            "ids": of.ids,
            "counts": request.add(of.counts),
        }
        return cls(fields, given.names, of, n)


def judged(request: Request, X: Any, y: Any, qid: Any, group: Any, sample_weight: Any, query_weight: Any, name: str, known: Collection[str] | None = None) -> Data:
    """Documents with grades and queries; known are the names of the features wanted, if they have names."""
    given = features(X, name, known, training=True)
    prefix = "" if name == "X" else name + ": "
    n, width = given.x.shape
    if n == 0:
        raise Error(f"{name}: found no documents (0 sample(s)), expected a minimum of 1")
    if width == 0:
        raise Error(f"{name}: found 0 feature(s) (shape=({n}, 0)) while a minimum of 1 is required.")
    grades = numbers(y, prefix + "y", n)
    of = queries(given.qid if qid is None and group is None else qid, group, n, prefix)
    if of is None:
        raise Error(f"{prefix}expected qid (a query id for each document), group (the numbers of documents of the queries), or a column qid in X")
    data = Data.of(request, given, grades, of, name)
    if sample_weight is not None:
        weights = numbers(sample_weight, prefix + "sample_weight", n)
        if not weights.any():
            raise Error(f"{prefix}sample_weight: found the weight zero of all documents, expected another of one at least")
        data.fields["weights"] = request.add(weights)
    if query_weight is not None:
        data.fields["query_weights"] = of_runs(numbers(query_weight, prefix + "query_weight", n), of, prefix)
    return data


def of_runs(weights: npt.NDArray[np.float64], of: Queries, prefix: str) -> list[float]:
    """A weight for each run of documents, which must be constant within the run."""
    starts = np.cumsum(of.counts) - of.counts
    if (np.repeat(weights[starts], of.counts) != weights).any():
        raise Error(f"{prefix}query_weight: found different weights of documents of one query, expected the same")
    if not np.isfinite(weights).all():
        raise Error(f"{prefix}query_weight: found a weight that is not finite")
    return [float(w) for w in weights[starts]]




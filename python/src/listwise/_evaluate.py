"""Measures of scores, and scorers for scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _jobs
from ._arguments import word
from ._data import Data
from ._errors import Error, shown
from ._queries import Queries, one_query, queries, texts
from ._tables import Features, numbers

USUAL = "map,ndcg@1,ndcg@5,ndcg@10"


@dataclass(frozen=True)
class Evaluation(Mapping[str, float]):
    """Values of measures; ``evaluation["ndcg@10"]`` is a mean over queries.

    Attributes:
        means: the mean of each measure; NaN if no query counts.
        tie_neutral: the expected means over random orders of documents with equal scores.
        per_query: the values of each measure by query, in the order of ``queries``; NaN for a query
            that does not count.
        queries: the ids of the queries, in the order in which they first appear.
        threshold: the lowest grade that counted as relevant.
    """

    means: dict[str, float]
    tie_neutral: dict[str, float]
    per_query: dict[str, npt.NDArray[np.float64]]
    queries: list[str]
    threshold: float

    def __getitem__(self, measure: str) -> float:
        return self.means[measure]

    def __iter__(self) -> Any:
        return iter(self.means)

    def __len__(self) -> int:
        return len(self.means)


def measure_list(measures: Any, name: str = "measures") -> str:
    """Measures as the command line has them."""
    if isinstance(measures, str):
        return word(name, measures)
    if isinstance(measures, (list, tuple)) and measures and all(isinstance(m, str) for m in measures):
        return ",".join(word(name, m) for m in measures)
    raise Error(f"{name}: found {shown(measures)}, expected names such as 'ndcg@10', or a list of them")


def evaluate(
    y: Any,
    scores: Any,
    *,
    qid: Any = None,
    group: Any = None,
    measures: str | list[str] = USUAL,
    convention: str = "standard",
    threshold: float | str = "auto",
    ties: str = "input",
    query_weight: Any = None,
    doc: Any = None,
) -> Evaluation:
    """Measure scores by grades.

    Args:
        y: grades, (documents,).
        scores: (documents,), higher is better; -inf for a document that was not retrieved.
        qid: query ids, (documents,), in any order. Without qid and group, all documents are one query.
        group: instead of qid, the number of successive documents of each query.
        measures: names, such as ``"map,ndcg@10"`` or ``["map", "ndcg@10"]``; ``listwise eval --help``.
        convention: the convention of gains, discounts and empty queries, such as ``"standard"`` or ``"trec"``.
        threshold: the lowest grade that counts as relevant, or ``"auto"``.
        ties: the order of documents with equal scores: ``"input"``, ``"average"``, ``"trec"`` …
        query_weight: weights of queries in means, (documents,).
        doc: identifiers of documents, which ``ties="trec"`` needs.
    """
    from ._data import of_runs
    from ._settings import text

    request = _jobs.Request()
    grades = numbers(y, "y")
    of = queries(qid, group, len(grades)) or one_query(len(grades))
    data = Data.of(request, _no_features(len(grades)), grades, of, "y")
    if query_weight is not None:
        data.fields["query_weights"] = of_runs(numbers(query_weight, "query_weight", len(grades)), of, "")
    if doc is not None:
        data.fields["docs"] = texts(doc, len(grades), "doc")
    fields = {
        "data": data.fields,
        "scores": request.add(numbers(scores, "scores", len(grades))),
        "measures": measure_list(measures),
        "convention": word("convention", convention),
        "threshold": text("threshold", threshold),
        "ties": word("ties", ties),
    }
    with _jobs.run("evaluate", fields, request) as answer:
        a = answer.fields
        names: list[str] = a["measures"]
        per_query = {m: answer.array(i, np.float64) for i, m in enumerate(names)}
    return Evaluation(_named(names, a["means"]), _named(names, a["tie_neutral"]), per_query, a["queries"], a["threshold"])


def _named(names: list[str], values: list[float | None]) -> dict[str, float]:
    return {m: defined(v) for m, v in zip(names, values, strict=True)}


def defined(value: float | None) -> float:
    """A measure's value from JSON, where null is undefined. Returns NaN for it."""
    return float("nan") if value is None else float(value)


def _no_features(documents: int) -> Features:
    return Features(np.empty((documents, 0), np.float32), None, None)


def scorer(measure: str = "ndcg@10", *, qid: Any = None, convention: str = "standard", threshold: float | str = "auto") -> Callable[..., float]:
    """A scorer for ``GridSearchCV`` and similar: the expected mean of a measure, with ties in random order.

    It takes query ids from a column ``qid`` of X. If X has an index (pandas), qid may be a Series with
    that index. The scorer may also be called with qid. The same data give the same value.
    """
    from ._settings import text

    text("threshold", threshold)
    return Scorer(word("measure", measure), qid, word("convention", convention), threshold)


@dataclass(frozen=True)
class Scorer:
    """What :func:`scorer` returns; it pickles."""

    measure: str
    qid: Any
    convention: str
    threshold: float | str

    def __call__(self, estimator: Any, X: Any, y: Any, qid: Any = None) -> float:
        if qid is None and self.qid is not None:
            if not hasattr(X, "index") or not hasattr(self.qid, "loc"):
                raise Error("scorer: found qid with an X that has no index, expected a DataFrame of pandas, and a Series with its index as qid")
            try:
                qid = self.qid.loc[X.index]
            except KeyError as error:
                raise Error(f"scorer: found no query of a row of X in qid: {error}") from error
        if not hasattr(estimator, "queries_of"):
            raise Error(f"scorer: found {shown(estimator)}, expected a Ranker")
        given = estimator.queries_of(X, qid)
        scores = estimator.predict(X, qid=qid)
        return mean(scores, y, given, self.measure, self.convention, self.threshold)


def mean(scores: npt.NDArray[np.float64], y: Any, of: Queries, measure: str, convention: str, threshold: float | str) -> float:
    """The expected mean of a measure over random orders of documents with equal scores."""
    qid = of.numbers()
    order = np.argsort(qid, kind="stable")  # predict has warned of scattered queries
    grades = numbers(y, "y", len(qid))
    result = evaluate(grades[order], scores[order], qid=qid[order], measures=measure, convention=convention, threshold=threshold)
    if len(result) != 1:
        raise Error(f"measure: found {shown(measure)}, expected one measure")
    return next(iter(result.tie_neutral.values()))

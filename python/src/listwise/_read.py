"""Readers of judged documents, runs and judgements, of every format of the command line."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Sequence

import numpy as np
import numpy.typing as npt

from . import _jobs
from ._arguments import path as file
from ._arguments import flag, items, number, whole, word, words
from ._errors import Error


@dataclass(frozen=True)
class Documents:
    """Judged documents.

    Attributes:
        X: features, (documents, features), float32; NaN where missing.
        y: grades, (documents,).
        qid: query ids, (documents,), texts.
        doc: identifiers of documents, (documents,), texts; None if there are none.
        feature_names: names of the features; None if they have none.
        sample_weight: weights of documents, (documents,); None if all are 1.
        query_weight: weights of queries, (documents,); None if all are 1.
    """

    X: npt.NDArray[np.float32]
    y: npt.NDArray[np.float64]
    qid: npt.NDArray[np.object_]
    doc: npt.NDArray[np.object_] | None
    feature_names: list[str] | None
    sample_weight: npt.NDArray[np.float64] | None
    query_weight: npt.NDArray[np.float64] | None

    def __len__(self) -> int:
        return len(self.y)

    def to_pandas(self) -> Any:
        """A DataFrame of pandas of the features, with a column ``qid`` first."""
        import pandas

        table = pandas.DataFrame(self.X, columns=self.feature_names or [f"f{j + 1}" for j in range(self.X.shape[1])])
        table.insert(0, "qid", self.qid)
        return table


@dataclass(frozen=True)
class Run:
    """A run: the scores that a system gives to documents.

    Attributes:
        qid, doc: ids of queries and documents, (rows,), texts.
        scores: (rows,).
    """

    qid: npt.NDArray[np.object_]
    doc: npt.NDArray[np.object_]
    scores: npt.NDArray[np.float64]


@dataclass(frozen=True)
class Qrels:
    """Judgements.

    Attributes:
        qid, doc: ids of queries and documents, (rows,), texts.
        y: grades, (rows,).
    """

    qid: npt.NDArray[np.object_]
    doc: npt.NDArray[np.object_]
    y: npt.NDArray[np.float64]


def read(
    path: str | os.PathLike[str],
    *,
    missing: str = "keep",
    absent: str = "zero",
    negative_grades: str = "error",
    format: str = "",
    query: str = "",
    grade: str = "",
    doc: str = "",
    one_hot: list[str] | None = None,
    missing_values: Sequence[float] = (),
    first_feature: int = 1,
    unsorted: bool = False,
    max_feature: int = 100_000,
) -> Documents:
    """Read a file of judged documents: LETOR text, CSV, TSV, JSON lines, Parquet or a cache (.lwd),
    also compressed; by its content.

    Args:
        path: of the file.
        missing: what nan and NULL become: ``"keep"`` (NaN), ``"error"``, ``"zero"`` or ``"min"``.
        absent: what features are that a line of LETOR text leaves out: ``"zero"`` or ``"missing"``.
        negative_grades: what grades below 0 become: ``"error"``, ``"zero"`` or ``"drop"``.
        format: of the file, if its content does not tell.
        query, grade, doc: columns of a table, if their names are not the usual ones.
        one_hot: columns of text whose values become features.
        missing_values: numbers that stand for missing values in text and tables; infinities, too.
        first_feature: index of the first feature in LETOR text: 1, or 0 as in scikit-learn's.
        unsorted: accept LETOR text whose feature indices do not ascend.
        max_feature: the largest number of features accepted.

    The documents of a query stand together in what is returned, in the order of the file's queries.
    """
    if word("absent", absent) not in ("zero", "missing"):
        raise Error(f"absent: found {absent!r}, expected 'zero' or 'missing'")
    fields = {
        "path": file("path", path),
        "missing": word("missing", missing),
        "negative": word("negative_grades", negative_grades),
        "input": word("format", format),
        "absent_missing": absent == "missing",
        "query": word("query", query),
        "grade": word("grade", grade),
        "doc": word("doc", doc),
        "one_hot": None if one_hot is None else words("one_hot", one_hot),
        "missing_values": [repr(number("missing_values", v, finite=False)) for v in items("missing_values", missing_values)],
        "from_zero": whole("first_feature", first_feature, 0, 1) == 0,
        "any_order": flag("unsorted", unsorted),
        "max_feature": whole("max_feature", max_feature, 1, 2**31 - 1),
    }
    with _jobs.run("read", fields) as answer:
        a = answer.fields
        counts = np.asarray(a["counts"], np.int64)
        y = answer.array(1, np.float64)
        return Documents(
            X=answer.array(0, np.float32).reshape(len(y), a["features"]),
            y=y,
            qid=np.repeat(np.asarray(a["ids"], object), counts),
            doc=np.asarray(a["docs"], object) if a["docs"] else None,
            feature_names=a["names"],
            sample_weight=answer.array(2, np.float64) if a["weights"] else None,
            query_weight=np.repeat(answer.array(3, np.float64), counts) if a["query_weights"] else None,
        )


def read_run(path: str | os.PathLike[str]) -> Run:
    """Read a run of TREC: lines of QUERY Q0 DOCUMENT RANK SCORE TAG."""
    with _jobs.run("read run", {"path": file("path", path)}) as answer:
        qid = np.repeat(np.asarray(answer.fields["ids"], object), answer.fields["counts"])
        return Run(qid, np.asarray(answer.fields["docs"], object), answer.array(0, np.float64))


def read_qrels(path: str | os.PathLike[str]) -> Qrels:
    """Read judgements of TREC: lines of QUERY ITERATION DOCUMENT GRADE; grades below 0 are 0."""
    d = read(path, negative_grades="zero", format="qrels")
    assert d.doc is not None
    return Qrels(d.qid, d.doc, d.y)

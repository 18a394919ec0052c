"""LETOR files, and the two measures that choose settings, in the convention letor3."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass
class Data:
    """Judged documents: a row of x and a grade each; those of a query stand together."""

    x: np.ndarray  # documents × features, float32
    grades: np.ndarray
    sizes: np.ndarray  # documents of each query, in order

    def queries(self):
        """The number of the query of each document."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)


def read(path: Path) -> Data:
    rows, grades, ids = [], [], []
    for line in path.read_text().splitlines():
        grade, qid, *cells = line.split("#", 1)[0].split()
        grades.append(float(grade))
        ids.append(qid)
        pairs = [cell.split(":") for cell in cells]
        rows.append((np.array([k for k, _ in pairs], np.int32), np.array([v for _, v in pairs], np.float32)))
    x = np.zeros((len(rows), max(keys.max(initial=0) for keys, _ in rows)), np.float32)
    for i, (keys, row) in enumerate(rows):
        x[i, keys - 1] = row
    starts = [i for i in range(len(ids)) if i == 0 or ids[i] != ids[i - 1]] + [len(ids)]
    return Data(x, np.array(grades), np.diff(starts))


def values(data: Data, scores: np.ndarray) -> dict[str, np.ndarray]:
    """Means over the queries of average precision and NDCG@10, for scores of one row a model
    and one column a document. They are expectations over the orders of documents of equal
    score; a query without relevant documents counts 0."""
    total = {"map": np.zeros(len(scores)), "ndcg@10": np.zeros(len(scores))}
    ends = np.cumsum(data.sizes)
    for start, end in zip(ends - data.sizes, ends):
        grades = data.grades[start:end]
        if grades.max() > 0:
            ap, ndcg = of_query(grades, scores[:, start:end])
            total["map"] += ap
            total["ndcg@10"] += ndcg
    return {name: sums / len(data.sizes) for name, sums in total.items()}


def of_query(grades: np.ndarray, scores: np.ndarray):
    n = len(grades)
    order = np.argsort(-scores, axis=1, kind="stable")
    ordered, graded = np.take_along_axis(scores, order, 1), grades[order]
    # Each rank's group of equal scores: its first rank, and the one after its last.
    ranks = np.broadcast_to(np.arange(n), ordered.shape)
    begins = np.ones(ordered.shape, bool)
    begins[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    first = np.maximum.accumulate(np.where(begins, ranks, 0), axis=1)
    ends = np.ones(ordered.shape, bool)
    ends[:, :-1] = begins[:, 1:]
    after = np.minimum.accumulate(np.where(ends, ranks + 1, n)[:, ::-1], axis=1)[:, ::-1]
    size = after - first

    def sums(of):
        upto = np.concatenate([np.zeros((len(of), 1)), np.cumsum(of, axis=1)], axis=1)
        return np.take_along_axis(upto, first, 1), np.take_along_axis(upto, after, 1)

    # A rank's document is any of its group; if it is relevant, so are above it those before the
    # group and, of the others in it, the share that its place leaves (McSherry and Najork 2008).
    before, upto = sums((graded > 0).astype(float))
    relevant = upto - before
    above = (ranks - first) * (relevant - 1) / np.maximum(size - 1, 1)
    ap = (relevant / size * (before + 1 + above) / (ranks + 1)).sum(axis=1) / (grades > 0).sum()

    k = min(n, 10)
    discounts = 1 / np.log2(np.maximum(np.arange(1, k + 1), 2))
    before, upto = sums(2.0**graded - 1)
    gains = (upto - before) / size
    ideal = np.sort(2.0**grades - 1)[::-1][:k] @ discounts
    return ap, gains[:, :k] @ discounts / ideal

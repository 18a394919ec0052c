"""Judged queries with the features of a web search engine: many zeros, counts with heavy tails,
correlated scores, about 120 documents per query, and grades 0 to 4, mostly 0.

A document has 136 features: 25 properties of each of five text streams, eight features that depend
on the page alone, and three that carry no information. Properties of a stream share its emptiness
and how well it matches the query.
"""

from pathlib import Path

import numpy as np

from letor import Data

STREAMS, PROPERTIES = 5, 25
SHARES = [0.6, 0.25, 0.1, 0.035, 0.015]  # of grades 0 … 4


def generate(documents: int, seed: int = 1) -> Data:
    rng = np.random.default_rng(seed)
    sizes = []
    while (left := documents - sum(sizes)) > 0:
        sizes.append(min(left, int(np.clip(rng.lognormal(np.log(110), 0.5), 5, 900))))
    queries = np.repeat(np.arange(len(sizes)), sizes)
    length = rng.integers(1, 6, len(sizes))[queries].astype(np.float32)  # words of the query
    relevance = rng.normal(size=documents) + 0.6 * rng.normal(size=len(sizes))[queries]
    popularity = rng.normal(size=documents)
    columns = [feature for stream in range(STREAMS) for feature in stream_features(rng, stream, length, relevance)]
    columns += page_features(rng, popularity)
    columns += [rng.random(documents), rng.integers(0, 3, documents), rng.normal(size=documents)]
    target = relevance + 0.5 * popularity * (relevance > 0) + 0.7 * rng.normal(size=documents)
    bounds = np.quantile(target[:100_000], np.cumsum(SHARES)[:-1])
    return Data(np.column_stack([c.astype(np.float32) for c in columns]), np.searchsorted(bounds, target).astype(float), np.array(sizes))


def stream_features(rng, stream: int, length, relevance):
    """A text stream's properties: whole counts of matches, their ratios, and scores."""
    n = len(relevance)
    empty = rng.random(n) < [0.05, 0.7, 0.3, 0.5, 0.1][stream]
    match = 0.5 * relevance + rng.normal(size=n)
    words = np.where(empty, 0, np.rint(rng.lognormal([6, 2.5, 2, 3, 1.5][stream], 1, n)))
    covered = np.where(empty, 0, rng.binomial(length.astype(int), 1 / (1 + np.exp(-1 - match))))
    yield covered
    yield covered / length
    yield words
    for k in range(PROPERTIES - 3):
        own = match + 0.5 * rng.normal(size=n)
        if k < 11:
            counts = np.rint(np.exp(own + 0.1 * k - 0.5) * np.log1p(words))
            yield np.where(covered == 0, 0, counts if k % 2 else counts / np.maximum(words, 1))
        else:
            yield np.where(covered == 0, 0, np.float32(np.maximum(own + 0.2 * k, 0)) * np.sqrt(length))


def page_features(rng, popularity):
    n = len(popularity)
    yield rng.integers(1, 12, n)  # slashes
    yield np.rint(rng.lognormal(4, 0.5, n))  # length of the address
    yield np.rint(rng.pareto(0.8, n) * np.exp(popularity))  # links in
    yield np.rint(rng.lognormal(3, 1.5, n))  # links out
    yield np.rint(np.exp(8 + 2 * popularity + rng.normal(size=n)))  # rank of the site
    yield rng.integers(0, 256, n)  # quality
    for share in [0.95, 0.97]:  # clicks, dwell time
        yield np.where(rng.random(n) < share, 0, np.rint(np.exp(2 + popularity + rng.normal(size=n))))


def write(path: Path, data: Data, letor: bool):
    """Writes LETOR text, or LibSVM text as LightGBM reads it, with sizes in a file beside it.
    Zeros are left out; the first row has all features."""
    names = [f" {k}:" for k in range(1, data.x.shape[1] + 1)]
    with open(path, "w") as f:
        for i, query in enumerate(data.queries().tolist()):
            row = data.x[i].tolist()
            cells = "".join([f"{name}{v:.7g}" for name, v in zip(names, row) if v != 0 or i == 0])
            f.write(f"{data.grades[i]:.0f}{f' qid:{query + 1}' if letor else ''}{cells}\n")
    if not letor:
        Path(f"{path}.query").write_text("".join(f"{n}\n" for n in data.sizes))

"""Makes data sets for comparing "listwise auto" and the defaults of methods with other programs.

    python tools/auto/sets.py --out DIR [--data SHARED] [--task 1] [--draw 1] [NAME…]

Each set is a folder with train.txt, test.txt and set.json. LETOR's sets have Fold1 … Fold5 instead of
the two files. The test data have other queries of the same kind. All files are LETOR text.

Collections, from the folder --data; missing collections are skipped:

    ohsumed    106 queries × 152 documents, 45 features, grades 0–2, official folds
    mq2008     784 queries × 19, 46 features, grades 0–2, official folds
    lightgbm   201 and 50 queries × 15, 300 sparse features, grades 0–4: LightGBM's example

Synthetic sets. A document has a latent relevance, and its grade is a noisy judgement of the relevance:

    shares     600 and 2,500 queries × 20, 50 features. Grades are shares of clicks in [0, 1] of 2 to 200
               impressions. Match features have the scale of their query.
    skewed     500 and 2,000 queries × 30, 40 features, grades 0–4. Log-normal features and counts over six decades.
               Relevance is nearly linear in their logarithms. 15 features are useless.
    text       400 and 2,000 queries × 25, 2,000 sparse features, grades 0–2: tf-idf of terms, pairs of
               classes of query and document, and a few match scores. Relevance is nearly linear.
    pairs      3,000 and 3,000 queries × 2, 24 features: the preferred document has grade 1, the other 0.
    web        1,000 and 1,000 queries × 100, 136 features, grades 0–4 with the shares of MSLR-WEB10K.
               Features are statistics of five fields. Relevance has thresholds and interactions.
    categories 800 and 2,000 queries × 25, 6 categorical features of 5 to 200 levels and 12 numeric ones, grades 0–4.
               Levels have separate effects for each kind of query, and change slopes of numeric features.
    missing    700 and 2,000 queries × 25, 30 features, grades 0–3. Values are missing at random, with
               the relevance, or for whole queries; a missing value is written as nan.

set.json has the categorical features and whether values are missing. For synthetic sets it also has the NDCG@10 of
the latent relevance on the test data. No ranker can exceed this value, since judgements are noisy. --draw 2 makes
other queries of the same tasks. --task 2 makes other tasks of the same kinds: it draws the parameters of the relevance
and of the features again. Data that changed a default or the code cannot confirm it; other tasks can. Needs numpy.
"""

import argparse
import gzip
import json
import subprocess
from pathlib import Path

import numpy as np


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("names", nargs="*", metavar="NAME", help="sets to make (default: all)")
    p.add_argument("--out", type=Path, required=True, help="folder for the sets")
    p.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder with ohsumed, mq2008, lightgbm-rank and make-folds")
    p.add_argument("--task", type=int, default=1, help="number of the draw of the tasks' parameters")
    p.add_argument("--draw", type=int, default=1, help="number of the draw of queries")
    return p.parse_args()


def standard(v):
    return (v - v.mean()) / v.std()


class Queries:
    """The documents of n queries: q is the query of each, and draws are made for documents or for queries."""

    def __init__(self, rng, n, docs, vary=True):
        self.rng, self.n = rng, n
        self.sizes = np.maximum(4, rng.poisson(docs, n)) if vary else np.full(n, docs)
        self.q = np.repeat(np.arange(n), self.sizes)
        self.docs = len(self.q)

    def normal(self, *more):
        return self.rng.standard_normal((self.docs, *more))

    def by_query(self, *more):
        """Normal numbers, the same for all documents of a query."""
        return self.rng.standard_normal((self.n, *more))[self.q]

    def graded(self, latent, noise, cuts, spread=0.7):
        """Grades of a noisy judgement: its quantiles in the data are the cuts, and queries differ in level."""
        judged = latent + noise * self.normal() + spread * self.by_query()
        return np.searchsorted(np.quantile(judged, cuts), judged).astype(float)


def shares(task, d):
    k = 50
    w, mix, to = task.standard_normal(8), task.standard_normal((12, k - 8)), task.integers(0, 4, k)
    z = d.normal(12)
    match = z[:, :3] @ [0.9, 0.6, 0.4]
    quality = np.tanh(z[:, 3]) + 0.5 * np.maximum(z[:, 4], 0) - 0.6 * (z[:, 5] ** 2 > 2)
    latent = match + quality + 0.5 * z[:, 3] * z[:, 0] + 0.25 * (z[:, 6] > 0.7) * w[0]
    u = np.exp(0.7 * d.by_query())
    x = np.empty((d.docs, k))
    # The first eight are match scores, whose scale and offset are those of the query.
    x[:, :8] = (z[:, [0, 0, 0, 1, 1, 2, 2, 0]] + (0.4 + 0.1 * np.abs(w)) * d.normal(8) + 2) * u[:, None] + d.by_query(8)
    x[:, 8:] = z @ (mix * (task.random(mix.shape) < 0.2)) + 0.5 * d.normal(k - 8)
    for j in range(8, k):
        if to[j] == 0:
            x[:, j] = np.exp(x[:, j])
        elif to[j] == 1:
            x[:, j] = np.round(np.maximum(x[:, j], 0) * 3)
    x[:, 20:24] = z[:, 3:7] + 0.3 * d.normal(4)
    p = 1 / (1 + np.exp(-(0.9 * latent - 4.5 + 0.8 * d.by_query() + 1.2 * d.normal())))
    shown = np.clip(np.exp(2.2 + d.normal()), 2, 200).astype(int)
    return x, np.round(d.rng.binomial(shown, p) / shown, 3), latent


def skewed(task, d):
    k = 40
    scale, spread = task.uniform(-3, 6, k), task.uniform(0.6, 2.2, k)
    weights, few = task.standard_normal(25), task.permutation(25)[:6]
    logs = 0.6 * d.normal(k) + 0.5 * d.normal(6) @ task.standard_normal((6, k)) + 0.4 * d.by_query(k)
    latent = standard(logs[:, :25] @ weights) + 0.35 * standard(np.maximum(logs[:, few], 0).sum(1)) + 0.2 * standard(logs[:, 0] * logs[:, 1])
    x = 10.0 ** (scale / 2) * np.exp(spread * 1.5 * logs)
    counts = task.random(k) < 0.4
    x[:, counts] = d.rng.poisson(np.minimum(x[:, counts], 1e9))
    return x, d.graded(latent, 0.9, [0.6, 0.8, 0.92, 0.98]), latent


def text(task, d):
    terms, classes, scores = 1500, 20, 20
    weight = task.standard_normal(terms) * (task.random(terms) < 0.3)
    popular = 1 / np.arange(1, terms + 1) ** 0.9
    idf = np.log(1 + 1 / (popular / popular.sum() * 40))
    table = task.standard_normal((classes, 24))
    topics = task.random((classes, terms)) ** 4 * popular
    topics /= topics.sum(1, keepdims=True)
    kind = d.rng.integers(0, classes, d.n)[d.q]
    other = d.rng.integers(0, 24, d.docs)
    x = np.zeros((d.docs, terms + classes * 24 + scores))
    for c in range(classes):
        rows = np.flatnonzero(kind == c)
        x[rows, :terms] = np.log1p(d.rng.multinomial(40, topics[c], len(rows))) * idf
    x[:, :terms] /= np.linalg.norm(x[:, :terms], axis=1, keepdims=True)
    x[np.arange(d.docs), terms + kind * 24 + other] = 1
    match = d.normal()
    x[:, -scores:] = np.maximum(0, match[:, None] * task.uniform(0, 1, scores) + d.normal(scores)) * (d.rng.random((d.docs, scores)) < 0.7)
    latent = 0.8 * standard(x[:, :terms] @ weight) + 0.6 * table[kind, other] + 0.7 * match
    return x, d.graded(latent, 0.9, [0.7, 0.9]), latent


def pairs(task, d):
    k = 24
    w, side = task.standard_normal(k), task.standard_normal((k, k)) * (task.random((k, k)) < 0.05)
    x = 0.8 * d.normal(k) + 0.8 * d.by_query(k)
    x[:, :6] = np.exp(x[:, :6])
    x[:, 6:10] = np.round(2 * x[:, 6:10])
    s = np.where(np.arange(k) < 6, np.log(np.maximum(x, 1e-9)), x)
    latent = 0.35 * s @ w + 0.5 * np.tanh((s @ side) * s).sum(1) - 0.7 * np.abs(s[:, 0] - 0.5) + 0.8 * (s[:, 10] > 0.5) * (s[:, 11] > 0)
    noisy = latent + d.rng.gumbel(size=d.docs) * 0.9
    first = np.repeat(noisy[0::2] > noisy[1::2], 2)
    return x, np.where(np.arange(d.docs) % 2 == 0, first, ~first).astype(float), latent


def web(task, d):
    k, fields, stats = 136, 5, 25
    z = d.normal(14)
    field = 0.7 * z[:, [0]] + 0.7 * d.normal(fields)
    load = task.uniform(0.3, 1.5, (fields, stats))
    length = np.exp(0.5 * d.normal(fields) + [4, 1, 1.5, 1.2, 5])
    rare = np.exp(0.6 * d.by_query(fields))
    words = d.rng.integers(1, 6, d.n)[d.q]
    x = np.empty((d.docs, k))
    form = task.integers(0, 4, (fields, stats))
    for f in range(fields):
        v = field[:, [f]] * load[f] + 0.8 * d.normal(stats)
        x[:, f * stats:(f + 1) * stats] = np.select(
            [form[f] == 0, form[f] == 1, form[f] == 2],
            [np.round(np.maximum(0, v + 0.5) * words[:, None]), np.maximum(0, v + 1) * rare[:, [f]], np.exp(v) * np.log(length[:, [f]] + 1)],
            np.clip(v / 4 + 0.5, 0, 1),
        )
        x[:, f * stats] = np.round(length[:, f])
    x[:, 125] = words
    x[:, 126:136] = np.stack([np.round(np.exp(1.5 * z[:, j] + 4)) if j % 2 else z[:, j] for j in range(1, 11)], axis=1)
    page, spam, click, fresh = z[:, 1], z[:, 2], z[:, 3], z[:, 4]
    best = np.maximum(field[:, 1], field[:, 3])
    latent = (
        0.6 * z[:, 0] + 0.6 * best * (field[:, 0] > -0.3) + 0.5 * np.where(words > 2, field[:, 4], field[:, 1])
        + 0.6 * np.tanh(2 * click) * (best > 0) - 1.0 * (spam > 1.2) + 0.5 * page * (length[:, 0] > 55) + 0.3 * (fresh > 0.8) * (z[:, 5] > 0)
    )
    return x, d.graded(latent, 1.6, [0.52, 0.84, 0.973, 0.9915], 0.5), latent


def categories(task, d):
    levels, numeric = [5, 12, 30, 60, 120, 200], 12
    effect = [task.standard_normal(n) for n in levels]
    cross, slope = task.standard_normal((5, 30)), task.standard_normal((12, 3))
    w = task.standard_normal(numeric)
    code = np.empty((d.docs, len(levels)), int)
    for j, n in enumerate(levels):
        share = 1 / np.arange(1, n + 1) ** 0.7
        share = task.permutation(share / share.sum())
        # The first is the kind of the query.
        code[:, j] = d.rng.choice(n, d.n, p=share)[d.q] if j == 0 else d.rng.choice(n, d.docs, p=share)
    z = d.normal(numeric)
    latent = (
        sum(e[code[:, j]] * s for j, (e, s) in enumerate(zip(effect, [0, 0.3, 0.4, 0.4, 0.5, 0.5])))
        + 0.6 * cross[code[:, 0], code[:, 2]] + 0.4 * (slope[code[:, 1]] * z[:, :3]).sum(1) + 0.12 * z @ w + 0.4 * np.abs(z[:, 4])
    )
    x = np.column_stack([code, np.where(np.arange(numeric) % 3 == 0, np.exp(z), z + 0.5 * d.by_query(numeric))])
    return x, d.graded(latent, 1.2, [0.55, 0.78, 0.91, 0.975]), latent


def missing(task, d):
    k = 30
    w, load = task.standard_normal(10), task.standard_normal((10, k)) * (task.random((10, k)) < 0.25)
    z = d.normal(10)
    latent = 0.3 * z @ w + 0.6 * z[:, 0] * (z[:, 1] > 0) + 0.5 * np.tanh(2 * z[:, 2]) - 0.4 * np.abs(z[:, 3])
    x = z @ load + 0.6 * d.normal(k) + 0.4 * d.by_query(k)
    x[:, :6] = z[:, :6] + 0.5 * d.normal(6)
    x[:, 6:12] = np.exp(x[:, 6:12])
    gone = d.rng.random((d.docs, k)) < task.choice([0, 0.1, 0.4], k)
    # Of relevant documents five features are known more often, two less often.
    good = standard(latent + 0.8 * d.normal())
    for j, sign in zip([6, 7, 20, 21, 22, 23, 24], [1, 1, 1, 1, 1, -1, -1]):
        gone[:, j] |= sign * good + 0.7 * d.normal() < -0.8
    for j in [1, 8, 25]:
        gone[:, j] |= (d.rng.random(d.n) < 0.3)[d.q]
    x[gone] = np.nan
    return x, d.graded(latent, 1.5, [0.6, 0.82, 0.95]), latent


# Queries for training and testing, documents a query, and what else set.json says.
MADE = {
    "shares": (shares, 600, 2500, 20, {}),
    "skewed": (skewed, 500, 2000, 30, {}),
    "text": (text, 400, 2000, 25, {}),
    "pairs": (pairs, 3000, 3000, 2, {}),
    "web": (web, 1000, 1000, 100, {}),
    "categories": (categories, 800, 2000, 25, {"categorical": [1, 2, 3, 4, 5, 6]}),
    "missing": (missing, 700, 2000, 25, {"missing": True}),
}


def ndcg(sizes, grades, scores, k=10):
    """The mean NDCG@k with gains 2^grade − 1; a query without relevant documents counts 0."""
    total, begin = 0.0, 0
    for n in sizes:
        g, s = 2.0 ** grades[begin:begin + n] - 1, scores[begin:begin + n]
        discounts = 1 / np.log2(np.arange(2, min(n, k) + 2))
        if g.any():
            total += g[np.argsort(-s, kind="stable")][:k] @ discounts / (np.sort(g)[::-1][:k] @ discounts)
        begin += n
    return total / len(sizes)


def write(path: Path, d: Queries, x, grades, sparse):
    names = [f"{j + 1}:" for j in range(x.shape[1])]
    with open(path, "w") as f:
        for q, grade, row in zip(d.q, grades, x):
            cells = [f"{names[j]}{row[j]:.6g}" for j in np.flatnonzero(row)] if sparse else [f"{n}{v:.6g}" for n, v in zip(names, row.tolist())]
            f.write(f"{grade:g} qid:{q + 1} {' '.join(cells)}\n")


def make(folder: Path, name: str, draw: int, queries=None, task=1):
    """Makes a synthetic set. queries has other numbers of queries for training and testing than MADE."""
    generate, *standard_queries, docs, about = MADE[name]
    number = list(MADE).index(name)
    folder.mkdir(parents=True, exist_ok=True)
    for part, n in enumerate(queries or standard_queries):
        # The task has the same parameters in both parts and all draws.
        more = [] if task == 1 else [task]
        d = Queries(np.random.default_rng([number, draw, part, *more]), n, docs, vary=name != "pairs")
        x, grades, latent = generate(np.random.default_rng([number, *more] if more else number), d)
        write(folder / f"{['train', 'test'][part]}.txt", d, x, grades, name == "text")
    limit = ndcg(d.sizes, grades, latent)
    (folder / "set.json").write_text(json.dumps({**about, "limit": round(limit, 4)}) + "\n")
    print(f"{name}: NDCG@10 of the latent relevance {limit:.4f}, of a random order {ndcg(d.sizes, grades, d.rng.random(d.docs)):.4f}", flush=True)


def collect(folder: Path, name: str, data: Path):
    folder.mkdir(parents=True, exist_ok=True)
    if name == "lightgbm":
        for part in ["train", "test"]:
            (folder / f"{part}.txt").write_bytes(gzip.decompress((data / "lightgbm-rank" / f"{part}.txt.gz").read_bytes()))
    else:
        subprocess.run([data / "make-folds", name, folder], check=True)
    (folder / "set.json").write_text("{}\n")


def main():
    a = arguments()
    for name in a.names or ["ohsumed", "mq2008", "lightgbm", *MADE]:
        if name in MADE:
            make(a.out / name, name, a.draw, task=a.task)
        elif a.data.exists():
            collect(a.out / name, name, a.data)


if __name__ == "__main__":
    main()

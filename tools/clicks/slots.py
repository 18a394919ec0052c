"""Compares train --clicks --debias position and pairs with LightGBM's and XGBoost's on the same clicks.

    python tools/clicks/slots.py --listwise ./listwise --data MQ2008

MQ2008 has Fold1 … Fold5 of LETOR text. For each fold, users are simulated on the training queries: a production ranker,
LightGBM on the grades of a hundredth of the queries, ranks a random query, in near-fixed order (Plackett-Luce, scores
standardized, temperature 0.1); ten documents are shown; rank k is looked at with probability 1/k, and what is looked
at is clicked with probability 0.1 + 0.9 (2^grade − 1)/(2^highest − 1). All programs boost a hundred trees of ten leaves
at a rate of 0.1 on NDCG@10 of the clicks, a query for each page. The measure is NDCG@10 by the grades of the test
queries, where queries without relevant documents count 0 and ties are broken by chance.

The last line has means over the folds. It fails if ours is lower than the other program's own correction by more than
--tolerance.
"""

import argparse
import csv
import json
import subprocess
import tempfile
from pathlib import Path

import lightgbm
import numpy as np
import xgboost

SHOWN = 10
TREES = 100
COLUMNS = ["production", "uncorrected", "LightGBM", "position", "XGBoost", "pairs"]


class Queries:
    """Documents of a LETOR file, in the order of their queries."""

    def __init__(self, path):
        rows = [line.split("#")[0].split() for line in open(path)]
        ids = list(dict.fromkeys(row[1] for row in rows))
        rows.sort(key=lambda row, at={q: i for i, q in enumerate(ids)}: at[row[1]])
        self.x = np.array([[float(t.split(":")[1]) for t in row[2:]] for row in rows])
        self.grades = np.array([int(row[0]) for row in rows])
        self.sizes = np.array([sum(row[1] == q for row in rows) for q in ids])
        self.starts = np.cumsum(self.sizes) - self.sizes

    def each(self):
        return [slice(s, s + n) for s, n in zip(self.starts, self.sizes)]

    def ndcg(self, scores):
        """Mean NDCG@10."""
        rng, total = np.random.default_rng(0), 0.0
        for q in self.each():
            gains, discounts = 2.0 ** self.grades[q] - 1, 1 / np.log2(2 + np.arange(q.stop - q.start))
            order = np.lexsort((rng.random(len(gains)), -scores[q]))
            ideal = (np.sort(gains)[::-1] * discounts)[:10].sum()
            total += (gains[order] * discounts)[:10].sum() / ideal if ideal > 0 else 0.0
        return total / len(self.sizes)

    def table(self, path):
        """Writes the documents as a CSV table, named by their rows."""
        with open(path, "w", newline="") as f:
            out = csv.writer(f)
            out.writerow(["query", "document", "grade", *(f"f{j + 1}" for j in range(self.x.shape[1]))])
            for i, q in enumerate(self.each()):
                out.writerows([i, row, self.grades[row], *self.x[row]] for row in range(q.start, q.stop))


def by_lightgbm(x, grades, sizes, trees, position=None, documents=1):
    parameters = dict(
        objective="lambdarank", num_leaves=10, learning_rate=0.1, num_threads=1, verbosity=-1, min_data_in_leaf=documents,
        min_sum_hessian_in_leaf=1e-3, lambda_l2=1.0, deterministic=True, seed=1, lambdarank_truncation_level=10,
    )
    return lightgbm.train(parameters, lightgbm.Dataset(x, grades, group=sizes, position=position), trees)


def by_xgboost(x, clicks, sizes):
    parameters = dict(
        objective="rank:ndcg", eta=0.1, max_leaves=10, grow_policy="lossguide", max_depth=0, tree_method="hist", nthread=1, seed=1,
        lambdarank_pair_method="topk", lambdarank_num_pair_per_sample=10, lambdarank_unbiased=True,
    )
    data = xgboost.DMatrix(x, clicks)
    data.set_group(sizes)
    return xgboost.train(parameters, data, TREES)


def by_listwise(binary, folder, debias):
    """Trains on the pages in the folder and returns the scores of its test queries."""
    settings = {"trees": TREES, "leaves": 10, "rate": 0.1, "leaf_documents": 1, "leaf_curvature": 1e-3, "l2": 1, "top": 10, "normalize": "both"}
    model, scores = folder / f"{debias}.json", folder / f"{debias}.scores"
    subprocess.run(
        [binary, "train", "--clicks", folder / "pages.jsonl", "--train", folder / "train.csv", "--method", "lambdamart", "--debias", debias,
         "--weigh-queries", "pages", "--twin-share", "0", "--set", ",".join(f"{k}={v}" for k, v in settings.items()), "--model", model, "--quiet"],
        check=True,
    )
    subprocess.run([binary, "score", "--model", model, "--data", folder / "test.csv", "--out", scores, "--quiet"], check=True)
    return np.loadtxt(scores)


def simulate(train, pages, seed):
    """Returns the rows of the documents shown, their ranks from 0, their clicks, and the sizes of the pages."""
    rng = np.random.default_rng(seed)
    rich = [i for i, q in enumerate(train.each()) if len(set(train.grades[q])) > 1]
    taught = np.zeros(len(train.sizes), bool)
    taught[rng.choice(rich, max(1, round(0.01 * len(train.sizes))), replace=False)] = True
    rows = np.repeat(taught, train.sizes)
    production = by_lightgbm(train.x[rows], train.grades[rows], train.sizes[taught], 20, documents=5)
    scores = production.predict(train.x)
    for q in train.each():
        scores[q] = (scores[q] - scores[q].mean()) / (scores[q].std() + 1e-9)
    shown = []
    for i in rng.integers(0, len(train.sizes), pages):
        q = slice(train.starts[i], train.starts[i] + train.sizes[i])
        shown.append(q.start + np.argsort(-(scores[q] / 0.1 + rng.gumbel(size=train.sizes[i])))[:SHOWN])
    sizes = np.array([len(page) for page in shown])
    shown, ranks = np.concatenate(shown), np.concatenate([np.arange(n) for n in sizes])
    attraction = 0.1 + 0.9 * (2.0 ** train.grades - 1) / (2.0 ** train.grades.max() - 1)
    clicks = (rng.random(len(shown)) < attraction[shown] / (1 + ranks)).astype(int)
    return production, shown, ranks, clicks, sizes


def write_pages(path, train, shown, clicks, sizes):
    query = np.repeat(np.arange(len(train.sizes)), train.sizes)
    with open(path, "w") as f:
        at = 0
        for n in sizes:
            page = shown[at : at + n]
            print(json.dumps({"query": str(query[page[0]]), "docs": [str(row) for row in page], "clicks": clicks[at : at + n].tolist()}), file=f)
            at += n


def fold(binary, root, number, pages):
    train, test = Queries(root / f"Fold{number}/train.txt"), Queries(root / f"Fold{number}/test.txt")
    production, shown, ranks, clicks, sizes = simulate(train, pages, number)
    x = train.x[shown]
    found = {
        "production": test.ndcg(production.predict(test.x)),
        "uncorrected": test.ndcg(by_lightgbm(x, clicks, sizes, TREES).predict(test.x)),
        "LightGBM": test.ndcg(by_lightgbm(x, clicks, sizes, TREES, position=ranks).predict(test.x)),
        "XGBoost": test.ndcg(by_xgboost(x, clicks, sizes).predict(xgboost.DMatrix(test.x))),
    }
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        train.table(folder / "train.csv")
        test.table(folder / "test.csv")
        write_pages(folder / "pages.jsonl", train, shown, clicks, sizes)
        for debias in ("position", "pairs"):
            found[debias] = test.ndcg(by_listwise(binary, folder, debias))
    return [found[column] for column in COLUMNS]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--listwise", required=True, help="the binary")
    parser.add_argument("--data", required=True, type=Path, help="folder with Fold1 to Fold5")
    parser.add_argument("--pages", type=int, default=20000, help="pages for each fold")
    parser.add_argument("--folds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--tolerance", type=float, default=0.005)
    o = parser.parse_args()
    print("fold", *(f"{column:>11}" for column in COLUMNS), flush=True)
    table = []
    for number in o.folds:
        table.append(fold(o.listwise, o.data, number, o.pages))
        print(f"{number:4}", *(f"{value:11.4f}" for value in table[-1]), flush=True)
    means = dict(zip(COLUMNS, np.mean(table, axis=0)))
    print("mean", *(f"{means[column]:11.4f}" for column in COLUMNS))
    for ours, other in (("position", "LightGBM"), ("pairs", "XGBoost")):
        if means[ours] < means[other] - o.tolerance:
            raise SystemExit(f"{ours} has {means[ours]:.4f}, expected at least {means[other] - o.tolerance:.4f}: {other} has {means[other]:.4f}")


if __name__ == "__main__":
    main()

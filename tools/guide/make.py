"""Makes the files of docs/guide/data: judged products of a fictional shop, and a LightGBM model for
them.

    pip install -r tools/guide/requirements.txt && python tools/guide/make.py docs/guide/data

The relevance of a product is a sum of its features and noise, and no single feature suffices.
The click-through rate is missing for new products and for some others.
"""

import csv
import math
import os
import random
import sys

import lightgbm
import numpy

FEATURES = ["bm25", "title", "ctr", "price", "age", "stock"]
KINDS = "red blue white black green small large light warm cheap".split()
THINGS = "shoes lamp chair jacket kettle backpack desk bicycle tent mug".split()


def products(rng, queries, number):
    for query in queries:
        level = rng.gauss(9, 2)
        for _ in range(12):
            bm25 = max(0.5, rng.gauss(level, 2.5))
            title = int(rng.random() < 0.55)
            ctr = rng.betavariate(2, 12)
            price = math.exp(rng.gauss(3.5, 0.8))
            age = rng.randrange(1, 900)
            stock = int(rng.random() < 0.8)
            worth = (
                0.9 * (bm25 - level) / 2.5 + 1.3 * title + 14 * (ctr - 0.14) - 2.2 * (1 - stock)
                - 0.7 * abs(math.log(price / 40)) + 0.6 * (age < 60) + rng.gauss(0, 0.8)
            )  # fmt: skip
            grade = sum(worth > bound for bound in (0.6, 1.6, 2.6))
            unseen = age < 60 or rng.random() < 0.05
            number += 1
            yield f"{query},sku-{number},{grade},{bm25:.2f},{title},{'' if unseen else format(ctr, '.3f')},{price:.2f},{age},{stock}\n"


def write(path, rows):
    with open(path, "w", newline="\n") as file:
        file.write("query,doc,grade," + ",".join(FEATURES) + "\n")
        file.writelines(rows)


def train(table, path):
    with open(table) as file:
        rows = list(csv.DictReader(file))
    x = numpy.array([[float(row[name]) if row[name] else numpy.nan for name in FEATURES] for row in rows])
    sizes = {}
    for row in rows:
        sizes[row["query"]] = sizes.get(row["query"], 0) + 1
    data = lightgbm.Dataset(x, [int(row["grade"]) for row in rows], group=list(sizes.values()), feature_name=FEATURES)
    settings = {
        "objective": "lambdarank", "num_leaves": 8, "learning_rate": 0.15, "min_data_in_leaf": 10,
        "deterministic": True, "num_threads": 1, "seed": 1, "verbose": -1,
    }  # fmt: skip
    lightgbm.train(settings, data, 40).save_model(path)


def main(folder):
    rng = random.Random(1)
    queries = [f"{kind} {thing}" for thing in THINGS for kind in KINDS]
    rng.shuffle(queries)
    write(os.path.join(folder, "train.csv"), products(rng, queries[:60], 1000))
    write(os.path.join(folder, "test.csv"), products(rng, queries[60:], 5000))
    train(os.path.join(folder, "train.csv"), os.path.join(folder, "lightgbm.txt"))


main(sys.argv[1])

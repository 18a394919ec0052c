"""Measures TreeSHAP against LightGBM's pred_contrib, in CPU seconds on the same model: 1,000 trees
of 31 leaves on 136 features.

usage: speed.py LISTWISE FOLDER

listwise's time for explaining the documents is the time of `explain` for all of them minus the
time for one query. The second run reads, counts and permutes as much.
"""

import resource
import subprocess
import sys
from pathlib import Path

import lightgbm
import numpy

listwise, folder = sys.argv[1], Path(sys.argv[2])
DOCS, FEATURES, LIST = 4000, 136, 100


def cpu(who):
    r = resource.getrusage(who)
    return r.ru_utime + r.ru_stime


def timed(who, do):
    before = cpu(who)
    do()
    return cpu(who) - before


def explain(most):
    args = ["explain", "--model", folder / "model.txt", "--data", folder / "data.txt", "--repeats", 1, "--top", 1, "--max-docs", most]
    subprocess.run([listwise, *map(str, args)], check=True, capture_output=True)


rng = numpy.random.default_rng(1)
x = rng.normal(size=(20_000, FEATURES)).astype(numpy.float32)
y = numpy.clip((x[:, 0] + x[:, 1] * x[:, 2] + rng.normal(size=len(x))).round(), 0, 4).astype(int)
settings = dict(objective="lambdarank", num_leaves=31, learning_rate=0.05, verbose=-1, num_threads=2, seed=1)
model = lightgbm.train(settings, lightgbm.Dataset(x, y, group=[LIST] * (len(x) // LIST)), 1000)
model.save_model(folder / "model.txt")
with open(folder / "data.txt", "w") as f:
    for i in range(DOCS):
        f.write(f"{y[i]} qid:{i // LIST} " + " ".join(f"{j + 1}:{float(v)!r}" for j, v in enumerate(x[i])) + "\n")
theirs = min(timed(resource.RUSAGE_SELF, lambda: model.predict(x[:DOCS], pred_contrib=True)) for _ in range(3))
ours = min(timed(resource.RUSAGE_CHILDREN, lambda: explain(0)) for _ in range(3)) - min(timed(resource.RUSAGE_CHILDREN, lambda: explain(1)) for _ in range(3))
print(f"{DOCS} documents: LightGBM {theirs:.1f} CPU-seconds, listwise {ours:.1f}: {theirs / ours:.1f} times as many")

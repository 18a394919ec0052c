"""What corrections of clicks gain: NDCG@10 of held-out queries by their true grades, after training on simulated clicks.

    python learning.py --listwise BINARY --folds FOLDER --work FOLDER [--systems ...]

FOLDER has Fold1 to Fold5 in LETOR's layout. For every fold, a production ranker learns from the grades of a few
training queries. "clicks simulate" ranks the training queries by it, with noise, and draws clicks: rank k is examined
with probability 1/k. "clicks propensities --method harvest" estimates propensities from the log. The systems are:

  none            train --clicks --debias none (mart): grades are click rates
  none-lambda     the same with --method lambdamart
  examinations    train --clicks --debias examinations (mart)
  robust          train --clicks --debias robust --method lambdamart
  ...-twin        the same table with all propensities 1 (clicks weigh --uncorrected, then train)
  lambdarank      LightGBM's lambdarank on the pages, uncorrected
  position        the same with LightGBM's correction by position
  xgboost         XGBoost's unbiased lambdarank on the pages
  own-...         train --clicks --method lambdamart --debias position or pairs, for a comparison with these two

Production and "grades", taught by the true grades of all training queries, are printed for comparison. All have 100
trees of 10 leaves at the rate 0.1.

The script computes the grades and weights of none, examinations and ips from the pages itself, and fails if those of
"clicks weigh" differ by more than 1e-9. A paired t test over queries compares systems, after a mean over logs.
Exponential gains; a query without relevant documents counts 0; ties are broken at random.

--work keeps the values of every query, and a later run computes only those that it lacks.
"""

import argparse
import csv
import gzip
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

import lightgbm
import numpy as np
import xgboost
from scipy import stats

SYSTEMS = ["lambdarank", "none", "examinations", "examinations-twin", "robust", "robust-twin", "position", "xgboost"]
TESTS = [
    ("examinations", "examinations-twin"),
    ("robust", "robust-twin"),
    ("examinations", "lambdarank"),
    ("robust", "lambdarank"),
    ("examinations", "position"),
    ("robust", "position"),
    ("examinations", "xgboost"),
    ("robust", "xgboost"),
    ("examinations", "none"),
    ("robust", "none"),
    ("robust", "none-lambda"),
    ("own-position", "position"),
    ("own-pairs", "xgboost"),
]
TOLERANCE = 1e-9
SETTINGS = ["trees=100", "leaves=10", "rate=0.1", "leaf_documents=1", "l2=1"]
PRODUCTION = ["trees=20", "leaves=10", "rate=0.1", "leaf_documents=5", "l2=1"]


class Table:
    """Judged data: features, grades, and the first and last row of each query."""

    def __init__(self, path):
        with open(path) as f:
            rows = list(csv.DictReader(f))
        names = [n for n in rows[0] if n.isdigit()]
        self.x = np.array([[float(r[n]) for n in names] for r in rows], dtype=np.float32)
        self.grades = np.array([float(r["grade"]) for r in rows])
        self.queries = np.array([r["query"] for r in rows])
        self.row = {(r["query"], r["doc"]): i for i, r in enumerate(rows)}
        self.starts = np.flatnonzero(np.r_[True, self.queries[1:] != self.queries[:-1]])
        self.sizes = np.diff(np.r_[self.starts, len(rows)])

    def ndcg(self, scores):
        """NDCG@10 of each query."""
        tie = np.random.default_rng(0).random(len(scores))
        out = []
        for a, n in zip(self.starts, self.sizes):
            gains = 2 ** self.grades[a : a + n] - 1
            order = np.lexsort((tie[a : a + n], -scores[a : a + n]))
            value, best = (float((g[:10] / np.log2(np.arange(2, 2 + len(g[:10])))).sum()) for g in (gains[order], np.sort(gains)[::-1]))
            out.append(value / best if best > 0 else 0.0)
        return out


class Pages:
    """A log as arrays, an element for each document of a page."""

    def __init__(self, path, table):
        with gzip.open(path, "rt") as f:
            pages = [json.loads(line) for line in f]
        self.sizes = np.array([len(p["docs"]) for p in pages])
        self.rows = np.array([table.row[str(p["query"]), d] for p in pages for d in p["docs"]])
        self.ranks = np.concatenate([np.arange(n) for n in self.sizes])
        self.clicks = np.array([c for p in pages for c in p["clicks"]]).astype(float)
        self.table = table
        firsts = self.rows[np.r_[0, np.cumsum(self.sizes)[:-1]]]
        query = np.searchsorted(table.starts, np.arange(len(table.grades)), side="right") - 1
        self.pages = np.bincount(query[firsts], minlength=len(table.starts))[query]  # of the query of each row

    def sums(self, theta):
        count = lambda w=None: np.bincount(self.rows, weights=w, minlength=len(self.table.grades)).astype(float)
        return count(), count(self.clicks), count(theta[self.ranks])

    def grades(self, debias, theta):
        """Grades and document weights of the documents that were shown, and which these are."""
        shown, clicks, looked = self.sums(theta)
        seen = shown > 0
        with np.errstate(invalid="ignore", divide="ignore"):
            ones = np.ones(len(shown))
            grades, weights = {
                "none": (clicks / shown, ones),
                "examinations": (clicks / looked, looked / self.pages),
                "ips": (clicks / np.maximum(looked, 0.01 * self.pages), ones),
            }[debias]
        return grades[seen], weights[seen] / weights[seen].mean(), seen


class Study:
    """One fold and one log, in a folder of its own."""

    def __init__(self, o, fold, log):
        self.o, self.fold, self.log = o, fold, log
        self.folds = Path(o.folds).absolute()
        self.cell = "-".join(map(str, [self.folds.name, o.production, *o.production_set, o.noise, o.pages, fold, log]))
        self.dir = Path(tempfile.mkdtemp())
        self.file = Path(o.work).absolute() / (self.cell + ".json")
        self.found = json.loads(self.file.read_text()) if self.file.exists() else {}
        self.seconds = {}
        self.ready = False

    def run(self, *words):
        done = subprocess.run([self.o.listwise, *map(str, words), "--quiet"], cwd=self.dir, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"listwise {' '.join(map(str, words))}: {done.stderr}")
        return done.stdout

    def trees(self, method, settings):
        """Words of a method with settings, which are NAME=VALUE or METHOD:NAME=VALUE."""
        words = dict(s.removeprefix(method + ":").split("=") for s in settings)
        return ["--method", method, *(w for name, value in words.items() if ":" not in name for w in ("--set", f"{name}={value}"))]

    def train(self, *words):
        self.run("train", "--no-record", "--model", "model.json", *words)
        return self.score("model.json")

    def score(self, model):
        return np.array([float(v) for v in self.run("score", "--model", model, "--data", "test.csv").split()])

    def prepare(self):
        """Makes the log."""
        if self.ready:
            return
        o, self.ready = self.o, True
        for part in "train", "test":
            self.run("data", "convert", self.folds / f"Fold{self.fold}" / f"{part}.txt", "--out", f"{part}.csv")
        self.data, self.test = Table(self.dir / "train.csv"), Table(self.dir / "test.csv")
        d = self.data
        mixed = [i for i, (a, n) in enumerate(zip(d.starts, d.sizes)) if len(set(d.grades[a : a + n])) > 1]
        few = np.random.default_rng(self.fold).choice(mixed, max(1, round(o.production * len(d.starts))), replace=False)
        names = set(d.queries[d.starts[few]])
        with open(self.dir / "train.csv") as source, open(self.dir / "few.csv", "w") as out:
            head = next(source)
            out.write(head)
            out.writelines(line for line in source if line.split(",", 1)[0] in names)
        self.run("train", "--no-record", *self.trees("lambdamart", PRODUCTION + o.production_set), "--train", "few.csv", "--model", "production.json")
        self.run("clicks", "simulate", "--data", "train.csv", "--model", "production.json", "--click", "pbm:eta=1,noise=0.1",
                 "--order", f"noise:{o.noise}", "--pages", o.pages, "--seed", 100 * self.fold + self.log, "--out", "pages.jsonl.gz")
        self.run("clicks", "propensities", "--method", "harvest", "--bootstrap", 0, "pages.jsonl.gz", "--out", "theta.json")
        slots = {s["slot"]: s["theta"] for s in json.loads((self.dir / "theta.json").read_text())["slots"]}
        self.theta = np.array([slots[str(k + 1)] for k in range(len(slots))])
        self.pages = Pages(self.dir / "pages.jsonl.gz", d)

    def weigh(self, out, debias, *words):
        self.run("clicks", "weigh", "pages.jsonl.gz", "--data", "train.csv", "--propensities", "theta.json", "--debias", debias, "--out", out, *words)
        with open(self.dir / out) as f:
            rows = list(csv.DictReader(f))
        return {(r["query"], r["doc"]): (float(r["grade"]), float(r.get("document_weight") or 1)) for r in rows}

    def check(self):
        """Largest difference of a grade or weight of "clicks weigh" from those computed here."""
        worst = 0.0
        for debias in "none", "examinations", "ips":
            for theta, words in (self.theta, []), (np.ones(len(self.theta)), ["--uncorrected"]):
                grades, weights, seen = self.pages.grades(debias, theta)
                got = self.weigh("weighed.csv", debias, *words)
                mean = sum(w for _, w in got.values()) / len(got)
                want = [pair for pair, i in self.data.row.items() if seen[i]]
                if set(want) != set(got):
                    raise SystemExit(f"{self.cell}: found {len(got)} rows of clicks weigh --debias {debias}, expected {len(want)}")
                at = {pair: i for i, pair in enumerate(sorted(want, key=self.data.row.get))}
                worst = max(worst, *(max(abs(g - grades[at[p]]), abs(w / mean - weights[at[p]])) for p, (g, w) in got.items()))
        if worst > TOLERANCE:
            raise SystemExit(f"{self.cell}: clicks weigh differs by {worst:.1e}, expected at most {TOLERANCE}")
        return worst

    def method(self, name):
        lambdas = name.startswith(("robust", "none-lambda", "own", "grades"))
        return self.trees("lambdamart" if lambdas else "mart", ([] if self.o.defaults else SETTINGS) + self.o.set)

    def clicks(self, name, debias):
        return self.train(*self.method(name), "--clicks", "pages.jsonl.gz", "--train", "train.csv", "--propensities", "theta.json",
                          "--debias", debias, "--weigh-queries", self.o.weigh_queries, "--twin-share", 0)

    def system(self, name):
        """Scores of the test documents."""
        p = self.pages
        debias, _, twin = name.partition("-")
        if name == "production":
            return self.score("production.json")
        if name == "grades":
            return self.train(*self.method(name), "--train", "train.csv")
        if twin == "twin":
            self.weigh("twin.csv", debias, "--uncorrected", "--weigh-queries", self.o.weigh_queries)
            return self.train(*self.method(name), "--convention", "trec", "--train", "twin.csv")
        if debias == "own":
            return self.clicks(name, twin)
        if name in ("lambdarank", "position"):
            par = {"objective": "lambdarank", "num_leaves": 10, "learning_rate": 0.1, "num_threads": 1, "verbosity": -1, "min_data_in_leaf": 1,
                   "lambda_l2": 1, "deterministic": True, "seed": 1, "lambdarank_truncation_level": 10}
            position = p.ranks if name == "position" else None
            data = lightgbm.Dataset(self.data.x[p.rows], p.clicks, group=p.sizes, position=position)
            return lightgbm.train(par, data, 100).predict(self.test.x)
        if name == "xgboost":
            par = {"objective": "rank:ndcg", "eta": 0.1, "max_leaves": 10, "grow_policy": "lossguide", "max_depth": 0, "tree_method": "hist", "nthread": 1,
                   "lambdarank_pair_method": "topk", "lambdarank_num_pair_per_sample": 10, "lambdarank_unbiased": True, "seed": 1}
            data = xgboost.DMatrix(self.data.x[p.rows], p.clicks)
            data.set_group(p.sizes)
            return xgboost.train(par, data, 100).predict(xgboost.DMatrix(self.test.x))
        return self.clicks(name, debias)

    def values(self, name):
        key = f"{name} {self.o.tag}".strip()
        if key not in self.found:
            self.prepare()
            start = time.time()
            self.found[key] = self.test.ndcg(self.system(name))
            self.seconds[name] = time.time() - start
            self.file.write_text(json.dumps(self.found))
        return self.found[key]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--listwise", required=True, type=os.path.abspath, help="the program")
    p.add_argument("--folds", required=True, help="folder with Fold1 to Fold5")
    p.add_argument("--fold", default="1,2,3,4,5")
    p.add_argument("--log", default="1,2,3", help="numbers of the logs of each fold")
    p.add_argument("--pages", type=int, default=20000)
    p.add_argument("--noise", type=float, default=0.1, help="of the order")
    p.add_argument("--production", type=float, default=0.01, help="share of the queries whose grades teach the production ranker")
    p.add_argument("--production-set", action="append", default=[], help="NAME=VALUE of the production ranker's lambdamart; repeatable")
    p.add_argument("--systems", default=",".join(SYSTEMS))
    p.add_argument("--set", action="append", default=[], help="[METHOD:]NAME=VALUE of listwise's methods; repeatable")
    p.add_argument("--defaults", action="store_true", help="listwise's own defaults instead of " + " ".join(SETTINGS))
    p.add_argument("--weigh-queries", default="sqrt", help="as of clicks weigh")
    p.add_argument("--tag", default="", help="name of these settings in --work")
    p.add_argument("--no-check", action="store_true", help="skip the check of clicks weigh")
    p.add_argument("--work", default=".", help="folder of the values of each query")
    o = p.parse_args()
    Path(o.work).mkdir(parents=True, exist_ok=True)
    names = ["production", *o.systems.split(",")]
    values, worst, errors = {n: [] for n in names}, 0.0, []
    for fold in map(int, o.fold.split(",")):
        logs = {n: [] for n in names}
        for log in map(int, o.log.split(",")):
            s = Study(o, fold, log)
            for n in names:
                logs[n].append(s.values(n))
            if not o.no_check and "check" not in s.found:
                s.prepare()
                s.found["check"] = s.check()
                s.found["theta"] = float(np.abs(s.theta - 1 / np.arange(1, 1 + len(s.theta))).max())
                s.found["clicks"] = float(s.pages.clicks.sum())
                s.file.write_text(json.dumps(s.found))
            worst = max(worst, s.found.get("check", 0))
            errors.append(s.found.get("theta", 0))
            print(f"fold {fold}, log {log}:", *(f"{n} {np.mean(logs[n][-1]):.4f}" + (f" ({s.seconds[n]:.0f} s)" if n in s.seconds else "") for n in names), flush=True)
        for n in names:
            values[n].append(np.mean(logs[n], 0))
    print(f"\nclicks weigh and this script differ by {worst:.1e}; propensities are off by {np.mean(errors):.4f} (mean of the largest errors)\n")
    print("| system | NDCG@10 |\n|---|---|")
    for n in names:
        print(f"| {n} | {np.mean([v.mean() for v in values[n]]):.4f} |")
    print("\n| difference | mean | p |\n|---|---|---|")
    for a, b in TESTS:
        if a in names and b in names:
            d = np.concatenate(values[a]) - np.concatenate(values[b])
            print(f"| {a} − {b} | {d.mean():+.4f} | {stats.ttest_1samp(d, 0).pvalue:.4f} |")


if __name__ == "__main__":
    main()

"""Compares "listwise auto" with random searches of LightGBM, XGBoost and CatBoost, on the sets of sets.py.

    python -m venv V && V/bin/pip install -r tools/auto/requirements.txt
    V/bin/python tools/auto/sets.py --out SETS
    V/bin/python tools/auto/defaults.py --sets SETS --listwise ./listwise --out D
    V/bin/python tools/auto/beside.py --sets SETS --listwise ./listwise --defaults D --out R

For each set and seed, auto runs with --trials and with --budget, as two systems. For each of the two runs, every
other program searches at random for the same CPU time. Its first trial uses its defaults. The
queries are divided into five parts. For each part, a trial trains a model on the other four and stops early by
NDCG@10 on the part. The trial with the best mean NDCG@10 on the parts gives the system: a committee of its five models, by the
mean of scores standardized within queries. The test data are not used before the end. Each fold of a set with
folds is a separate set, which trains on all queries except the test queries.

Tables have the test NDCG@10 with exponential gains, and the difference between auto and each system. The 95 %
intervals are over test queries, with values averaged over seeds. The last table is over all test queries, with
Holm's correction. --defaults adds the methods at their defaults. R/CASE/SYSTEM/SEED.json has a run: the values by
query, CPU time, the choices, and wall time and results.json of auto. Existing runs are not repeated.
"""

import argparse
import csv
import json
import os
import resource
import shutil
import subprocess
import sys
import time
import zlib
from pathlib import Path

import numpy as np

import bench
from sets import ndcg

FOLDS = 5
TREES = 1000


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--sets", type=Path, required=True, help="folder that sets.py made")
    p.add_argument("--out", type=Path, required=True, help="folder for results")
    p.add_argument("--listwise", default="./listwise", help="the program")
    p.add_argument("--names", default="", help="sets, separated by commas (default: all)")
    p.add_argument("--seeds", default="1-5", help="first and last")
    p.add_argument("--trials", type=int, default=60, help="trials of auto; 0: no such run")
    p.add_argument("--budget", default="5m", help="time budget of auto; 0: no such run")
    p.add_argument("--peers", default="lightgbm,xgboost,catboost", help="programs, separated by commas")
    p.add_argument("--defaults", type=Path, help="results of defaults.py")
    p.add_argument("--threads", type=int, default=2, help="of auto")
    p.add_argument("--table", action="store_true", help="print the tables of finished runs only")
    return p.parse_args()


def main():
    a = arguments()
    limits = {f"{a.trials}": ["--trials", str(a.trials)]} if a.trials else {}
    if a.budget != "0":
        limits[a.budget] = ["--budget", a.budget]
    first, last = map(int, a.seeds.split("-"))
    seeds = list(range(first, last + 1))
    chosen = list(bench.cases(a.sets, a.names.split(",") if a.names else []))
    if not a.table:
        for seed in seeds:
            for case in chosen:
                for limit, words in limits.items():
                    auto(a, case, seed, f"auto-{limit}", words)
                for program in filter(None, a.peers.split(",")):
                    search(a, case, seed, program, list(limits))
    for limit in limits:
        tables(a, [c.name for c in chosen], seeds, limit)


def run_of(a, case, system, seed):
    return a.out / case.name / system / f"{seed}.json"


def told(case, system, seed, run):
    print(f"{case.name} {system} {seed}: {bench.mean(run['values']):.4f}, {run['cpu']:.0f} CPU-s", file=sys.stderr, flush=True)


def auto(a, case, seed, system, words):
    file = run_of(a, case, system, seed)
    if file.exists():
        return
    folder = file.with_suffix("")
    work = a.out / "work"
    work.mkdir(parents=True, exist_ok=True)
    train, test = work / "train.txt", case.test
    train.write_text("".join(p.read_text() for p in case.train))
    more = []
    if case.categorical:
        more = ["--one-hot", "auto"]
        train, test = table_of(train, case, work / "train.csv"), table_of(test, case, work / "test.csv")
    # A run that was interrupted goes on, but its CPU time would be too short.
    shutil.rmtree(folder, ignore_errors=True)
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run([a.listwise, "auto", "--quiet", "--no-record", "--data", train, "--out", folder, *words, *more, "--select", bench.MEASURE, "--measures", bench.MEASURE, "--seed", str(seed)],
                   check=True, stdout=subprocess.DEVNULL, env={**os.environ, "GOMAXPROCS": str(a.threads)})
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - began
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    run = {"values": bench.measure(a.listwise, test, model=folder / "model.json"), "cpu": cpu, "wall": wall, "results": json.loads((folder / "results.json").read_text())}
    bench.save(file, run)
    shutil.rmtree(work)
    told(case, system, seed, run)


def table_of(file: Path, case, into: Path):
    """Writes text of LETOR as a table, in which categorical features are text."""
    data = bench.read([file], case.categorical)
    with open(into, "w", newline="") as f:
        w = csv.writer(f)
        w.writerow(["query", "grade", *(f"f{j + 1}" for j in range(data.x.shape[1]))])
        for query, grade, row in zip(data.queries(), data.grades, data.x):
            w.writerow([query + 1, f"{grade:g}", *(f"c{int(v)}" if j + 1 in case.categorical else f"{v:.6g}" for j, v in enumerate(row))])
    return into


def settings(program: str, rng, first: bool, categorical: bool) -> dict:
    """Random settings; those of the first trial are the program's defaults. With categorical features, half of the
    settings split by one category at a time, as one-hot features do."""

    def log(low, high):
        return float(np.exp(rng.uniform(np.log(low), np.log(high))))

    if first:
        return {}
    one_hot = int(rng.choice([0, 300])) if categorical else 0
    if program == "lightgbm":
        more = {"max_cat_to_onehot": one_hot or 4, "min_data_per_group": int(log(10, 200))} if categorical else {}
        return {
            **more, "lambdarank_norm": bool(rng.choice([True, False])),
            "objective": str(rng.choice(["lambdarank", "rank_xendcg"])), "learning_rate": log(0.02, 0.2), "num_leaves": int(log(4, 64)), "min_data_in_leaf": int(log(5, 100)),
            "feature_fraction": rng.uniform(0.3, 1), "bagging_fraction": rng.uniform(0.5, 1), "bagging_freq": 1, "bagging_by_query": True, "lambda_l2": log(1e-3, 10),
            "lambdarank_truncation_level": int(rng.choice([10, 30, 100])), "cat_smooth": log(1, 100), "cat_l2": log(1, 100),
        }
    if program == "xgboost":
        more = {"max_cat_to_onehot": one_hot or 4} if categorical else {}
        return {
            **more, "lambdarank_normalization": bool(rng.choice([True, False])),
            "objective": str(rng.choice(["rank:ndcg", "rank:pairwise"])), "eta": log(0.02, 0.3), "tree_method": "hist", "grow_policy": "lossguide", "max_depth": 0, "max_leaves": int(log(4, 64)),
            "min_child_weight": log(0.1, 30), "colsample_bytree": rng.uniform(0.3, 1), "subsample": rng.uniform(0.5, 1), "lambda": log(1e-2, 10),
            "lambdarank_pair_method": str(rng.choice(["mean", "topk"])), "lambdarank_num_pair_per_sample": int(rng.choice([4, 10, 30])),
        }
    more = {"one_hot_max_size": one_hot} if one_hot else {}
    return {
        **more, "loss_function": str(rng.choice(["YetiRank", "YetiRank:mode=NDCG", "YetiRank:mode=NDCG;top=10;type=Exp", "QueryRMSE"])), "learning_rate": log(0.02, 0.2), "depth": int(rng.integers(3, 9)), "l2_leaf_reg": log(1, 30),
        "rsm": rng.uniform(0.3, 1), "random_strength": log(0.1, 3),
    }


def search(a, case, seed, program, limits):
    """Searches until the CPU time of the longest run of auto is used. The shorter run's system is the best of a prefix."""
    budgets = {f"{program}-{limit}": json.loads(run_of(a, case, f"auto-{limit}", seed).read_text())["cpu"] for limit in limits}
    budgets = {s: cpu for s, cpu in budgets.items() if not run_of(a, case, s, seed).exists()}
    if not budgets:
        return
    train, test = bench.cached(a.out, case)
    part = bench.division(len(train.sizes), FOLDS, seed)
    parts = [(train.of(part != k), train.of(part == k)) for k in range(FOLDS)]
    rng = np.random.default_rng([seed, list(bench.FIT).index(program), zlib.crc32(case.name.encode())])
    used, tried, best, spent = 0.0, 0, {}, {}
    while tried == 0 or used < max(budgets.values()):
        chosen = settings(program, rng, tried == 0, bool(case.categorical))
        began = time.process_time()
        models = [bench.FIT[program](chosen, TREES, *pair, seed, 1) for pair in parts]
        value = bench.mean([ndcg(valid.sizes, valid.grades, np.asarray(m(valid.x))) for m, (_, valid) in zip(models, parts)])
        used += time.process_time() - began
        tried += 1
        for system, budget in budgets.items():
            # A first trial that takes longer than the budget is the system all the same.
            if used <= budget or tried == 1:
                spent[system] = used, tried
                if value > best.get(system, (-1,))[0]:
                    best[system] = value, chosen, models, tried
    for system, (value, chosen, models, number) in best.items():
        scores = np.mean([standardized(np.asarray(m(test.x), float), test.sizes) for m in models], axis=0)
        run = {"values": bench.measure(a.listwise, case.test, scores), "cpu": spent[system][0], "trials": spent[system][1], "best": number, "settings": chosen, "valid": value}
        bench.save(run_of(a, case, system, seed), run)
        told(case, system, seed, run)


def standardized(scores, sizes):
    query = np.repeat(np.arange(len(sizes)), sizes)
    scores = scores - (np.bincount(query, scores) / sizes)[query]
    spread = np.sqrt(np.bincount(query, scores**2) / sizes)
    return scores / np.where(spread > 0, spread, 1)[query]


def tables(a, names, seeds, limit):
    auto = f"auto-{limit}"
    sets = bench.sets_of([n for n in names if bench.results(a.out, auto, [n], seeds)])
    peers = [f"{program}-{limit}" for program in filter(None, a.peers.split(","))]
    known = {s for n in names for s in (p.name for p in (a.defaults / n).glob("*"))} if a.defaults else set()
    systems = {**{p: (a.out, p) for p in peers}, **{f"{s}, defaults": (a.defaults, s) for s in sorted(known)}}
    pooled = {s: [] for s in systems}
    for name, folds in sets.items():
        own = bench.results(a.out, auto, folds, seeds)
        print(f"\n{name}: test NDCG@10 of {len(own)} queries, seeds {seeds[0]} to {seeds[-1]}\n\n| system | NDCG@10 | {auto} − system |\n|---|---:|---:|\n| {auto} | {bench.mean(own):.4f} | |")
        for system, (out, s) in systems.items():
            values = bench.results(out, s, folds, seeds)
            if values is None:
                pooled[system] = None
                continue
            if pooled[system] is not None:
                pooled[system].append((own, values))
            d, half, _ = bench.difference(own, values)
            print(f"| {system} | {bench.mean(values):.4f} | {d:+.4f} ± {half:.4f} |")
    print(f"\nAll test queries of {len(sets)} sets; p of {len(peers)} programs with Holm's correction\n\n| system | mean of sets | {auto} − system | p |\n|---|---:|---:|---:|")
    tested = {s: bench.difference(*(sum(side, []) for side in zip(*pairs))) for s, pairs in pooled.items() if pairs}
    adjusted = dict(zip((p for p in peers if p in tested), bench.holm([tested[p][2] for p in peers if p in tested])))
    for s, (d, half, _) in tested.items():
        over = bench.mean([bench.mean(values) for _, values in pooled[s]])
        print(f"| {s} | {over:.4f} | {d:+.4f} ± {half:.4f} | {f'{adjusted[s]:.2g}' if s in adjusted else ''} |")


if __name__ == "__main__":
    main()

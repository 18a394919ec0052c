"""Compares methods at their defaults with LightGBM, XGBoost and CatBoost at theirs, on the sets of sets.py.

    python -m venv V && V/bin/pip install -r tools/auto/requirements.txt
    V/bin/python tools/auto/sets.py --out SETS
    V/bin/python tools/auto/defaults.py --sets SETS --listwise ./listwise --out R

For each seed, a fifth of the training queries is drawn as validation data, the same for all programs. Each
program stops early by NDCG@10 on the validation data, with a patience of 100 trees. The number of trees and all
other settings are the program's defaults. With --parts 0 there are no validation data and no early stopping.
Trees get categorical features as such. Linear functions and networks get them one-hot encoded, and the means of
features for missing values.

Values are NDCG@10 with exponential gains on the test queries, averaged over seeds. The 95 % intervals are for
paired differences to the first system over test queries. R/CASE/SYSTEM/SEED.json has a run. Existing runs are not
repeated. --variant NAME=METHOD,WORDS… adds a system of listwise, such as rate.1=lambdamart,--set,rate=0.1.
"""

import argparse
import json
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import bench

TREES = ["--scorer", "trees"]
OURS = {
    "lambdamart": ["lambdamart"],
    "mart": ["mart"],
    "yetirank-trees": ["yetirank", *TREES],
    "xendcg-trees": ["xendcg", *TREES],
    "listnet-trees": ["listnet", *TREES],
    "regression": ["regression"],
    "lambdarank": ["lambdarank"],
    "listnet": ["listnet"],
    "lambdarank-zscore": ["lambdarank", "--normalize", "zscore"],
    "listnet-zscore": ["listnet", "--normalize", "zscore"],
    "lambdarank-net": ["lambdarank", "--scorer", "net"],
    "ranknet-net-zscore": ["ranknet", "--scorer", "net", "--normalize", "zscore"],
}
PEERS = {
    "lightgbm": ("lightgbm", {}, 100),
    "lightgbm-xendcg": ("lightgbm", {"objective": "rank_xendcg"}, 100),
    "xgboost": ("xgboost", {}, 100),
    "catboost": ("catboost", {}, 1000),
}


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--sets", type=Path, required=True, help="folder that sets.py made")
    p.add_argument("--out", type=Path, required=True, help="folder for results")
    p.add_argument("--listwise", default="./listwise", help="the program")
    p.add_argument("--names", default="", help="sets, separated by commas (default: all)")
    p.add_argument("--systems", default="", help="systems, separated by commas, the reference first (default: all)")
    p.add_argument("--variant", action="append", default=[], help="NAME=METHOD,WORDS…: one more system; may be repeated")
    p.add_argument("--seeds", default="1-3", help="first and last")
    p.add_argument("--parts", type=int, default=5, help="parts of the training queries, of which one validates; 0: none")
    p.add_argument("--threads", type=int, default=1, help="of each program")
    return p.parse_args()


def main():
    a = arguments()
    for v in a.variant:
        name, words = v.split("=", 1)
        OURS[name] = words.split(",")
    systems = a.systems.split(",") if a.systems else [*OURS, *PEERS]
    first, last = map(int, a.seeds.split("-"))
    seeds = list(range(first, last + 1))
    all_cases = list(bench.cases(a.sets, a.names.split(",") if a.names else []))
    for seed in seeds:
        for case in all_cases:
            run_case(a, case, systems, seed)
    table(a, [c.name for c in all_cases], systems, seeds)


def run_case(a, case, systems, seed):
    todo = [s for s in systems if not (a.out / case.name / s / f"{seed}.json").exists()]
    if not todo:
        return
    train, test = bench.cached(a.out, case)
    part = bench.division(len(train.sizes), a.parts or 1, seed)
    chosen = part == 0 if a.parts else np.zeros(len(part), bool)
    work = a.out / "work"
    bench.split(case, part if a.parts else part + 1, 0, work)
    if case.categorical:
        coded = [work / "train.txt", work / "valid.txt", case.test]
        levels = {j: np.unique(train.x[:, j - 1]).astype(int).tolist() for j in case.categorical}
        for file in coded:
            one_hot(file, work / f"onehot-{file.name}", levels, train.x.shape[1])
    for system in todo:
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.process_time()
        if system in OURS:
            values = ours(a, case, OURS[system], work, seed)
        else:
            program, settings, trees = PEERS[system]
            score = bench.FIT[program](settings, trees, train.of(~chosen), train.of(chosen) if a.parts else None, seed, a.threads)
            values = bench.measure(a.listwise, case.test, score(test.x))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = time.process_time() - began + after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        bench.save(a.out / case.name / system / f"{seed}.json", {"values": values, "cpu": cpu})
        print(f"{case.name} {system} {seed}: {bench.mean(values):.4f}, {cpu:.1f} s", file=sys.stderr, flush=True)
    shutil.rmtree(work)


def ours(a, case, words, work, seed):
    trees = words[0] in ("lambdamart", "mart") or "trees" in words
    prefix, test, more = "", case.test, []
    if case.categorical and trees:
        more += ["--set", f"categorical={':'.join(map(str, case.categorical))}"]
    elif case.categorical:
        prefix, test = "onehot-", work / f"onehot-{case.test.name}"
    if case.about.get("missing"):
        more += ["--missing", "keep" if trees else "mean"]
    if a.parts and words[0] != "regression":
        more += ["--valid", work / f"{prefix}valid.txt", "--select", bench.MEASURE]
    model = work / "model.json"
    subprocess.run([a.listwise, "train", "--quiet", "--no-record", "--method", *words, "--train", work / f"{prefix}train.txt", *more, "--seed", str(seed), "--model", model],
                   check=True, stdout=subprocess.DEVNULL, env={"GOMAXPROCS": str(a.threads), "HOME": str(work)})
    return bench.measure(a.listwise, test, model=model)


def one_hot(file: Path, into: Path, levels: dict, features: int):
    """Writes features with a feature for each level in place of each categorical one; an unseen level has none."""
    codes, n = {}, features
    for j, known in levels.items():
        for level in known:
            n += 1
            codes[f"{j}:{level}"] = f"{n}:1"
    with open(into, "w") as f:
        for _, line in bench.lines(file):
            head, cells = line.split()[:2], line.split()[2:]
            kept = [c for c in cells if int(c.split(":")[0]) not in levels]
            f.write(" ".join([*head, *kept, *(codes[c] for c in cells if c in codes)]) + "\n")


def table(a, names, systems, seeds):
    sets = bench.sets_of(names)
    values = {(s, system): bench.results(a.out, system, folds, seeds) for s, folds in sets.items() for system in systems}
    print(f"NDCG@10 of test queries, mean of seeds {a.seeds}; differences to {systems[0]} with 95 % intervals\n")
    print(f"| system | {' | '.join(sets)} |\n|---|{'---:|' * len(sets)}")
    for system in systems:
        cells = []
        for s in sets:
            own = values[s, system]
            if system == systems[0]:
                cells.append(f"{bench.mean(own):.4f}")
            else:
                d, half, _ = bench.difference(own, values[s, systems[0]])
                cells.append(f"{bench.mean(own):.4f} ({d:+.4f} ± {half:.4f})")
        print(f"| {system} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()

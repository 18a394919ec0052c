"""Measures CPU time, wall time and peak memory of training boosted trees, compared with LightGBM with
the same number of trees, leaves, bins and threads and the same rate.

    V/bin/python tools/trees/speed.py --listwise ./listwise --out R folds OHSUMED/Fold1 MQ2008/Fold1
    V/bin/python tools/trees/speed.py --listwise ./listwise --out R web --documents 10000,100000,1000000 --threads 1,2
    V/bin/python tools/trees/speed.py --listwise ./listwise --out R synth --queries 5000 --threads 1,2

Each measurement is of a whole process, including reading. The programs take turns, and a line
shows medians over the turns. `folds` reads text. `web` makes data (web.py) and reads
listwise's .lwd cache and LightGBM's binary file. `synth` does the same for data of `listwise data
synth`. It uses the same pairs for both programs: pairs with a document in the first 30 ranks, with
and without both normalisations. The script stops if the two models were not trained with equal
settings. LightGBM's process is Python with LightGBM's library only (lightgbm_process.py).
"""

import argparse
import copy
import importlib.util
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import letor
import web

HERE = Path(__file__).parent


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--listwise", default="listwise", help="the program")
    p.add_argument("--out", type=Path, required=True, help="folder for data and models")
    p.add_argument("--repeats", type=int, default=5, help="turns of each program")
    p.add_argument("--set", action="append", default=[], help="a further hyperparameter of lambdamart, name=value")
    p.add_argument("--measure", default="ndcg@10", help="measure that listwise optimizes")
    p.add_argument("--lightgbm", default="", help="further parameters of LightGBM, name=value, separated by blanks")
    commands = p.add_subparsers(required=True)
    folds = commands.add_parser("folds", help="train.txt of folds: 300 trees of 10 leaves")
    folds.add_argument("fold", type=Path, nargs="+")
    folds.set_defaults(run=run_folds)
    of_web = commands.add_parser("web", help="made data: 100 trees of 31 leaves")
    of_web.add_argument("--documents", default="10000,100000,1000000")
    of_web.add_argument("--threads", default="1,2")
    of_web.set_defaults(run=run_web)
    synth = commands.add_parser("synth", help="data of data synth, and equal pairs: 100 trees of 31 leaves")
    synth.add_argument("--queries", type=int, default=5000, help="of about 100 documents with 136 features")
    synth.add_argument("--threads", default="1,2")
    synth.set_defaults(run=run_synth)
    return p.parse_args()


def main():
    a = arguments()
    a.out.mkdir(parents=True, exist_ok=True)
    print(f"medians of {a.repeats} turns\n{'':28} {'CPU-s':>18} {'seconds':>18} {'MB':>18}", flush=True)
    a.run(a)


def run_folds(a):
    for fold in a.fold:
        name = "-".join(fold.parts[-2:])
        text = a.out / f"{name}.libsvm"
        web.write(text, letor.read(fold / "train.txt"), letor=False)
        compare(a, f"{name} 300x10", fold / "train.txt", text, trees=300, leaves=10, threads=1)


def run_web(a):
    slopes = {}
    for documents in map(int, a.documents.split(",")):
        ours, theirs = make(a, documents)
        for threads in map(int, a.threads.split(",")):
            cpu = compare(a, f"web {documents} 100x31, {threads} threads", ours, theirs, trees=100, leaves=31, threads=threads)
            slopes.setdefault(threads, []).append((math.log(documents), math.log(cpu)))
    for threads, points in slopes.items():
        if len(points) > 1:
            print(f"slope of log CPU-s by log documents, {threads} threads: {statistics.linear_regression(*zip(*points)).slope:.3f}")


def run_synth(a):
    text, cache, binary = (a.out / f"synth-{a.queries}.{ending}" for ending in ("txt", "lwd", "bin"))
    if not binary.exists():
        made = ["--shape", "mq2008", "--queries", str(a.queries), "--docs", "100", "--features", "136"]
        subprocess.run([a.listwise, "data", "synth", "--quiet", *made, "--out", cache], check=True)
        subprocess.run([a.listwise, "data", "convert", "--quiet", cache, "--out", text], check=True)
        save_binary(binary, letor.read(text))
    for threads in map(int, a.threads.split(",")):
        for norm in ("none", "both"):
            b = copy.copy(a)
            b.measure, b.set = "ndcg", [*a.set, "top=30", f"normalize={norm}"]
            b.lightgbm = f"{a.lightgbm} lambdarank_truncation_level=30 lambdarank_norm={norm == 'both'}".lower()
            compare(b, f"{a.queries} queries, {norm}, {threads} threads", cache, binary, trees=100, leaves=31, threads=threads)
            check_equal(a.out, norm)
        print("load averages", *os.getloadavg(), flush=True)


def check_equal(out: Path, norm: str):
    """Stops if the last two models were trained with different settings, or not with all trees."""
    ours, theirs = json.loads((out / "listwise.json").read_text()), (out / "lightgbm.txt").read_text()
    parameters = dict(line[1:-1].split(": ", 1) for line in theirs.splitlines() if line.startswith("[") and ": " in line)
    equal = {"trees": "num_iterations", "leaves": "num_leaves", "rate": "learning_rate", "bins": "max_bin", "depth": "max_depth", "top": "lambdarank_truncation_level",
             "leaf_documents": "min_data_in_leaf", "leaf_curvature": "min_sum_hessian_in_leaf", "l1": "lambda_l1", "l2": "lambda_l2",
             "least_gain": "min_gain_to_split", "sigma": "sigmoid", "query_fraction": "bagging_fraction", "feature_fraction": "feature_fraction"}
    for mine, yours in equal.items():
        x, y = float(ours["hyperparameters"][mine]), float(parameters[yours])
        if x != y and not (mine == "depth" and x == 0 and y <= 0):
            sys.exit(f"found {mine}={x} and {yours}={y}, expected equal settings")
    if ours["hyperparameters"]["normalize"] != norm or (parameters["lambdarank_norm"] == "1") != (norm == "both"):
        sys.exit(f"found other normalisations than {norm}")
    trees = theirs.count("\nTree="), ours["training"]["iterations"]
    if trees != (100, 100):
        sys.exit(f"found {trees} trees, expected 100 of each")


def make(a, documents: int):
    """Makes both programs' files, if they are not there."""
    text, cache, binary = (a.out / f"web-{documents}.{ending}" for ending in ("txt", "lwd", "bin"))
    if not (cache.exists() and binary.exists()):
        data = web.generate(documents)
        web.write(text, data, letor=True)
        subprocess.run([a.listwise, "data", "convert", "--quiet", text, "--out", cache], check=True)
        save_binary(binary, data)
    return cache, binary


def save_binary(binary: Path, data: letor.Data):
    import lightgbm

    binary.unlink(missing_ok=True)
    lightgbm.Dataset(data.x, data.grades, group=data.sizes, params={"verbosity": -1}).save_binary(binary)


def compare(a, what: str, ours: Path, theirs: Path, trees: int, leaves: int, threads: int) -> float:
    """Measures both programs in turn; returns the CPU seconds of listwise."""
    library = Path(importlib.util.find_spec("lightgbm").origin).parent / "lib" / "lib_lightgbm.so"
    sets = [f"trees={trees}", f"leaves={leaves}", "rate=0.1", "bins=255", *a.set]
    listwise = [shutil.which(a.listwise), "train", "--quiet", "--no-record", "--method", "lambdamart", "--train", ours, "--model", a.out / "listwise.json"]
    listwise += [word for s in sets for word in ("--set", s)] + ["--measure", a.measure]
    parameters = f"num_leaves={leaves} learning_rate=0.1 max_bin=255 num_threads={threads} {a.lightgbm}"
    lightgbm = [sys.executable, "-I", "-S", HERE / "lightgbm_process.py", library, theirs, a.out / "lightgbm.txt", str(trees), parameters]
    turns = [(measure(listwise, threads), measure(lightgbm, threads)) for _ in range(a.repeats)]
    line, medians = f"{what:28}", []
    for k in range(3):
        x, y = (statistics.median(turn[side][k] for turn in turns) for side in (0, 1))
        medians.append(x)
        line += f" {x:7.2f}:{y:<7.2f}{x / y:4.2f}" if k < 2 else f" {x:7.0f}:{y:<7.0f}{x / y:4.2f}"
    print(line, flush=True)
    return medians[0]


def measure(command, threads: int):
    """CPU seconds, seconds and MB of a process."""
    small = [sys.executable, "-I", "-S", HERE / "measured.py"]
    return [float(word) for word in subprocess.check_output([*small, *command], env={**os.environ, "GOMAXPROCS": str(threads)}).split()]


if __name__ == "__main__":
    main()

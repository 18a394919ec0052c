"""Measures CPU seconds, seconds by the clock and peak memory of training boosted trees, beside
LightGBM with as many trees, leaves, bins and threads and the same rate.

    V/bin/python tools/trees/speed.py --listwise ./listwise --out R folds OHSUMED/Fold1 MQ2008/Fold1
    V/bin/python tools/trees/speed.py --listwise ./listwise --out R web --documents 10000,100000,1000000 --threads 1,2

Each measurement is of a whole process, reading included; the programs take turns, and a line
shows medians over the turns. `folds` reads text; `web` makes data (web.py) and reads
listwise's .lwd cache and LightGBM's binary file. LightGBM's process is Python's without any
package but its library (lightgbm_process.py).
"""

import argparse
import importlib.util
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
    p.add_argument("--lightgbm", default="", help="further parameters of LightGBM, name=value, separated by blanks")
    commands = p.add_subparsers(required=True)
    folds = commands.add_parser("folds", help="train.txt of folds: 300 trees of 10 leaves")
    folds.add_argument("fold", type=Path, nargs="+")
    folds.set_defaults(run=run_folds)
    of_web = commands.add_parser("web", help="made data: 100 trees of 31 leaves")
    of_web.add_argument("--documents", default="10000,100000,1000000")
    of_web.add_argument("--threads", default="1,2")
    of_web.set_defaults(run=run_web)
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


def make(a, documents: int):
    """Makes both programs' files, if they are not there."""
    import lightgbm

    text, cache, binary = (a.out / f"web-{documents}.{ending}" for ending in ("txt", "lwd", "bin"))
    if not (cache.exists() and binary.exists()):
        data = web.generate(documents)
        web.write(text, data, letor=True)
        subprocess.run([a.listwise, "data", "convert", "--quiet", text, "--out", cache], check=True)
        binary.unlink(missing_ok=True)
        lightgbm.Dataset(data.x, data.grades, group=data.sizes, params={"verbosity": -1}).save_binary(binary)
    return cache, binary


def compare(a, what: str, ours: Path, theirs: Path, trees: int, leaves: int, threads: int) -> float:
    """Measures both programs in turn; returns the CPU seconds of listwise."""
    library = Path(importlib.util.find_spec("lightgbm").origin).parent / "lib" / "lib_lightgbm.so"
    sets = [f"trees={trees}", f"leaves={leaves}", "rate=0.1", "bins=255", *a.set]
    listwise = [shutil.which(a.listwise), "train", "--quiet", "--no-record", "--method", "lambdamart", "--train", ours, "--model", a.out / "listwise.json"]
    listwise += [word for s in sets for word in ("--set", s)]
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

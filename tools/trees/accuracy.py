"""Compares the boosted trees of listwise with LightGBM, XGBoost and CatBoost on five folds.

Every program tries the same number of settings on each fold and grows at most the same number of
trees. The setting and the number of trees are chosen on the fold's validation part, by the
reported measure or, for equal scores, its expectation. A setting ends 100 trees after its best
tree, as listwise does by default. The chosen model scores the test part once. listwise evaluates
all score files and tests the differences query by query.

    python -m venv V && V/bin/pip install -r tools/trees/requirements.txt
    V/bin/python tools/trees/accuracy.py --data OHSUMED --listwise ./listwise --out R

With bag=B, B sequences of trees are grown in parallel, so such a system has B times as many trees.

R gets MEASURE/SYSTEM/FoldK.scores, .vali.scores and .queries.csv, the choices in
MEASURE/choices.csv, and the table in accuracy.csv. Existing results are not made again. With
--variant bag=5 every method of listwise is tuned a second time with that setting in its whole
grid, as the system METHOD-bag5. With --average N (or all) every system occurs a second time, as
SYSTEM-meanN. Its scores are the means of its N settings that are best on validation data, by
"listwise tune --average" or by the same rule in this script. The system of listwise that is best
on the test parts is tested against every system of the other programs.
"""

import argparse
import csv
import json
import math
import resource
import subprocess
import time
from pathlib import Path

import numpy as np

import letor
import peers

MEASURES = ["map", "ndcg@10"]


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--data", type=Path, required=True, help="folder with Fold1 … FoldK of train.txt, vali.txt and test.txt")
    p.add_argument("--out", type=Path, required=True, help="folder for results")
    p.add_argument("--listwise", default="listwise", help="the program")
    p.add_argument("--methods", default="lambdamart,mart", help="methods of listwise, separated by commas, tuned over their own grids")
    p.add_argument("--grid", action="append", default=[], help="of listwise, name=a,b: in place of a hyperparameter's own; may be repeated")
    p.add_argument("--variant", action="append", default=[], help="name=value: tune listwise's methods with this setting too; may be repeated")
    p.add_argument("--average", default="", help="a number of settings, or all: each system again as the mean of the scores of its best settings")
    p.add_argument("--peers", default=",".join(peer.name for peer in peers.PEERS), help="what to compare them with")
    p.add_argument("--trees", type=int, default=300)
    p.add_argument("--patience", type=int, default=100)
    return p.parse_args()


def main():
    a = arguments()
    chosen = [peer for peer in peers.PEERS if peer.name in a.peers.split(",")]
    folds = sorted(a.data.glob("Fold*"))
    describe(a, chosen)
    for peer in chosen:
        tune(a, peer, folds)
    ours = {f"{method}{'-' + v.replace('=', '') if v else ''}": (method, v) for v in ["", *a.variant] for method in a.methods.split(",")}
    for system, (method, variant) in ours.items():
        learn(a, system, method, variant, folds)
    theirs = [peer.name for peer in chosen]
    if a.average:
        for system, (method, variant) in list(ours.items()):
            learn(a, system, method, variant, folds, a.average)
            ours[averaged(a, system)] = (method, variant)
        theirs += [averaged(a, name) for name in theirs]
    means = table(a, [*ours, *theirs], folds)
    for measure in MEASURES:
        best = max(ours, key=lambda system: means[system, measure])
        print(f"\n{measure}, chosen by validation {measure}: {best}, the best of ours on the test parts, against each", flush=True)
        subprocess.run([a.listwise, "compare", "--quiet", "--data", a.data, "--measure", measure, "--baseline", best,
                        *(f"{s}={a.out / measure / s}" for s in [best, *theirs])], check=True)


def averaged(a, system: str) -> str:
    """The name of the system that is the mean of a system's best settings."""
    return f"{system}-mean{a.average}"


def learn(a, system: str, method: str, variant: str, folds, average: str = ""):
    """Tunes a method of listwise by each measure; with an average, from the trainings there are."""
    began = resource.getrusage(resource.RUSAGE_CHILDREN)
    for measure in MEASURES:
        into = a.out / measure / system.replace(method, "listwise", 1)
        name, more = system, []
        if average:
            trained, into = into / method / "jobs", Path(f"{into}-mean{average}")
            name, more = averaged(a, system), ["--average", average]
            jobs = into / method / "jobs"
            if not jobs.exists():
                jobs.parent.mkdir(parents=True, exist_ok=True)
                jobs.symlink_to(trained.resolve())
        limits = [f"trees={a.trees}", f"patience={a.patience}"]
        grids = [word for g in [*limits, *a.grid, variant] if g for word in ("--grid", g)]
        subprocess.run([a.listwise, "tune", "--convention", "letor3", "--quiet", "--no-record", "--method", method, "--scorer", "trees", "--data", a.data, "--select", measure,
                        "--measures", ",".join(MEASURES), "--jobs", "1", *grids, *more, "--out", into], check=True, stdout=subprocess.DEVNULL)
        link = a.out / measure / name
        if not link.exists():
            link.symlink_to(Path(into.name) / method)
    took = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = took.ru_utime + took.ru_stime - began.ru_utime - began.ru_stime
    print(f"  {name}: {spent / len(folds) / len(MEASURES):.1f} CPU-s a fold", flush=True)


def describe(a, chosen):
    """Prints the grids of all."""
    print(f"data {a.data.name}; up to {a.trees} trees, the best number on validation data; one thread")
    for method in a.methods.split(","):
        about = json.loads(subprocess.check_output([a.listwise, "methods", method, "--scorer", "trees", "--format", "json"]))
        grid = {h["name"]: h["grid"] for h in about["hyperparameters"] if h.get("grid")}
        grid.update((name, values.split(",")) for name, values in (g.split("=", 1) for g in a.grid))
        show(method, subprocess.check_output([a.listwise, "version"], text=True).split("\n")[0], {}, grid)
    for variant in a.variant:
        print(f"  and each of these with {variant}")
    for peer in chosen:
        show(peer.name, peer.version, peer.fixed, peer.grid)
    print(flush=True)


def show(name, version, fixed, grid):
    settings = math.prod(len(v) for v in grid.values())
    words = [f"{k}={v}" for k, v in fixed.items()] + [f"{k}={','.join(map(str, v))}" for k, v in grid.items()]
    print(f"  {name} ({version}), {settings} settings: {' '.join(words)}")


def tune(a, peer, folds):
    """Writes the scores of each fold's choice, and of the average of its best settings, by each measure."""
    for fold in folds:
        names = [peer.name, averaged(a, peer.name)] if a.average else [peer.name]
        if all((a.out / m / name / f"{fold.name}.scores").exists() for m in MEASURES for name in names):
            continue
        began = time.process_time()
        train, vali, test = (letor.read(fold / f"{part}.txt") for part in ("train", "vali", "test"))
        tried = {measure: [] for measure in MEASURES}
        for setting in peer.settings():
            on_vali, on_test = peer.staged({**peer.fixed, **setting}, a.trees, train, [vali, test])
            for measure, by_tree in letor.values(vali, on_vali).items():
                at = best_round(by_tree, a.patience)
                tried[measure].append((by_tree[at], setting, at + 1, on_vali[at], on_test[at]))
        for measure, settings in tried.items():
            settings.sort(key=lambda t: -t[0])
            value, setting, trees, on_vali, on_test = settings[0]
            folder = a.out / measure / peer.name
            folder.mkdir(parents=True, exist_ok=True)
            check(a, fold, folder, measure, on_vali, value)
            write(folder / f"{fold.name}.scores", on_test)
            with open(a.out / measure / "choices.csv", "a", newline="") as f:
                csv.writer(f).writerow([peer.name, fold.name, f"{value:.6f}", trees, *(f"{k}={v}" for k, v in setting.items())])
            if a.average:
                best = settings if a.average == "all" else settings[: int(a.average)]
                folder = a.out / measure / averaged(a, peer.name)
                folder.mkdir(parents=True, exist_ok=True)
                write(folder / f"{fold.name}.scores", np.mean([t[4] for t in best], axis=0))
        print(f"  {peer.name} {fold.name}: {time.process_time() - began:.0f} CPU-s", flush=True)


def best_round(by_tree: np.ndarray, patience: int) -> int:
    """The first best round, of those up to one that has none better in so many before it."""
    best = 0
    for i, value in enumerate(by_tree):
        if value > by_tree[best]:
            best = i
        elif i - best >= patience:
            break
    return best


def write(path: Path, scores):
    path.write_text("".join(f"{s!r}\n" for s in scores.tolist()))


def check(a, fold, folder, measure, scores, expected):
    """Fails if listwise finds another validation value than the choice was made by."""
    path = folder / f"{fold.name}.vali.scores"
    write(path, scores)
    found = evaluate(a, fold / "vali.txt", path, measure)["tie_neutral"][measure]
    if abs(found - expected) > 1e-6:
        raise SystemExit(f"{path}: {measure} is {found} by listwise, expected {expected}")


def evaluate(a, data, scores, measure, *flags) -> dict:
    command = [a.listwise, "eval", "--convention", "letor3", "--quiet", "--no-record", "--format", "json", "--data", data, "--scores", scores, "--measures", measure, *flags]
    return json.loads(subprocess.check_output(command))


def table(a, systems, folds):
    """Prints, writes and returns the means over folds, and writes the values of every query."""
    means = {}
    with open(a.out / "accuracy.csv", "w", newline="") as f:
        rows = csv.writer(f)
        rows.writerow(["system", "measure", *(fold.name for fold in folds), "mean"])
        for system in systems:
            line = f"  {system:20}"
            for measure in MEASURES:
                folder = a.out / measure / system
                values = []
                for fold in folds:
                    to = ["--per-query", folder / f"{fold.name}.queries.csv"]
                    values.append(evaluate(a, fold / "test.txt", folder / f"{fold.name}.scores", measure, *to)["measures"][measure])
                means[system, measure] = np.mean(values)
                rows.writerow([system, measure, *values, means[system, measure]])
                line += f"  {measure} {np.mean(values):.4f} ({' '.join(f'{v:.4f}' for v in values)})"
            print(line, flush=True)
    return means


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Checks that the program keeps --max-memory.

The script makes three caches by the program: many queries, very many short queries, and a single query of 200,000
documents. It runs trainings and other commands on them with limits from 256 MiB on, including limits at which a
learner's memory just fits. Each process runs in a control group without a limit. The script compares the process's
peak of anonymous memory with --max-memory. A command that reports that it needs more, with the status for bad
usage, keeps its limit.

    tools/scale/limits.py --listwise ./listwise --dir /var/tmp/limits [--all]

The script prints every run that used more memory, or with --all every run. The exit code is 1 if there was one, or
a command failed otherwise. The script needs root and control groups. Without them it says so and its exit code is
0. Python 3.9 or later, no packages.
"""
import argparse
import os
import shutil
import sys

import bounded

TRAININGS = [
    ["listnet", "--set", "iterations=2"],
    ["lambdarank", "--scorer", "net", "--set", "epochs=1"],
    ["lambdamart", "--set", "trees=2"],
    ["lambdamart", "--set", "trees=2", "--set", "boosting=dart"],
    ["rankboost", "--set", "rounds=3"],
    ["prank", "--set", "epochs=1"],
    ["adarank", "--set", "rounds=3"],
]
REFUSED = 2  # the status of data that do not fit


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--listwise", required=True, help="the program")
    p.add_argument("--dir", required=True, help="folder for the data, made and removed")
    p.add_argument("--all", action="store_true", help="print every run")
    o = p.parse_args()
    try:
        bounded.Group(1 << 40).remove()
    except OSError as e:
        print("no control group can be made (%s): nothing was measured" % e)
        return 0
    os.makedirs(o.dir)
    bounded.work = os.environ["TMPDIR"] = o.dir
    try:
        return measure(o)
    finally:
        shutil.rmtree(o.dir)


def measure(o):
    many, short, long, model = (os.path.join(o.dir, n) for n in ("many.lwd", "short.lwd", "long.lwd", "model.json"))
    synth = [o.listwise, "-q", "data", "synth", "--shape", "ohsumed"]
    for more in (["--queries", "9200", "--docs", "120", "--features", "136", "--out", many],
                 ["--queries", "250000", "--docs", "6", "--relevant", "2", "--features", "20", "--out", short],
                 ["--queries", "1", "--docs", "200000", "--features", "40", "--out", long]):
        if bounded.run(synth + more)[0]:
            raise SystemExit("the data could not be made")
    wrong = runs = refused = 0

    def under(mib, args):
        nonlocal wrong, runs, refused
        for _ in range(2):  # how fast garbage is collected depends on what else the machine does: who is above twice is above
            group = bounded.Group(1 << 40)
            code, wall, _, anon, _, _, said = bounded.run([o.listwise, "-q"] + args + ["--max-memory", str(mib / 1024)], group)
            group.remove()
            if anon <= mib << 20:
                break
        too_large = code == REFUSED and "raise the limit" in said
        bad = anon > mib << 20 or code and not too_large
        wrong, runs, refused = wrong + bool(bad), runs + 1, refused + too_large
        if bad or o.all:
            print("%4d MiB: status %d, %6.1f MB above, %5.1f s: %s: %s" % (mib, code, anon / 1e6 - mib * 1.048576, wall, " ".join(args), said.strip()[-200:]), flush=True)

    other = os.path.join(o.dir, "other.json")
    train = ["train", "--no-record", "--model", other, "--train"]
    for method in TRAININGS:
        for mib in (256, 320, 448, 640):
            under(mib, train + [many, "--method"] + method)
        for mib in (256, 384):
            under(mib, train + [short, "--method"] + method)
    for mib in (256, 512):
        for method in (["listnet", "--grid", "C=1", "--refit"], ["rankboost", "--grid", "rounds=2"]):
            folder = os.path.join(o.dir, "tuned")
            under(mib, ["tune", "--no-record", "--data", short, "--folds", "2", "--out", folder, "--method"] + method)
            shutil.rmtree(folder, ignore_errors=True)
        under(mib, ["data", "clean", many, "--out", os.path.join(o.dir, "clean.lwd")])
        under(mib, ["explain", "--model", other, "--permute", "data", "--repeats", "1", "--data", short])
    for mib in (256, 384):
        under(mib, ["train", "--no-record", "--model", model, "--train", long, "--method", "listnet", "--set", "iterations=2"])
        under(mib, train + [long, "--method", "lambdarank", "--scorer", "net", "--set", "epochs=1"])
        under(mib, ["data", "info", long])
        if os.path.exists(model):
            under(mib, ["score", "--model", model, "--data", long, "--out", os.path.join(o.dir, "scores")])
        under(mib, ["data", "convert", long, "--out", os.path.join(o.dir, "long.parquet")])
    print("%d runs, %d of which said that they need more memory; %d took more than their limit or failed" % (runs, refused, wrong))
    return 1 if wrong or refused == runs else 0


if __name__ == "__main__":
    sys.exit(main())

"""Checks the value that "listwise auto" expects on other queries, and its interval, on synthetic sets of sets.py.

    python tools/auto/truth.py --listwise ./listwise --out R

For each set and draw, auto learns from 200 queries. The deployed model is then measured on 5,000 other queries.
The table has the number of runs whose 95 % interval contains this value. z is auto's value minus this value,
divided by the interval's half width and multiplied by 1.96. If auto's value is unbiased, the mean of z is near 0.
If the interval is neither too wide nor too narrow, its standard deviation is near 1. R/SET/auto/DRAW.json has a run:
existing runs are not repeated.
"""

import argparse
import json
import statistics
import tempfile
from pathlib import Path

import beside
import bench
import sets


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--out", type=Path, required=True, help="folder for results")
    p.add_argument("--listwise", default="./listwise", help="the program")
    p.add_argument("--names", default=",".join(sets.MADE), help="sets, separated by commas")
    p.add_argument("--draws", default="11-16", help="first and last draw of queries")
    p.add_argument("--queries", type=int, default=200, help="queries for training")
    p.add_argument("--trials", type=int, default=8, help="trials of auto")
    p.add_argument("--threads", type=int, default=2, help="of auto")
    return p.parse_args()


def main():
    a = arguments()
    first, last = map(int, a.draws.split("-"))
    runs = {name: [] for name in a.names.split(",")}
    for draw in range(first, last + 1):
        for name in runs:
            file = a.out / name / "auto" / f"{draw}.json"
            if not file.exists():
                with tempfile.TemporaryDirectory() as folder:
                    sets.make(Path(folder) / name, name, draw, (a.queries, 5_000))
                    case = next(bench.cases(Path(folder), [name]))
                    beside.auto(a, case, draw, "auto", ["--trials", str(a.trials)])
            runs[name].append(json.loads(file.read_text()))
    print("| set | runs | value within interval | mean of z | sd of z |\n|---|---:|---:|---:|---:|")
    for name, of in [*runs.items(), ("all", sum(runs.values(), []))]:
        inside, z = 0, []
        for run in of:
            value, expected = bench.mean(run["values"]), run["results"]["nested"]
            low, high = expected["ci"]
            inside += low <= value <= high
            z.append((expected["value"] - value) / ((high - low) / 2 / 1.96))
        print(f"| {name} | {len(of)} | {inside} | {statistics.fmean(z):+.2f} | {statistics.stdev(z) if len(z) > 1 else float('nan'):.2f} |")


if __name__ == "__main__":
    main()

"""Measures "listwise auto" on five folds over several seeds, and the best single trial for comparison.

    python tools/auto/seeds.py --listwise ./listwise --data MQ2008 --out R/mq2008 --trials 60 --seeds 1-3

auto writes to R/mq2008-SEED. If the folder exists, the run resumes. The first table has the mean over folds for
every seed, and the mean and standard deviation over seeds. The second table is the output of "listwise compare",
query by query, for values averaged over seeds. Needs only Python's standard library.
"""

import argparse
import json
import statistics
import subprocess

MEASURES = ["map", "ndcg@10"]


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--listwise", default="./listwise", help="the program")
    p.add_argument("--data", required=True, help="folder with Fold1 … FoldK")
    p.add_argument("--out", required=True, help="where results go: -SEED is added")
    p.add_argument("--trials", type=int, required=True)
    p.add_argument("--seeds", default="1-3", help="first and last")
    return p.parse_args()


def main():
    a = arguments()
    first, last = map(int, a.seeds.split("-"))
    runs = []
    for seed in range(first, last + 1):
        out = f"{a.out}-{seed}"
        text = subprocess.run(
            [a.listwise, "auto", "--convention", "letor3", "--data", a.data, "--out", out, "--trials", str(a.trials), "--seed", str(seed), "--format", "json", "--quiet"],
            check=True, capture_output=True, text=True,
        ).stdout
        runs.append(json.loads(text))
    names = [s["system"] for s in runs[0]["systems"]]
    print(f"| system | measure | {' | '.join(f'seed {s}' for s in range(first, last + 1))} | mean | sd |")
    print("|---|---|" + "---:|" * (len(runs) + 2))
    for i, name in enumerate(names):
        for m in MEASURES:
            values = [r["systems"][i]["measures"][m]["mean"] for r in runs]
            spread = statistics.stdev(values) if len(values) > 1 else float("nan")
            cells = [f"{v:.4f}" for v in [*values, statistics.mean(values), spread]]
            print(f"| {name} | {m} | {' | '.join(cells)} |")
    print(flush=True)
    systems = [f"{n}={a.out}-{{seed}}/folds/{n}" for n in names]
    subprocess.run(
        [a.listwise, "compare", "--data", a.data, "--baseline", names[0], "--measures", ",".join(MEASURES), "--seeds", a.seeds, "--format", "markdown", "--quiet", *systems],
        check=True,
    )


if __name__ == "__main__":
    main()

"""Document weights for grades from clicks: test NDCG@10 of models that learn from simulated clicks.

    python weights.py --listwise BINARY --folds FOLDER [--fold 1,2,3]

FOLDER has Fold1 to Fold5 in LETOR's layout. The production ranker is the best single feature. Users click on 20,000
pages of a fold's training queries (position-based model, 1/rank). The grades are those of "clicks judge --model pbm".
"""

import argparse
import csv
import json
import os
import subprocess
import tempfile

WEIGHTS = {
    "none": lambda r, e: 1,
    "1/variance": lambda r, e: 1 / variance(r),
    "examinations": lambda r, e: e,
    "e/(e+5)": lambda r, e: e / (e + 5),
}


def variance(row):
    """Of the Beta distribution, from its interval of 95 %."""
    return ((float(row["high"]) - float(row["low"])) / 3.92) ** 2


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--listwise", required=True)
    parser.add_argument("--folds", required=True)
    parser.add_argument("--fold", default="1,2,3,4,5")
    args = parser.parse_args()
    listwise, folds = os.path.abspath(args.listwise), os.path.abspath(args.folds)
    os.chdir(tempfile.mkdtemp())

    def run(*words):
        return subprocess.run([listwise, *words, "--quiet"], check=True, capture_output=True, text=True).stdout

    found = {}
    for fold in args.fold.split(","):
        train, test = (f"{folds}/Fold{fold}/{part}.txt" for part in ("train", "test"))
        run("data", "convert", train, "--out", "train.csv")
        run("train", "--no-record", "--method", "singlefeature", "--train", train, "--model", "production.json")
        for noise in "0.1", "0.5":
            run("clicks", "simulate", "--data", "train.csv", "--model", "production.json", "--order", "noise:" + noise,
                "--pages", "20000", "--seed", fold, "--out", "pages.jsonl.gz")
            run("clicks", "judge", "--model", "pbm", "pages.jsonl.gz", "--out", "grades.csv")
            with open("grades.csv") as file:
                rows = list(csv.DictReader(file))
            for name, weight in WEIGHTS.items():
                with open("weighted.csv", "w", newline="") as file:
                    out = csv.writer(file)
                    out.writerow(["query", "doc", "grade", "document_weight"])
                    out.writerows([r["query"], r["doc"], r["grade"], weight(r, float(r["examinations"]))] for r in rows)
                run("data", "join", "train.csv", "--judgements", "weighted.csv", "--unjudged", "drop", "--out", "clicked.csv")
                for method in "lambdamart", "mart":
                    run("train", "--no-record", "--method", method, "--set", "trees=60", "--train", "clicked.csv", "--model", "model.json")
                    result = json.loads(run("eval", "--data", test, "--model", "model.json", "--measures", "ndcg@10", "--format", "json"))
                    found.setdefault((noise, method, name), []).append(result["measures"]["ndcg@10"])
    print(f"| noise | method | {' | '.join(WEIGHTS)} |")
    print("|---|---|" + "---|" * len(WEIGHTS))
    for noise in "0.1", "0.5":
        for method in "lambdamart", "mart":
            means = (sum(v) / len(v) for v in (found[noise, method, name] for name in WEIGHTS))
            print(f"| {noise} | {method} | {' | '.join(f'{m:.4f}' for m in means)} |")


if __name__ == "__main__":
    main()

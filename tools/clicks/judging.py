"""Grades from simulated clicks: test NDCG@10 of models that learn from them, by click model and document weight.

    python judging.py --listwise BINARY --folds FOLDER [--fold 1,2,3]

FOLDER has Fold1 to Fold5 in LETOR's layout. The production ranker is the best single feature. Users click on 20,000
pages of a fold's training queries. The grades are those of "clicks judge".
"""

import argparse
import csv
import json
import os
import subprocess
import tempfile

CLICKS = ["pbm:eta=1", "dbn:stop=0,.5,.9,continue=.9", "ccm"]
MODELS = ["dctr", "pbm", "ubm", "dcm", "sdbn", "dbn", "ccm"]
WEIGHTS = {
    "none": lambda r, e: 1,
    "1/variance": lambda r, e: 1 / variance(r),
    "examinations": lambda r, e: e,
    "e/(e+5)": lambda r, e: e / (e + 5),
}


def variance(row):
    """Of the Beta distribution, from its interval of 95 %."""
    return ((float(row["high"]) - float(row["low"])) / 3.92) ** 2


class Study:
    def __init__(self, listwise, folds, fold):
        self.listwise, self.fold = listwise, fold
        train, self.test = (f"{folds}/Fold{fold}/{part}.txt" for part in ("train", "test"))
        self.run("data", "convert", train, "--out", "train.csv")
        self.run("train", "--no-record", "--method", "singlefeature", "--train", train, "--model", "production.json")

    def run(self, *words):
        return subprocess.run([self.listwise, *words, "--quiet"], check=True, capture_output=True, text=True).stdout

    def simulate(self, order, click):
        self.run("clicks", "simulate", "--data", "train.csv", "--model", "production.json", "--order", order, "--click", click,
                 "--pages", "20000", "--seed", self.fold, "--out", "pages.jsonl.gz")

    def judge(self, model):
        self.run("clicks", "judge", "--model", model, "pages.jsonl.gz", "--out", "grades.csv")

    def learn(self, method, grades="grades.csv"):
        self.run("data", "join", "train.csv", "--judgements", grades, "--unjudged", "drop", "--out", "clicked.csv")
        self.run("train", "--no-record", "--method", method, "--set", "trees=60", "--train", "clicked.csv", "--model", "model.json")
        result = self.run("eval", "--data", self.test, "--model", "model.json", "--measures", "ndcg@10", "--format", "json")
        return json.loads(result)["measures"]["ndcg@10"]

    def weights(self, found):
        for noise in "0.1", "0.5":
            self.simulate("noise:" + noise, CLICKS[0])
            self.judge("pbm")
            with open("grades.csv") as file:
                rows = list(csv.DictReader(file))
            for name, weight in WEIGHTS.items():
                with open("weighted.csv", "w", newline="") as file:
                    out = csv.writer(file)
                    out.writerow(["query", "doc", "grade", "document_weight"])
                    out.writerows([r["query"], r["doc"], r["grade"], weight(r, float(r["examinations"]))] for r in rows)
                for method in "lambdamart", "mart":
                    found.setdefault((noise, method), {}).setdefault(name, []).append(self.learn(method, "weighted.csv"))

    def models(self, found):
        for order in "fixed", "noise:0.3":
            for click in CLICKS:
                self.simulate(order, click)
                for model in MODELS:
                    self.judge(model)
                    found.setdefault((order, click.split(":")[0]), {}).setdefault(model, []).append(self.learn("mart"))


def table(names, columns, found):
    print(f"| {' | '.join(names)} | {' | '.join(columns)} |")
    print("|---" * (len(names) + len(columns)) + "|")
    means = {key: [sum(row[c]) / len(row[c]) for c in columns] for key, row in found.items()}
    for key, row in means.items():
        print(f"| {' | '.join(key)} | {' | '.join(f'{m:.4f}' for m in row)} |")
    mean = [sum(row[i] for row in means.values()) / len(means) for i in range(len(columns))]
    print(f"| mean | {'| ' * (len(names) - 1)}{' | '.join(f'{m:.4f}' for m in mean)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--listwise", required=True)
    parser.add_argument("--folds", required=True)
    parser.add_argument("--fold", default="1,2,3,4,5")
    args = parser.parse_args()
    listwise, folds = os.path.abspath(args.listwise), os.path.abspath(args.folds)
    os.chdir(tempfile.mkdtemp())
    weights, models = {}, {}
    for fold in args.fold.split(","):
        study = Study(listwise, folds, fold)
        study.weights(weights)
        study.models(models)
    table(["noise", "method"], list(WEIGHTS), weights)
    print()
    table(["order", "clicks"], MODELS, models)


if __name__ == "__main__":
    main()

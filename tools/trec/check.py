"""Compares what listwise measures of runs with trec_eval (by pytrec_eval) and ir_measures.

    python -m venv V && V/bin/pip install -r tools/trec/requirements.txt
    V/bin/python tools/trec/check.py --listwise ./listwise

Judgements and runs are random: graded documents, some of them never retrieved, unjudged documents,
equal scores and scores that differ beyond 32 bits only, queries without documents or without
judgements, negative grades, and ranks that contradict the scores. Every value of every query is
compared, by the names of the other program, under listwise's defaults for judgements, and may differ
by 1e-12. ir_measures gets runs without equal scores.
"""

import argparse
import csv
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import ir_measures
import pytrec_eval

# Names of trec_eval, and how pytrec_eval is asked for them.
TREC_EVAL = [
    "map", "ndcg", "bpref", "recip_rank", "Rprec", "ndcg_cut_1", "ndcg_cut_5", "ndcg_cut_10", "ndcg_cut_100", "P_1", "P_5", "P_10", "P_30",
    "recall_5", "recall_10", "recall_100", "map_cut_5", "map_cut_10", "success_1", "success_5", "success_10",
]
# Names of ir_measures.
IR_MEASURES = ["AP", "AP@10", "AP(rel=2)", "nDCG", "nDCG@10", "P@5", "P(rel=2)@5", "R@10", "R(rel=2)@10", "RR", "RR@10", "RR(rel=2)@10", "Rprec", "Bpref", "Success@5", "Judged@10"]


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--listwise", default="listwise", help="the program")
    p.add_argument("--cases", type=int, default=60, help="random judgements and runs")
    p.add_argument("--seed", type=int, default=1)
    return p.parse_args()


def draw(rng):
    """Returns judgements and a run, each query → document → number."""
    queries = [f"q{i}" for i in range(rng.randint(1, 12))]
    documents = [f"D-{i}" for i in range(rng.randint(5, 150))] + ["é1", "z#2", "ab:c"]
    qrels, run = {}, {}
    levels = rng.choice([[0, 1], [0, 0, 0, 1, 2], [-1, 0, 1, 2, 3], [0]])
    for q in queries:
        judged = rng.sample(documents, rng.randint(1, len(documents)))
        qrels[q] = {d: rng.choice(levels) for d in judged}
        if rng.random() < 0.9:
            found = rng.sample(documents, rng.randint(1, len(documents)))
            digits = rng.choice([0, 1, 3, 9])
            run[q] = {d: round(rng.gauss(0, 3) + 0.5 * qrels[q].get(d, 0), digits) for d in found}
    run["not judged"] = {d: 1.0 for d in documents[:3]}
    if all(q not in run for q in queries):
        run[queries[0]] = {documents[0]: 1.0}
    return qrels, run


def without_ties(run):
    """Returns the run with different scores: ir_measures asks several programs, whose rules for ties differ."""
    return {q: {d: float(i) for i, d in enumerate(sorted(docs, key=lambda d: (docs[d], d)))} for q, docs in run.items()}


def write(folder, qrels, run, rng):
    lines = [f"{q} 0 {d} {g}" for q, docs in qrels.items() for d, g in docs.items()]
    rng.shuffle(lines)
    (folder / "qrels").write_text("\n".join(lines) + "\n", encoding="utf-8")
    lines = [f"{q.replace(' ', '_')} Q0 {d} {rng.randint(0, 999)} {s!r} tag" for q, docs in run.items() for d, s in docs.items()]
    rng.shuffle(lines)
    (folder / "run").write_text("\n".join(lines) + "\n", encoding="utf-8")


def listwise(program, folder, names):
    """Returns the values of every query, and the means, in the order of the names."""
    out = folder / "values.csv"
    command = [program, "eval", "--no-record", "--quiet", "--negative-grades", "drop", "--data", folder / "qrels", "--scores", folder / "run",
               "--measures", ",".join(names), "--per-query", out]
    means = list(csv.DictReader(run_program([*command, "--format", "csv"]).splitlines()))
    summary = json.loads(run_program([*command, "--format", "json"]))
    if summary["convention"] != "trec" or summary["ties"] != "trec":
        sys.exit(f"the defaults are {summary['convention']}, ties {summary['ties']}")
    with open(out, encoding="utf-8", newline="") as f:
        queries = list(csv.reader(f))[1:]
    return {q[0]: [float(v) for v in q[1:]] for q in queries}, [float(row["mean"]) for row in means]


def run_program(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"listwise: {done.stderr}")
    return done.stdout


def trec_eval(qrels, run):
    """Returns pytrec_eval's values, query by query; a query without documents counts 0, as by trec_eval -c."""
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(TREC_EVAL))
    found = evaluator.evaluate({q: docs for q, docs in run.items() if q in qrels})
    return {q: [found[q][name] if q in found else 0.0 for name in TREC_EVAL] for q in qrels}


def by_ir_measures(qrels, run):
    measures = [ir_measures.parse_measure(name) for name in IR_MEASURES]
    values = {q: [0.0] * len(measures) for q in qrels}
    for m in ir_measures.iter_calc(measures, qrels, {q: docs for q, docs in run.items() if q in qrels}):
        values[m.query_id][measures.index(m.measure)] = m.value
    return values


class Worst:
    """The largest difference, by measure."""

    def __init__(self, names, limit):
        self.names, self.limit, self.by, self.values = names, limit, [0.0] * len(names), 0

    def compare(self, case, ours, theirs):
        if set(ours) != set(theirs):
            sys.exit(f"case {case}: queries {sorted(ours)} against {sorted(theirs)}")
        for q, values in theirs.items():
            for i, value in enumerate(values):
                difference = abs(value - ours[q][i])
                self.by[i] = max(self.by[i], difference)
                self.values += 1
                if not difference <= self.limit:
                    sys.exit(f"case {case}, query {q}: {self.names[i]} is {ours[q][i]} by listwise, {value} by the other")


def main():
    args = arguments()
    trec, other = Worst(TREC_EVAL, 1e-12), Worst(IR_MEASURES, 1e-12)
    for case in range(args.cases):
        rng = random.Random(args.seed * 1_000_003 + case)
        qrels, run = draw(rng)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write(folder, qrels, run, rng)
            judged = {q: docs for q, docs in ((q, {d: g for d, g in docs.items() if g >= 0}) for q, docs in qrels.items()) if docs}
            ours, means = listwise(args.listwise, folder, TREC_EVAL)
            theirs = trec_eval(judged, run)
            trec.compare(case, ours, theirs)
            for i, mean in enumerate(means):
                expected = sum(values[i] for values in theirs.values()) / len(theirs)
                if not abs(mean - expected) <= 1e-12:
                    sys.exit(f"case {case}: the mean of {TREC_EVAL[i]} is {mean}, not {expected}")
            run = without_ties(run)
            write(folder, qrels, run, rng)
            ours, _ = listwise(args.listwise, folder, IR_MEASURES)
            other.compare(case, ours, by_ir_measures(judged, run))
    for what, worst in (("trec_eval", trec), ("ir_measures", other)):
        print(f"{what}: {worst.values} values of {args.cases} cases, largest difference {max(worst.by):.2g}")
        for measure, difference in zip(worst.names, worst.by):
            print(f"  {measure:14} {difference:.2g}")


if __name__ == "__main__":
    main()

"""Compares the values of listwise's conventions with those of other libraries.

    python -m venv V && V/bin/pip install -r tools/trec/requirements.txt
    V/bin/python tools/trec/check.py --listwise ./listwise

Judgements and runs are random. They have graded documents, of which some are never retrieved, unjudged
documents, equal scores, scores that differ only beyond 32 bits, queries without documents or
without judgements, negative grades, and ranks that contradict the scores. Every value of every
query is compared with trec_eval (by pytrec_eval), ir_measures and ranx, by the names of the other
program, under listwise's defaults for judgements. Values may differ by 1e-12. ir_measures and ranx
get runs without equal scores.

Lists of grades and scores, with equal scores and queries without a relevant document, are compared
with scikit-learn, LightGBM and XGBoost, under the conventions and tie policies that docs/trec.md names.
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
import lightgbm
import numpy as np
import pytrec_eval
import ranx
import xgboost
from sklearn.metrics import dcg_score, ndcg_score, roc_auc_score

# Names of trec_eval, and how pytrec_eval is asked for them.
TREC_EVAL = [
    "map", "ndcg", "bpref", "recip_rank", "Rprec", "ndcg_cut_1", "ndcg_cut_5", "ndcg_cut_10", "ndcg_cut_100", "P_1", "P_5", "P_10", "P_30",
    "recall_5", "recall_10", "recall_100", "map_cut_5", "map_cut_10", "success_1", "success_5", "success_10",
]
# Names of ir_measures.
IR_MEASURES = ["AP", "AP@10", "AP(rel=2)", "nDCG", "nDCG@10", "P@5", "P(rel=2)@5", "R@10", "R(rel=2)@10", "RR", "RR@10", "RR(rel=2)@10", "Rprec", "Bpref", "Success@5", "Judged@10", "nDCG(gains={1:3,2:1})@5"]
# Names of ranx. Its rbp weighs documents by their grades and is compared where these are 0 and 1; its bpref divides by 0 where
# no irrelevant document was judged.
RANX = ["ndcg", "ndcg@10", "ndcg_burges", "ndcg_burges@5", "dcg@5", "dcg_burges@5", "precision@5", "recall@10", "map", "map@10", "map-l2", "mrr", "mrr@3",
        "hit_rate@3", "r-precision"]
RANX_BINARY = ["rbp.95", "rbp.50"]
CUTOFFS = [1, 3, 5, 10, 100]
LIMIT = 1e-12


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


def listwise(program, folder, names, *flags):
    """Returns the values of every query, and the means, in the order of the names."""
    out = folder / "values.csv"
    command = [program, "eval", "--no-record", "--quiet", "--negative-grades", "drop", "--data", folder / "qrels", "--scores", folder / "run",
               "--measures", ",".join(names), "--per-query", out, *flags]
    means = list(csv.DictReader(run_program([*command, "--format", "csv"]).splitlines()))
    summary = json.loads(run_program([*command, "--format", "json"]))
    if not flags and (summary["convention"] != "trec" or summary["ties"] != "trec"):
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
    common = {q: docs for q, docs in run.items() if q in qrels}
    for i, measure in enumerate(measures):  # one at a time: together, the gains of one may be used for another
        for m in ir_measures.iter_calc([measure], qrels, common):
            values[m.query_id][i] = m.value
    return values


def by_ranx(qrels, run, names):
    """Returns ranx's values; a query that the run does not have counts 0."""
    common = [q for q in qrels if q in run]
    values = {q: [0.0] * len(names) for q in qrels}
    found = ranx.evaluate(ranx.Qrels({q: qrels[q] for q in common}), ranx.Run({q: run[q] for q in common}), names, return_mean=False)
    for name in names:
        of = found[name] if len(names) > 1 else found
        for q, value in zip(sorted(common), of):
            values[q][names.index(name)] = float(value)
    return values


def draw_lists(rng):
    """Returns grades and scores of queries of two documents or more; the scores are 32-bit numbers, as XGBoost has them."""
    queries = []
    for _ in range(rng.randint(2, 40)):
        levels = rng.choice([[0, 1, 2, 3, 4], [0, 1, 2, 3, 4], [0, 0, 1], [0]])
        grades = [rng.choice(levels) for _ in range(rng.randint(2, 120))]
        digits = rng.choice([0, 1, 6])
        queries.append((grades, [float(np.float32(round(rng.gauss(0, 1), digits))) for _ in grades]))
    if all(max(grades) == 0 for grades, _ in queries):
        queries[0][0][-1] = 3
    return queries


def write_lists(folder, queries):
    """Writes the lists as LETOR text and a file of scores."""
    lines = [f"{g} qid:{i} 1:0" for i, (grades, _) in enumerate(queries) for g in grades]
    (folder / "qrels").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "run").write_text("\n".join(repr(s) for _, scores in queries for s in scores) + "\n", encoding="utf-8")


def check_sklearn(args, folder, queries):
    """ndcg_score, dcg_score and roc_auc_score: convention trec, ties average."""
    ours, _ = listwise(args.listwise, folder, ["ndcg", "ndcg@5", "dcg@5", "auc"], "--convention", "trec", "--ties", "average")
    worst = 0.0
    for i, (grades, scores) in enumerate(queries):
        theirs = [ndcg_score([grades], [scores]), ndcg_score([grades], [scores], k=5), dcg_score([grades], [scores], k=5)]
        relevant = [int(g >= 1) for g in grades]
        if 0 < sum(relevant) < len(relevant):
            theirs.append(roc_auc_score(relevant, scores))
        worst = max(worst, *(abs(a - b) for a, b in zip(ours[str(i)], theirs)))
    return worst


def constant(predictions, _):
    """An objective under which nothing is learned: scores stay as they are."""
    return np.zeros_like(predictions), np.ones_like(predictions)


def check_lightgbm(args, folder, queries):
    """ndcg@k, and map of whole lists: convention lightgbm, ties input; without queries that have no relevant document, standard too."""
    worst = 0.0
    for conventions, kept in ((["lightgbm"], queries), (["standard", "lightgbm"], [q for q in queries if max(q[0]) > 0])):
        write_lists(folder, kept)
        grades = np.concatenate([g for g, _ in kept])
        data = lightgbm.Dataset(
            np.arange(len(grades))[:, None] % 7, label=grades, group=[len(g) for g, _ in kept],
            init_score=np.concatenate([s for _, s in kept]), params={"verbosity": -1},
        )
        values = {}
        lightgbm.train({"objective": constant, "metric": ["ndcg", "map"], "eval_at": CUTOFFS, "verbosity": -1}, data, 1, valid_sets=[data],
                       callbacks=[lightgbm.record_evaluation(values)])
        theirs = [values["training"][f"ndcg@{k}"][-1] for k in CUTOFFS]
        if max(len(g) for g, _ in kept) <= CUTOFFS[-1]:  # LightGBM divides by min(K, relevant), listwise by all relevant
            theirs.append(values["training"][f"map@{CUTOFFS[-1]}"][-1])
        for convention in conventions:
            _, ours = listwise(args.listwise, folder, [f"ndcg@{k}" for k in CUTOFFS] + ["map"], "--convention", convention, "--ties", "input")
            worst = max(worst, *(abs(a - b) for a, b in zip(ours, theirs)))
    write_lists(folder, queries)
    return worst


def check_xgboost(args, folder, queries):
    """ndcg@k: convention lightgbm; ndcg@k-: standard; with ndcg_exp_gain=False trec; ties input."""
    names, worst = [f"ndcg@{k}" for k in CUTOFFS], 0.0
    data = xgboost.DMatrix(
        np.zeros((sum(len(g) for g, _ in queries), 1)), label=np.concatenate([g for g, _ in queries]), group=[len(g) for g, _ in queries],
        base_margin=np.concatenate([s for _, s in queries]),
    )
    for convention, end, exponential in (("lightgbm", "", True), ("standard", "-", True), ("trec", "-", False)):
        booster = xgboost.train({"objective": "rank:ndcg", "ndcg_exp_gain": exponential, "eval_metric": [name + end for name in names]}, data, 0)
        theirs = [float(part.rsplit(":", 1)[1]) for part in booster.eval(data).split("\t")[1:]]
        _, ours = listwise(args.listwise, folder, names, "--convention", convention, "--ties", "input")
        worst = max(worst, *(abs(a - b) for a, b in zip(ours, theirs)))
    return worst


def check_lists(args):
    """Compares means and values of lists of grades and scores."""
    checks = {"scikit-learn": check_sklearn, "LightGBM": check_lightgbm, "XGBoost": check_xgboost}
    worst = dict.fromkeys(checks, 0.0)
    for case in range(args.cases):
        queries = draw_lists(random.Random(args.seed * 1_000_003 + case))
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_lists(folder, queries)
            for library, check in checks.items():
                worst[library] = max(worst[library], check(args, folder, queries))
                if not worst[library] <= LIMIT:
                    sys.exit(f"case {case}: listwise and {library} differ by {worst[library]}")
    for library, difference in worst.items():
        print(f"{library}: {args.cases} cases, largest difference {difference:.2g}")


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
    trec, other = Worst(TREC_EVAL, LIMIT), Worst(IR_MEASURES, LIMIT)
    third, binary = Worst(RANX, LIMIT), Worst(RANX_BINARY, LIMIT)
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
            ours, _ = listwise(args.listwise, folder, RANX)
            third.compare(case, ours, by_ranx(judged, run, RANX))
            judged = {q: {d: min(g, 1) for d, g in docs.items()} for q, docs in judged.items()}
            write(folder, judged, run, rng)
            ours, _ = listwise(args.listwise, folder, RANX_BINARY)
            binary.compare(case, ours, by_ranx(judged, run, RANX_BINARY))
    for what, worst in (("trec_eval", trec), ("ir_measures", other), ("ranx", third), ("ranx, binary grades", binary)):
        print(f"{what}: {worst.values} values of {args.cases} cases, largest difference {max(worst.by):.2g}")
        for measure, difference in zip(worst.names, worst.by):
            print(f"  {measure:14} {difference:.2g}")
    check_lists(args)


if __name__ == "__main__":
    main()

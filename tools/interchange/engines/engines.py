"""Checks models that listwise writes and reads against the programs they are for.

RankyMcRankFace, Solr's learning-to-rank module, Elasticsearch's inference, ONNX Runtime and
Vespa's evaluator score models that listwise wrote. The documents include ties at thresholds,
extreme values and missing values. listwise scores models that RankyMcRankFace, Solr, scikit-learn
and LIBLINEAR wrote. The exit code is 1 if ranks or scores differ by more than the precision of the format, or if eland's
classes would write another body for Elasticsearch.
"""

import argparse
import base64
import gzip
import itertools
import json
import math
import pathlib
import random
import struct
import subprocess
import sys

import numpy as np
import onnxruntime
from eland.ml._model_serializer import Ensemble, Tree, TreeNode
from eland.ml.ltr import LTRModelConfig, QueryFeatureExtractor
from liblinear import liblinearutil
from sklearn.datasets import make_regression
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge

EXTREMES = [0.0, -0.0, 1.0, -1.0, 0.1, 0.3, 1e-5, float(np.float32(1e-7)), -2.5, 1024.0, float(np.float32(1e30)), -float(np.float32(1e30))]
KINDS = ["trees", "stumps", "linear", "bias", "net", "layers", "standard", "shift", "logistic"]


def f32(v):
    return float(np.float32(v))


def value(rng):
    return f32(rng.choice(EXTREMES)) if rng.random() < 0.2 else f32(rng.gauss(0, 1))


def tree(rng, features, keep):
    """A random tree of a model file, whose nodes say where missing values go if they are kept."""
    t = {"feature": [], "threshold": [], "left": [], "right": [], "missing_left": [], "values": []}

    def grow(depth):
        if depth == 0 or rng.random() < 0.2:
            t["values"].append(f32(rng.gauss(0, 1)))
            return -len(t["values"])
        own = len(t["feature"])
        t["feature"].append(rng.randrange(features) + 1)
        t["threshold"].append(value(rng))
        t["left"].append(0)
        t["right"].append(0)
        if keep and rng.random() < 0.5:
            t["missing_left"].append(own)
        t["left"][own] = grow(depth - 1)
        t["right"][own] = grow(depth - 1)
        return own

    grow(rng.randrange(5))
    return t


def draw(rng, kind, activations):
    """A model file and the thresholds in it."""
    n = rng.randrange(1, 7)
    numbers = lambda count: [f32(rng.gauss(0, 1)) for _ in range(count)]
    file = {"count": n, "names": [f"f{j}" for j in range(n)]}
    thresholds = []
    missing = rng.choice(["", "zero"])
    if kind in ("trees", "shift", "missing", "categories"):
        missing = "keep" if kind == "missing" else missing
        trees = [tree(rng, n, kind == "missing") for _ in range(rng.randrange(1, 8))]
        if kind == "categories":
            for t in trees:
                nodes = [i for i in range(len(t["feature"])) if rng.random() < 0.7]
                t["categories"] = [{"node": i, "left": sorted(rng.sample([-1.0, 0.0, 1.0, 2.0, 3.5], 2))} for i in nodes]
                for i in nodes:
                    t["threshold"][i] = None
        thresholds = [v for t in trees for v in t["threshold"] if v is not None]
        scorer = {"type": "trees", "features": n, "trees": trees}
    elif kind == "stumps":
        pairs = sorted({(rng.randrange(n) + 1, value(rng) + 0.0) for _ in range(rng.randrange(1, 12))})
        thresholds = [t for _, t in pairs]
        scorer = {"type": "stumps", "features": n, "stumps": [{"feature": j, "threshold": t, "weight": w} for (j, t), w in zip(pairs, numbers(len(pairs)))]}
    elif kind in ("linear", "standard", "logistic", "steps"):
        scorer = {"type": "linear", "weights": numbers(n)}
        if kind == "standard":
            file["transforms"] = [
                {"feature": j + 1, "steps": [{"step": "standard", "mean": rng.randrange(-4, 5) / 4, "deviation": 2.0 ** rng.randrange(-1, 3)}]} for j in range(n)]
        if kind == "steps":
            missing = rng.choice(["", "zero", "keep"])
            chains = [[rng.choice([
                {"step": "standard", "mean": rng.randrange(-4, 5) / 4, "deviation": rng.choice([0.0, 0.5, 2.0])},
                {"step": "clip", "low": -1.0, "high": rng.choice([1.5, 3.0])}, {"step": "log1p"}]) for _ in range(rng.randrange(3))] for _ in range(n)]
            if missing == "keep":
                for c in chains:
                    c.insert(rng.randrange(len(c) + 1), {"step": "fill", "value": rng.randrange(-4, 5) / 2})
            file["transforms"] = [{"feature": j + 1, "steps": c} for j, c in enumerate(chains) if c]
            if not file["transforms"]:
                del file["transforms"]
    else:
        hidden = [] if kind == "bias" else [rng.randrange(1, 5) for _ in range(1 if kind == "net" else rng.randrange(1, 3))]
        layers = [{"units": u, "activation": rng.choice(activations)} for u in hidden] + [{"units": 1, "activation": "identity"}]
        count, inputs = 0, n
        for l in layers:
            count, inputs = count + l["units"] * (inputs + 1), l["units"]
        scorer = {"type": "layers", "features": n, "layers": layers, "weights": numbers(count)}
        if kind == "net":
            h = hidden[0]
            scorer = {"type": "net", "activation": layers[0]["activation"], "features": n, "hidden": h, "weights": numbers(h * (n + 2))}
    model = {"format": "listwise-model", "version": 2 if "transforms" in file else 1, "method": "drawn", "hyperparameters": {}, "seed": 0,
             "features": file, "missing": missing, "normalization": "none", "training": {}, "scorer": scorer}
    return model, thresholds


def documents(rng, model, thresholds, docs, extremes):
    near = [np.float32(t) for t in thresholds]
    near += [np.nextafter(t, np.float32(d), dtype=np.float32) for t in near for d in (np.inf, -np.inf)]
    rows = []
    for _ in range(docs):
        row = []
        for _ in range(model["features"]["count"]):
            v = value(rng) if extremes else rng.randrange(-32, 33) / 8
            if near and rng.random() < 0.6:
                v = float(rng.choice(near))
            if model["missing"] in ("zero", "keep") and rng.random() < 0.15:
                v = math.nan
            row.append(v)
        rows.append(row)
    return rows


class Check:
    def __init__(self, args):
        self.listwise, self.work, self.java, self.evaluator = args.listwise, pathlib.Path(args.work), args.java, args.vespa
        self.elasticsearch = args.elasticsearch
        self.work.mkdir(parents=True, exist_ok=True)
        self.rng = random.Random(args.seed)
        self.models, self.failures, self.compared = args.models, 0, {}

    def run(self, *words, ok=True):
        p = subprocess.run([self.listwise, *map(str, words)], capture_output=True, text=True)
        if ok and p.returncode:
            sys.exit(f"listwise {' '.join(map(str, words))}: {p.stderr}")
        return p

    def scores(self, model, rows):
        """What listwise gives documents."""
        path = self.work / "documents.txt"
        path.write_text("".join(f"0 qid:1 " + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(row)) + "\n" for row in rows))
        out = self.run("score", "--model", model, "--data", path, "--quiet").stdout
        return [float(line) for line in out.split()]

    def compare(self, what, mine, theirs, size, tolerance):
        """Scores agree up to a tolerance of what they are summed up of, and ranks beyond it."""
        count = self.compared.setdefault(what, [0, 0])
        count[0] += 1
        count[1] += len(mine)
        if len(mine) != len(theirs):
            return self.fail(f"{what}: {len(theirs)} scores of {len(mine)} documents")
        for i, (a, b, s) in enumerate(zip(mine, theirs, size)):
            if not abs(a - b) <= tolerance * s:
                return self.fail(f"{what}: document {i + 1} has the score {b!r}, listwise gives {a!r} (tolerance {tolerance * s:.2g})")
        for (a, b, s), (c, d, r) in itertools.combinations(zip(mine, theirs, size), 2):
            if abs(a - c) > 2 * tolerance * (s + r) and (a < c) != (b < d):
                return self.fail(f"{what}: the scores {b!r} and {d!r} are in another order than listwise's {a!r} and {c!r}")

    def expected(self, what, kind, model, rows, theirs):
        """What listwise gives documents, with what --scores does to it."""
        mine = self.scores(model, rows)
        if kind == "logistic":
            return [1 / (1 + math.exp(-v)) if v > -700 else 0.0 for v in mine]
        if kind == "shift":
            if min(theirs) < 0:
                self.fail(f"{what}: found the shifted score {min(theirs)}, expected none below 0")
            return [v + theirs[0] - mine[0] for v in mine]
        return mine

    def fail(self, text):
        self.failures += 1
        if self.failures <= 20:
            print("DIFFERENCE", text, file=sys.stderr)

    def tasks(self, program, tasks):
        """Runs Engines.java, Vespa.java or Elasticsearch.java on tasks, each a list of words."""
        path = self.work / "tasks.tsv"
        path.write_text("".join("\t".join(map(str, t)) + "\n" for t in tasks))
        subprocess.run([*program, str(path)], check=True, stdout=subprocess.DEVNULL)

    def drawn(self, engine, kinds, activations, form):
        """Draws models, exports them, and yields each with its documents. What cannot be exported is left out."""
        for i in range(self.models):
            kind = kinds[i % len(kinds)]
            model, thresholds = draw(self.rng, kind, activations)
            rows = documents(self.rng, model, thresholds, 30, kind in ("trees", "stumps", "linear", "shift", "missing", "categories"))
            file, out = self.work / f"{engine}{i}.json", self.work / f"{engine}{i}.{form}"
            file.write_text(json.dumps(model))
            how = kind if kind in ("shift", "logistic") else "raw"
            p = self.run("export", "--model", file, "--to", form, "--out", out, "--scores", how, ok=False)
            if p.returncode:
                if "no scale of the feature keeps all of them apart" not in p.stderr and "expected at most 2: in an expression" not in p.stderr:
                    sys.exit(p.stderr)
                continue
            yield i, kind, model, file, out, rows

    def size(self, model, rows):
        """How large what a score is summed up of may be."""
        s = model["scorer"]
        if s["type"] in ("trees", "stumps"):
            flat = [v for t in s["trees"] for v in t["values"]] if s["type"] == "trees" else [t["weight"] for t in s["stumps"]]
            return [1 + sum(map(abs, flat))] * len(rows)
        if s["type"] == "linear":
            return [1 + 8 * sum(abs(w * v) for w, v in zip(s["weights"], row) if v == v) + 8 * sum(map(abs, s["weights"])) for row in rows]
        return [100.0 + max(abs(v) if v == v else 0 for v in row) * math.prod(1 + abs(w) for w in s["weights"]) for row in rows]

    def ranklib(self):
        tasks, later = [], []
        for i, kind, model, file, out, rows in self.drawn("ranklib", KINDS, ["sigmoid"], "ranklib"):
            docs = self.work / f"ranklib{i}.rows"
            docs.write_text("".join(" ".join("NaN" if v != v else repr(v) for v in row) + "\n" for row in rows))
            tasks.append(["ranklib", out, docs, self.work / f"ranklib{i}.scores"])
            later.append((kind, model, file, out, rows, tasks[-1][-1]))
        self.tasks(self.java, tasks)
        for kind, model, file, out, rows, scores in later:
            theirs = [float(v) for v in scores.read_text().split()]
            mine = self.expected("RankyMcRankFace", kind, file, rows, theirs)
            if kind in ("net", "layers"):  # RankNet is logistic: listwise reads back what it wrote
                mine = self.scores(out, rows)
                self.compare(f"RankyMcRankFace, {kind}", mine, theirs, [1] * len(rows), 1e-12)
                continue
            # Trees are summed up in float32, weighted sums in double.
            self.compare(f"RankyMcRankFace, {kind}", mine, theirs, self.size(model, rows), 3e-7 if kind in ("trees", "shift") else 1e-12)

    def solr(self):
        tasks, later = [], []
        for i, kind, model, file, out, rows in self.drawn("solr", KINDS, ["tanh", "sigmoid", "relu", "leakyrelu"], "solr"):
            docs = self.work / f"solr{i}.rows"
            names = model["features"]["names"]
            listed = [[row[names.index(f["name"])] for f in json.loads(out.read_text())["features"]] for row in rows]
            docs.write_text("".join(" ".join("0" if v != v else repr(v) for v in row) + "\n" for row in listed))  # Solr's default
            back = self.work / f"solr{i}.back"
            tasks.append(["solr", out, docs, self.work / f"solr{i}.scores", back])
            later.append((kind, model, file, back, rows, listed, tasks[-1][3]))
        self.tasks(self.java, tasks)
        for kind, model, file, back, rows, listed, scores in later:
            theirs = [float(v) for v in scores.read_text().split()]
            size = self.size(model, rows)
            self.compare(f"Solr, {kind}", self.expected("Solr", kind, file, rows, theirs), theirs, size, 2e-6)
            self.compare(f"what Solr's store writes, {kind}", self.scores(back, listed), theirs, size, 2e-6)

    def elastic(self):
        """Elasticsearch's classes accept the body and score as listwise does up to the constant that they add; eland's
        classes write the same configuration and definition."""
        queries = [{"query_extractor": {"feature_name": f"f{j}", "query": {"match": {"title": "{{query}}"}}}} for j in range(6)]
        tasks, later = [], []
        for n in range(1, 7):
            (self.work / f"queries{n}.json").write_text(json.dumps(queries[:n]))
        for i in range(self.models):
            kind = ["trees", "stumps", "shift", "missing"][i % 4]
            model, thresholds = draw(self.rng, kind, [])
            rows = documents(self.rng, model, thresholds, 30, True)
            file, out = self.work / f"native{i}.json", self.work / f"native{i}.body"
            file.write_text(json.dumps(model))
            names = model["features"]["names"]
            self.run("export", "--model", file, "--to", "elasticsearch-native", "--out", out, "--extractors", self.work / f"queries{len(names)}.json",
                     "--scores", kind if kind == "shift" else "raw", *["--all-features"][: i % 2])
            self.eland(json.loads(out.read_text()))
            docs = self.work / f"native{i}.rows"
            docs.write_text("".join(" ".join(f"{name}={v!r}" for name, v in zip(names, row) if v == v) + "\n" for row in rows))
            tasks.append([out, docs, self.work / f"native{i}.scores"])
            later.append((kind, model, file, rows, tasks[-1][-1]))
        self.tasks(self.elasticsearch, tasks)
        for kind, model, file, rows, scores in later:
            theirs = [float(v) for v in scores.read_text().split()]
            self.compare(f"Elasticsearch, {kind}", self.expected("Elasticsearch", "shift", file, rows, theirs), theirs, self.size(model, rows), 1e-12)

    def eland(self, body):
        """Builds the body by eland's classes."""
        count = self.compared.setdefault("eland, bodies", [0, 0])
        count[0] += 1
        mine = json.loads(gzip.decompress(base64.b64decode(body["compressed_definition"])))
        ensemble = mine["trained_model"]["ensemble"]
        trees = []
        for t in ensemble["trained_models"]:
            nodes = [TreeNode(
                node_idx=n["node_index"], default_left=n.get("default_left"), decision_type=n.get("decision_type"), left_child=n.get("left_child"),
                right_child=n.get("right_child"), split_feature=n.get("split_feature"), threshold=n.get("threshold"),
                leaf_value=[n["leaf_value"]] if "leaf_value" in n else None) for n in t["tree"]["tree_structure"]]
            trees.append(Tree(t["tree"]["feature_names"], "regression", nodes))
        theirs = Ensemble(ensemble["feature_names"], trees, {"weighted_sum": {}}, "regression")
        config = body["inference_config"]
        queries = [QueryFeatureExtractor(**x["query_extractor"]) for x in config["learning_to_rank"]["feature_extractors"]]
        ltr = LTRModelConfig(queries)
        unpacked = json.loads(gzip.decompress(base64.b64decode(theirs.serialize_and_compress_model())))
        if unpacked != mine or ltr.to_dict() != config or ltr.feature_names != ensemble["feature_names"] or set(body) != {"inference_config", "compressed_definition"}:
            self.fail("eland: its classes write another body")

    def vespa(self):
        tasks, later = [], []
        for i, kind, model, file, out, rows in self.drawn("vespa", [*KINDS, "missing", "categories", "steps"], ["tanh", "sigmoid", "relu", "softplus", "elu", "leakyrelu"], "vespa"):
            docs = self.work / f"vespa{i}.rows"
            docs.write_text("".join(" ".join("NaN" if v != v else repr(v) for v in row) + "\n" for row in rows))
            tasks.append(["vespa", out, docs, self.work / f"vespa{i}.scores"])
            later.append((kind, model, file, rows, tasks[-1][-1]))
        self.tasks(self.evaluator, tasks)
        for kind, model, file, rows, scores in later:
            theirs = [float(v) for v in scores.read_text().split()]
            # It computes in double, listwise rounds transformed features to float32.
            tolerance = 1e-6 if kind in ("standard", "steps") else 1e-12
            self.compare(f"Vespa, {kind}", self.expected("Vespa", kind, file, rows, theirs), theirs, self.size(model, rows), tolerance)

    def onnx(self):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        for i, kind, model, file, out, rows in self.drawn("onnx", [*KINDS, "missing", "steps"], ["tanh", "sigmoid", "relu", "softplus", "elu", "leakyrelu"], "onnx"):
            session = onnxruntime.InferenceSession(out.read_bytes(), options, providers=["CPUExecutionProvider"])
            theirs = session.run(["scores"], {"features": np.array(rows, dtype=np.float32)})[0]
            if theirs.shape != (len(rows), 1):
                self.fail(f"onnxruntime: scores of the shape {theirs.shape}")
            theirs = theirs[:, 0].tolist()
            self.compare(f"onnxruntime, {kind}", self.expected("onnxruntime", kind, file, rows, theirs), theirs, self.size(model, rows), 2e-6)
            names = json.loads(session.get_modelmeta().custom_metadata_map["features"])
            if names != model["features"]["names"]:
                self.fail(f"onnxruntime: the names {names}")

    def trained_ranklib(self):
        """Models that RankyMcRankFace trains are read, and score as there."""
        features = 5
        train = self.work / "train.txt"
        rows, lines = [], []
        for q in range(30):
            for _ in range(10):
                row = [f32(self.rng.gauss(0, 1)) for _ in range(features)]
                grade = max(0, min(2, round(row[0] + row[1] / 2 + self.rng.gauss(0, 0.5))))
                rows.append(row)
                lines.append(f"{grade} qid:{q} " + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(row)) + "\n")
        train.write_text("".join(lines))
        docs = self.work / "train.rows"
        docs.write_text("".join(" ".join(map(repr, row)) + "\n" for row in rows))
        names = {0: "MART", 1: "RankNet", 2: "RankBoost", 3: "AdaRank", 4: "Coordinate Ascent", 6: "LambdaMART", 7: "ListNet", 8: "Random Forests", 9: "Linear Regression"}
        classpath = self.java[self.java.index("-cp") + 1]
        tasks = []
        for number, name in names.items():
            model = self.work / f"ranker{number}.txt"
            subprocess.run([self.java[0], "-cp", classpath, "ciir.umass.edu.eval.Evaluator", "-train", train, "-ranker", str(number), "-save", model,
                            "-tree", "10", "-leaf", "5", "-epoch", "5", "-round", "20", "-bag", "5", "-i", "5", "-r", "1", "-silent"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            tasks.append(["ranklib", model, docs, self.work / f"ranker{number}.scores"])
        self.tasks(self.java, tasks)
        for (number, name), task in zip(names.items(), tasks):
            imported = self.work / f"ranker{number}.json"
            self.run("import", task[1], "--model", imported, "--features", features)
            theirs = [float(v) for v in task[3].read_text().split()]
            if len(set(theirs)) < 3:
                self.fail(f"{name} that RankyMcRankFace trained ranks nothing")
            self.compare(f"{name}, trained by RankyMcRankFace", self.scores(imported, rows), theirs, [1 + abs(v) for v in theirs], 1e-6)

    def sklearn(self):
        for seed in range(20):
            x, y = make_regression(100, 6, noise=3, random_state=seed)
            x = x.astype(np.float32)
            model = [LinearRegression(), Ridge(alpha=2), LogisticRegression()][seed % 3].fit(x.astype(float), y > 0 if seed % 3 == 2 else y)
            theirs = model.decision_function(x.astype(float)) if seed % 3 == 2 else model.predict(x.astype(float))
            path = self.work / f"sklearn{seed}.json"
            path.write_text(json.dumps({"coef_": model.coef_.tolist(), "intercept_": np.asarray(model.intercept_).tolist()}))
            self.compare("scikit-learn", self.scores(path, x.tolist()), theirs.tolist(), 1 + abs(theirs), 1e-11)

    def liblinear(self):
        for seed in range(20):
            x, y = make_regression(80, 5, noise=3, random_state=seed)
            x = x.astype(np.float32).astype(float)
            classes = seed % 2 == 0
            labels = np.where(y > 0, 1, -1)
            if seed % 4 == 0:  # the label that comes first is LIBLINEAR's first class
                order = np.argsort(labels)
                x, labels, y = x[order], labels[order], y[order]
            options = "-s 1 -q -B 1.5" if classes else "-s 11 -q -B 1 -p 0.1"
            if seed % 5 == 0:
                options = options.split(" -B")[0]
            model = liblinearutil.train((labels if classes else y).tolist(), x.tolist(), options)
            path = self.work / f"liblinear{seed}.txt"
            liblinearutil.save_model(str(path), model)
            _, _, values = liblinearutil.predict([], x.tolist(), model, "-q")
            theirs = np.array(values)[:, 0]
            if classes and model.get_labels()[0] < model.get_labels()[1]:
                theirs = -theirs
            self.compare("LIBLINEAR", self.scores(path, x.tolist()), theirs.tolist(), 1 + abs(theirs), 1e-11)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--listwise", required=True, help="the program")
    p.add_argument("--java", required=True, help="command of Engines.java, without the tasks")
    p.add_argument("--vespa", required=True, help="command of Vespa.java, likewise")
    p.add_argument("--elasticsearch", required=True, help="command of Elasticsearch.java, likewise")
    p.add_argument("--work", required=True, help="folder for files")
    p.add_argument("--models", type=int, default=231, help="models of each engine")
    p.add_argument("--seed", type=int, default=1)
    args = p.parse_args()
    args.java, args.vespa, args.elasticsearch = args.java.split(), args.vespa.split(), args.elasticsearch.split()
    check = Check(args)
    for part in (check.ranklib, check.solr, check.elastic, check.onnx, check.vespa, check.trained_ranklib, check.sklearn, check.liblinear):
        part()
    for what, (models, docs) in check.compared.items():
        print(f"{what}: {models} models, {docs} documents")
    if check.failures:
        sys.exit(f"{check.failures} differences")
    print("no differences")


if __name__ == "__main__":
    main()

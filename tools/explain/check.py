"""Compares `listwise explain` with shap, LightGBM, XGBoost and scikit-learn.

usage: check.py LISTWISE FOLDER

Path-dependent values are compared with LightGBM's pred_contrib, XGBoost's pred_contribs and
shap's TreeExplainer. Values against a background are compared with shap's interventional values.
The models are trained by these packages, or trained by listwise and exported to them. Importance
is compared with the mean of many runs of scikit-learn's permutation_importance, since its
permutations are others.
"""

import json
import subprocess
import sys
from pathlib import Path

import lightgbm
import numpy
import shap
import xgboost
from sklearn.inspection import permutation_importance

listwise, folder = sys.argv[1], Path(sys.argv[2])
FEATURES, DOCS = 8, 12
failed = 0


def say(what, worst, tolerance):
    global failed
    right = worst <= tolerance
    failed += not right
    print(f"{'ok   ' if right else 'WRONG'} {what}: largest difference {worst:.2g} (allowed {tolerance:g})")


def run(*args):
    done = subprocess.run([listwise, *map(str, args)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"listwise {' '.join(map(str, args))} exits with {done.returncode}: {done.stderr}")
    return done.stdout


def make(rng, queries, missing):
    x = rng.integers(-6, 7, (queries * DOCS, FEATURES)) / 2
    x[:, -1] = rng.integers(0, 6, len(x))  # a category
    gain = x[:, 0] + x[:, 1] * x[:, 2] / 2 + (x[:, -1] % 3 == 1) + rng.normal(size=len(x))
    if missing:
        x[:, :-1][rng.random((len(x), FEATURES - 1)) < 0.1] = numpy.nan
    return x, numpy.clip(gain.round(), 0, 3).astype(int)


def write(path, x, y):
    with open(path, "w") as f:
        for i, row in enumerate(x):
            f.write(f"{y[i]} qid:{i // DOCS + 1} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(row)) + "\n")


def explained(model, data, background, attribution, rows):
    """The contributions of the first rows of the data, and their bases."""
    values, bases = numpy.zeros((rows, FEATURES)), numpy.zeros(rows)
    for query in range(rows // DOCS):
        text = run("explain", "--model", model, "--data", data, "--background", background, "--attribution", attribution,
                   "--background-docs", 10**6, "--of", query + 1, "--format", "json")
        for doc in json.loads(text)["documents"]:
            i = query * DOCS + int(doc["document"]) - 1
            bases[i] = doc["base"]
            total = doc["base"] + doc["remainder"] + sum(p["contribution"] for p in doc["contributions"])
            assert abs(total - doc["score"]) < 1e-9, doc
            for p in doc["contributions"]:
                values[i, int(p["feature"]) - 1] = p["contribution"]
    return values, bases


def interventional(model, background, x):
    explainer = shap.TreeExplainer(model, data=background, feature_perturbation="interventional")
    return explainer.shap_values(x, check_additivity=False)


def of_lightgbm(name, model, path, train, test, rows, x, with_shap=True):
    own = model.predict(x[:rows], pred_contrib=True)
    got, bases = explained(path, test, train, "path", rows)
    say(f"{name}, path: LightGBM's pred_contrib", abs(got - own[:, :-1]).max(), 1e-9)
    say(f"{name}, path: its expected value", abs(bases - own[:, -1]).max(), 1e-9)
    if with_shap:
        values = shap.TreeExplainer(model, feature_perturbation="tree_path_dependent").shap_values(x[:rows], check_additivity=False)
        say(f"{name}, path: shap", abs(got - values).max(), 1e-9)


def trained_by_lightgbm(rng, rows):
    for missing, categories in ((False, []), (True, []), (True, [FEATURES - 1])):
        name = f"LightGBM{' with missing values' * missing}{' and categories' * bool(categories)}"
        (x, y), (xt, yt) = make(rng, 60, missing), make(rng, 10, missing)
        train, test, few, path = (folder / f for f in ("train.txt", "test.txt", "few.txt", "lightgbm.txt"))
        write(train, x, y), write(test, xt, yt), write(few, x[:60], y[:60])
        data = lightgbm.Dataset(x, y, group=[DOCS] * 60, categorical_feature=categories)
        settings = dict(objective="lambdarank", num_leaves=15, min_data_in_leaf=3, learning_rate=0.2, verbose=-1, seed=1, min_data_per_group=1, cat_smooth=1)
        model = lightgbm.train(settings, data, 40)
        model.save_model(path)
        of_lightgbm(name, model, path, train, test, rows, xt, not categories)
        if not categories:
            got, _ = explained(path, test, few, "background", rows)
            say(f"{name}, background: shap", abs(got - interventional(model, x[:60], xt[:rows])).max(), 1e-6)


def trained_by_xgboost(rng, rows):
    for missing in (False, True):
        name = f"XGBoost{' with missing values' * missing}"
        (x, y), (xt, yt) = make(rng, 60, missing), make(rng, 10, missing)
        train, test, few, path = (folder / f for f in ("train.txt", "test.txt", "few.txt", "xgboost.json"))
        write(train, x, y), write(test, xt, yt), write(few, x[:60], y[:60])
        model = xgboost.train(dict(objective="reg:squarederror", max_depth=5, eta=0.2, base_score=0.5, seed=1), xgboost.DMatrix(x, y), 40)
        model.save_model(path)
        own = model.predict(xgboost.DMatrix(xt[:rows]), pred_contribs=True)
        got, _ = explained(path, test, train, "path", rows)
        say(f"{name}, path: XGBoost's pred_contribs", abs(got - own[:, :-1]).max(), 5e-6)
        got, _ = explained(path, test, few, "background", rows)
        say(f"{name}, background: shap", abs(got - interventional(model, x[:60], xt[:rows])).max(), 5e-6)


def counted(text, model, x):
    """The text of a LightGBM model with the numbers of x's rows at its nodes."""
    leaves = model.predict(x, pred_leaf=True).reshape(len(x), -1)
    out, tree = [], -1
    for line in text.splitlines():
        key, _, value = line.partition("=")
        if key == "Tree":
            tree += 1
            lists = {}
        lists_of = value.split()
        if key in ("left_child", "right_child"):
            lists[key] = [int(v) for v in lists_of]
        if key in ("leaf_count", "internal_count"):
            counts = numpy.bincount(leaves[:, tree].astype(int), minlength=len(lists["left_child"]) + 1)

            def at(node):
                if node < 0:
                    return counts[~node]
                return at(lists["left_child"][node]) + at(lists["right_child"][node])

            nodes = range(len(counts)) if key == "leaf_count" else range(len(lists["left_child"]))
            line = f"{key}=" + " ".join(str(counts[n] if key == "leaf_count" else at(n)) for n in nodes)
        out.append(line)
    return "\n".join(line for line in out if not line.startswith("tree_sizes")) + "\n"


def trained_by_listwise(rng, rows):
    (x, y), (xt, yt) = make(rng, 60, True), make(rng, 10, True)
    train, test, few, own = (folder / f for f in ("train.txt", "test.txt", "few.txt", "own.json"))
    write(train, x, y), write(test, xt, yt), write(few, x[:60], y[:60])
    run("train", "--no-record", "--method", "lambdamart", "--set", "trees=40", "--set", "leaf_documents=3", "--missing", "keep", "--train", train, "--model", own)
    against, _ = explained(own, test, few, "background", rows)
    for system in ("lightgbm", "xgboost"):
        path = folder / f"exported.{'txt' if system == 'lightgbm' else 'json'}"
        run("export", "--model", own, "--to", system, "--out", path)
        if system == "lightgbm":
            model = lightgbm.Booster(model_file=path)
            values = interventional(model, x[:60], xt[:rows])
            text = counted(path.read_text(), model, x)
            of_lightgbm("listwise's own in LightGBM", lightgbm.Booster(model_str=text), own, train, test, rows, xt)
        else:
            model = xgboost.Booster(model_file=path)
            values = interventional(model, x[:60], xt[:rows])
        say(f"listwise's own in {system}, background: shap", abs(against - values).max(), 1e-6)


class Ranker:
    """A fitted estimator for scikit-learn, which permutes and scores."""

    def __init__(self, weights):
        self.weights = weights

    def fit(self):
        return self

    def score(self, x, y):
        scores = (x @ self.weights).reshape(-1, DOCS)
        best = numpy.argsort(-scores, axis=1, kind="stable")[:, :5]
        return (numpy.take_along_axis(y.reshape(-1, DOCS), best, axis=1) > 0).mean()


def importance(rng):
    x, y = make(rng, 60, False)
    x += rng.normal(size=x.shape) / 100
    train = folder / "train.txt"
    write(train, x, y)
    run("train", "--no-record", "--method", "mle", "--train", train, "--model", folder / "linear.json")
    model = json.loads((folder / "linear.json").read_text())
    weights = numpy.array(model["scorer"]["weights"])
    repeats = 400
    text = run("explain", "--model", folder / "linear.json", "--data", train, "--measure", "p@5", "--permute", "data", "--repeats", repeats, "--format", "json")
    ours = {int(f["feature"]) - 1: f["loss"] for f in json.loads(text)["features"]}
    theirs = permutation_importance(Ranker(weights), x, y, n_repeats=repeats, random_state=1)
    worst = max(abs(ours[j] - theirs.importances_mean[j]) / (theirs.importances_std[j] * (2 / repeats) ** 0.5 + 1e-12) for j in range(FEATURES))
    say("importance, across the data: scikit-learn, in standard errors of the mean of both", worst, 4)


rng = numpy.random.default_rng(1)
trained_by_lightgbm(rng, 3 * DOCS)
trained_by_xgboost(rng, 3 * DOCS)
trained_by_listwise(rng, 3 * DOCS)
importance(rng)
sys.exit(failed > 0)

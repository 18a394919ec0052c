"""Checks for XGBoost's JSON and UBJSON, written and read by listwise, and for its dump."""

import json

import numpy as np
import xgboost as xgb

from compare import same
from drawn import draw_documents, draw_model, draw_training

PRECISION = 3e-6  # XGBoost adds float32


def matrix(x, y=None, categorical=0, names=None):
    types = ["c" if j < categorical else "float" for j in range(x.shape[1])] if categorical else None
    return xgb.DMatrix(x, y, feature_names=names, feature_types=types, enable_categorical=categorical > 0)


def xgboost_reads(program, rng, models):
    """XGBoost loads what export writes."""
    for k in range(models):
        categorical, missing = (0, 2)[k % 2], k % 3 != 0
        model = draw_model(rng, program.folder / "m.json", categorical, missing)
        x = draw_documents(rng, model, categorical=categorical, missing=missing)
        program.run("export", "--model", "m.json", "--to", "xgboost", "--out", "x.json")
        booster = xgb.Booster(model_file=str(program.folder / "x.json"))
        want = booster.predict(matrix(x, categorical=categorical, names=model["features"].get("names")))
        same(program.score("m.json", x), want, PRECISION, f"model {k}")
        same(program.score("x.json", x), want, PRECISION, f"model {k}, read back")
        for again in ("y.json", "y.ubj"):  # as XGBoost writes it
            booster.save_model(str(program.folder / again))
            same(program.score(again, x), want, PRECISION, f"model {k}, {again}")
    return f"{models} models"


def xgboost_logistic(program, rng, models):
    """--scores logistic gives probabilities, --scores shift none below 0."""
    for k in range(models // 4):
        model = draw_model(rng, program.folder / "m.json")
        x = draw_documents(rng, model)
        raw = program.score("m.json", x)
        program.run("export", "--model", "m.json", "--to", "xgboost", "--scores", "logistic", "--out", "x.json")
        got = xgb.Booster(model_file=str(program.folder / "x.json")).predict(matrix(x, names=model["features"].get("names")))
        same(got, 1 / (1 + np.exp(-raw)), PRECISION, f"model {k}")
        program.run("export", "--model", "m.json", "--to", "xgboost", "--scores", "shift", "--out", "x.json")
        got = xgb.Booster(model_file=str(program.folder / "x.json")).predict(matrix(x, names=model["features"].get("names")))
        if got.min() < 0:
            raise AssertionError(f"model {k}: the score {got.min()} is negative")
        same(got - got[0], raw - raw[0], PRECISION, f"model {k}, shifted")
    return f"{models // 4} models"


def xgboost_dumps(program, rng, models):
    """The dump that export writes is XGBoost's own of the same model, and XGBoost's are read."""
    for k in range(models):
        model = draw_model(rng, program.folder / "m.json")
        x = draw_documents(rng, model)
        program.run("export", "--model", "m.json", "--to", "xgboost", "--out", "x.json")
        booster = xgb.Booster(model_file=str(program.folder / "x.json"))
        names = model["features"].get("names")
        if names is None:
            booster.feature_names = [f"feature_{j + 1}" for j in range(x.shape[1])]
        own = json.loads("[" + ",".join(booster.get_dump(dump_format="json")) + "]")
        program.run("export", "--model", "m.json", "--to", "xgboost-dump", "--out", "d.json")
        text = (program.folder / "d.json").read_text()
        if rounded(json.loads(text)) != rounded(own):
            raise AssertionError(f"model {k}: the dump is\n{text}\nexpected\n{own}")
        categorical, named = (0, 2)[k % 2], k % 3 == 0
        x, y = draw_training(rng, categorical=categorical)
        names = [f"f{j}" for j in range(x.shape[1])] if named else None
        booster = xgb.train(dict(max_depth=4, max_cat_to_onehot=1, base_score=0), matrix(x, y, categorical, names), 5)
        dumped = [json.loads(t) for t in booster.get_dump(dump_format="json")]
        (program.folder / "d.json").write_text(json.dumps(dumped))
        trees = [thresholds_of(t, [f"f{j}" for j in range(x.shape[1])]) for t in dumped]
        test = draw_documents(rng, {"features": {"count": x.shape[1]}, "scorer": {"trees": trees}}, categorical=categorical)
        want = booster.predict(matrix(test, categorical=categorical, names=names), output_margin=True)
        program.run("import", "d.json", "--model", "i.json")
        width = json.loads((program.folder / "i.json").read_text())["features"]["count"]
        same(program.score("d.json", test[:, :width]), want, PRECISION, f"model {k}, XGBoost's dump")
    return f"{models} models"


def rounded(node):
    """A dump with its numbers as float32."""
    if isinstance(node, list):
        return [rounded(n) for n in node]
    if isinstance(node, dict):
        return {key: float(np.float32(v)) if key in ("leaf", "split_condition") else rounded(v) for key, v in node.items()}
    return node


TRAININGS = [
    dict(objective="rank:ndcg"),
    dict(objective="rank:pairwise", num_parallel_tree=2, subsample=0.7),
    dict(objective="rank:map", grow_policy="lossguide", max_leaves=7),
    dict(objective="reg:squarederror", booster="dart", rate_drop=0.5, one_drop=1),
    dict(objective="binary:logistic"),
    dict(objective="binary:logitraw", base_score=0.3),
    dict(objective="count:poisson"),
    dict(objective="reg:tweedie", tree_method="exact"),
    dict(objective="reg:gamma", tree_method="approx"),
    dict(objective="reg:absoluteerror"),
    dict(objective="binary:hinge"),
    dict(objective="reg:squarederror", booster="gblinear"),
]


def target(objective, y):
    if objective in ("rank:map",) or objective.startswith("binary"):
        return y > 0
    return y + 1 if objective == "reg:gamma" else y


def xgboost_writes(program, rng, models):
    """listwise reads what XGBoost trains, as JSON and as UBJSON."""
    for k in range(models):
        params = dict(TRAININGS[k % len(TRAININGS)], max_depth=4, max_cat_to_onehot=1 + k % 5, nthread=1, verbosity=0)
        linear, exact = params.get("booster") == "gblinear", params.get("tree_method") == "exact"
        categorical = 0 if linear or exact else (0, 2)[k // len(TRAININGS) % 2]
        x, y = draw_training(rng, categorical=categorical, coarse=k % 3 == 0, missing=0 if linear else 0.1)
        names = [f"name{j}" for j in range(x.shape[1])] if k % 2 else None
        data = matrix(x, target(params["objective"], y), categorical, names)
        if params["objective"].startswith("rank"):
            data.set_group([50] * 8)
        booster = xgb.train(params, data, 7)
        dumped = [] if linear else [thresholds_of(json.loads(t), names) for t in booster.get_dump(dump_format="json")]
        model = {"features": {"count": x.shape[1]}, "scorer": {"trees": dumped}}
        test = x if linear else draw_documents(rng, model, categorical=categorical)
        want = booster.predict(matrix(test, categorical=categorical, names=names), output_margin=True)
        for name in ("x.json", "x.ubj"):
            booster.save_model(str(program.folder / name))
            got = program.score(name, test)
            same(got, want, PRECISION, f"model {k}, {name}, {params}")
            program.run("import", name, "--model", "i.json")
            same(program.score("i.json", test), got, 0, f"model {k}, {name}, imported")
    return f"{models} models"


def thresholds_of(node, names):
    """A dumped tree's conditions in the form of draw_documents."""
    feature, threshold, nodes = [], [], [node]
    while nodes:
        n = nodes.pop()
        nodes += n.get("children", [])
        if isinstance(n.get("split_condition"), (int, float)):
            feature.append(1 + (names.index(n["split"]) if names else int(n["split"][1:])))
            threshold.append(n["split_condition"])
    return {"feature": feature, "threshold": threshold}


CHECKS = [xgboost_reads, xgboost_logistic, xgboost_dumps, xgboost_writes]

"""Checks for LightGBM's text format, written and read by listwise."""

import lightgbm as lgb
import numpy as np

from compare import same
from drawn import draw_documents, draw_model, draw_training


def documents(rng, model, categorical=0, missing=True):
    """LightGBM takes what is within 1e-35 of 0 as 0."""
    x = draw_documents(rng, model, categorical=categorical, missing=missing)
    x[np.abs(x) <= np.float32(1e-35)] = 0
    return x


def lightgbm_reads(program, rng, models):
    """LightGBM loads what export writes."""
    for k in range(models):
        categorical, missing = (0, 2)[k % 2], k % 3 != 0
        model = draw_model(rng, program.folder / "m.json", categorical, missing)
        x = documents(rng, model, categorical, missing)
        program.run("export", "--model", "m.json", "--to", "lightgbm", "--out", "l.txt")
        booster = lgb.Booster(model_file=str(program.folder / "l.txt"))
        want = booster.predict(x.astype(float))
        same(program.score("m.json", x), want, 1e-12, f"model {k}")
        same(program.score("l.txt", x), want, 1e-12, f"model {k}, read back")
        names = model["features"].get("names") or [f"Column_{j}" for j in range(x.shape[1])]
        if booster.feature_name() != names:
            raise AssertionError(f"the names are {booster.feature_name()}, expected {names}")
    return f"{models} models"


def lightgbm_reads_first_feature(program, rng, models):
    """With --first-feature 1, column 0 is not used, as in svmlight text that counts from 1."""
    for k in range(models // 4):
        model = draw_model(rng, program.folder / "m.json")
        x = documents(rng, model)
        program.run("export", "--model", "m.json", "--to", "lightgbm", "--first-feature", "1", "--out", "l.txt")
        wide = np.insert(x.astype(float), 0, 0, axis=1)
        same(program.score("l.txt", x), lgb.Booster(model_file=str(program.folder / "l.txt")).predict(wide), 1e-12, f"model {k}")
    return f"{models // 4} models"


def lightgbm_logistic(program, rng, models):
    """--scores logistic gives probabilities in the order of the scores."""
    for k in range(models // 4):
        model = draw_model(rng, program.folder / "m.json")
        x = documents(rng, model)
        program.run("export", "--model", "m.json", "--to", "lightgbm", "--scores", "logistic", "--out", "l.txt")
        got = lgb.Booster(model_file=str(program.folder / "l.txt")).predict(x.astype(float))
        same(got, 1 / (1 + np.exp(-program.score("m.json", x))), 1e-9, f"model {k}")
    return f"{models // 4} models"


TRAININGS = [
    dict(objective="lambdarank"),
    dict(objective="lambdarank", boosting="dart", drop_rate=0.5),
    dict(objective="regression", boosting="rf", bagging_freq=1, bagging_fraction=0.6),
    dict(objective="binary"),
    dict(objective="regression", zero_as_missing=True),
    dict(objective="regression", use_missing=False),
    dict(objective="regression", extra_trees=True, max_bin=15),
    dict(objective="rank_xendcg"),
]


def lightgbm_writes(program, rng, models):
    """listwise reads what LightGBM trains, with every way to treat missing values."""
    for k in range(models):
        params = dict(TRAININGS[k % len(TRAININGS)], num_leaves=9, min_data_in_leaf=3, verbose=-1, num_threads=1, min_data_per_group=5, cat_smooth=1, max_cat_to_onehot=1)
        categorical = (0, 2)[k // len(TRAININGS) % 2]
        x, y = draw_training(rng, categorical=categorical, coarse=k % 3 == 0)
        if params.get("zero_as_missing"):
            x[rng.random(x.shape) < 0.2] = 0
        target = (y > 0) if params["objective"] == "binary" else y
        data = lgb.Dataset(x, target, group=[50] * 8, categorical_feature=list(range(categorical)), params=params)
        booster = lgb.train(params, data, num_boost_round=6)
        booster.save_model(str(program.folder / "l.txt"))
        model = {"features": {"count": x.shape[1]}, "scorer": {"trees": thresholds_of(booster)}}
        test = draw_documents(rng, model, categorical=categorical)
        want = booster.predict(test.astype(float), raw_score=params["objective"] == "binary")
        same(program.score("l.txt", test), want, 1e-9, f"model {k}, {params}")
        program.run("import", "l.txt", "--model", "i.json")
        same(program.score("i.json", test), want, 1e-9, f"model {k}, imported")
    return f"{models} models"


def thresholds_of(booster):
    """The trees' thresholds in the form of draw_documents."""
    trees = []
    for tree in booster.dump_model()["tree_info"]:
        feature, threshold, nodes = [], [], [tree["tree_structure"]]
        while nodes:
            n = nodes.pop()
            if "split_feature" in n:
                nodes += [n["left_child"], n["right_child"]]
                if n["decision_type"] == "<=":
                    feature.append(n["split_feature"] + 1)
                    threshold.append(n["threshold"])
        trees.append({"feature": feature, "threshold": threshold})
    return trees


CHECKS = [lightgbm_reads, lightgbm_reads_first_feature, lightgbm_logistic, lightgbm_writes]

"""Checks for CatBoost's JSON, written and read by listwise."""

import json

import catboost as cb
import numpy as np

from compare import same
from drawn import draw_documents, draw_model, draw_training


def catboost_reads(program, rng, models):
    """CatBoost loads what export writes."""
    for k in range(models):
        missing = k % 2 == 1
        model = draw_model(rng, program.folder / "m.json", missing=False)
        if missing:  # CatBoost has one way for missing values a feature
            left = rng.random(model["features"]["count"]) < 0.5
            for tree in model["scorer"]["trees"]:
                tree["missing_left"] = [i for i, f in enumerate(tree["feature"]) if left[f - 1]]
            rewrite(program, dict(model, missing="keep"))
        x = draw_documents(rng, model, missing=missing)
        program.run("export", "--model", "m.json", "--to", "catboost", "--out", "c.json")
        booster = cb.CatBoost()
        booster.load_model(str(program.folder / "c.json"), format="json")
        want = booster.predict(x)
        same(program.score("m.json", x), want, 1e-12, f"model {k}")
        same(program.score("c.json", x), want, 1e-12, f"model {k}, read back")
        names = model["features"].get("names") or [str(j) for j in range(x.shape[1])]
        if booster.feature_names_ != names:
            raise AssertionError(f"the names are {booster.feature_names_}, expected {names}")
    return f"{models} models"


def rewrite(program, model):
    (program.folder / "m.json").write_text(json.dumps(model))


TRAININGS = [
    dict(loss_function="YetiRank"),
    dict(loss_function="RMSE"),
    dict(loss_function="Logloss"),
    dict(loss_function="QueryRMSE", grow_policy="Depthwise"),
    dict(loss_function="RMSE", grow_policy="Lossguide", max_leaves=9),
    dict(loss_function="RMSE", nan_mode="Max"),
    dict(loss_function="PairLogit", border_count=500),
]


def catboost_writes(program, rng, models):
    """listwise reads what CatBoost trains."""
    for k in range(models):
        params = dict(TRAININGS[k % len(TRAININGS)], iterations=8, depth=4, thread_count=1, verbose=0, allow_writing_files=False, random_seed=k)
        x, y = draw_training(rng, coarse=k % 3 == 0)
        names = [f"name{j}" for j in range(x.shape[1])] if k % 2 else None
        target = y > 0 if params["loss_function"] == "Logloss" else y
        booster = cb.CatBoost(params)
        booster.fit(cb.Pool(x, target, group_id=np.repeat(np.arange(8), 50), feature_names=names))
        booster.save_model(str(program.folder / "c.json"), format="json")
        borders = booster.get_borders()
        trees = [{"feature": [j + 1] * len(b), "threshold": b} for j, b in borders.items()]
        test = draw_documents(rng, {"features": {"count": x.shape[1]}, "scorer": {"trees": trees}})
        want = booster.predict(test, prediction_type="RawFormulaVal")
        same(program.score("c.json", test), want, 1e-10, f"model {k}, {params}")
        program.run("import", "c.json", "--model", "i.json")
        same(program.score("i.json", test), want, 1e-10, f"model {k}, imported")
    return f"{models} models"


CHECKS = [catboost_reads, catboost_writes]

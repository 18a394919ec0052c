"""Checks that other programs load models that listwise trained and wrote for them."""

import catboost as cb
import lightgbm as lgb
import numpy as np
import xgboost as xgb

from compare import same
from drawn import draw_training, write_letor

TRAININGS = {
    "lambdamart": ("--set", "trees=10", "--missing", "keep"),
    "mart": ("--set", "trees=10", "--missing", "zero", "--transform", "clip=-1:1", "--transform", "log1p", "--transform", "standard"),
    "rankboost": ("--set", "rounds=20", "--missing", "zero", "--transform", "standard"),
    "frank": ("--set", "rounds=20", "--missing", "zero"),
}


def trained_models(program, rng, models):
    """Boosted trees and stumps, with missing values and transforms that are folded into thresholds."""
    x, y = draw_training(rng, coarse=True)
    write_letor(program.folder / "train.txt", x, y)
    test = draw_training(rng, coarse=True)[0]
    for method, options in TRAININGS.items():
        program.run("train", "--method", method, "--train", "train.txt", "--model", "m.json", "--no-record", *options)
        want = program.score("m.json", test)
        for name in ("lightgbm", "xgboost"):
            program.run("export", "--model", "m.json", "--to", name, "--out", name)
        same(lgb.Booster(model_file=str(program.folder / "lightgbm")).predict(test.astype(float)), want, 1e-10, f"{method}, LightGBM")
        same(xgb.Booster(model_file=str(program.folder / "xgboost")).predict(xgb.DMatrix(test)), want, 3e-6, f"{method}, XGBoost")
        if "keep" in options:  # CatBoost has one way for missing values a feature
            continue
        full = np.nan_to_num(test)
        write_letor(program.folder / "full.txt", np.nan_to_num(x), y)
        strict = [o for o in options if o not in ("--missing", "zero")]
        program.run("train", "--method", method, "--train", "full.txt", "--model", "full.json", "--no-record", *strict)
        program.run("export", "--model", "full.json", "--to", "catboost", "--out", "c.json")
        booster = cb.CatBoost()
        booster.load_model(str(program.folder / "c.json"), format="json")
        same(booster.predict(full), program.score("full.json", full), 1e-10, f"{method}, CatBoost")
    return f"{len(TRAININGS)} methods"


CHECKS = [trained_models]

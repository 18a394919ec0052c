"""Checks for models that LightGBM, XGBoost and CatBoost trained on pandas data frames with categorical columns."""

import json

import catboost as cb
import lightgbm as lgb
import numpy as np
import pandas as pd
import xgboost as xgb

from compare import same

KINDS = {
    "words": ["tan", "red", "blue", "green", "Ärmel", "a,b \"c\""],
    "ids": [30, 10, 20, -5, 70000, 12345678],
    "digits": ["30", "10", "20", "5"],
    "partly": ["2", "1", "x", "0"],
    "identity": [0, 1, 2, 3],
    "many": [f"v{i}" for i in range(60)],
    "truth": [True, False],
    "decimals": [1.5, 0.1, -2.25, 1e-3],
}
ONLY_LIGHTGBM = ("truth", "decimals")  # XGBoost takes texts and whole numbers


def draw_frame(rng, kinds, rows=600):
    """Columns of categories, in orders of their own and with values that do not occur, and of numbers."""
    columns = {}
    for j, kind in enumerate(kinds):
        values = list(KINDS[kind])
        rng.shuffle(values)
        drawn = pd.Series([values[i] for i in rng.integers(0, len(values), rows)], dtype="object")
        drawn[rng.random(rows) < 0.1] = None
        if kind == "number":
            continue
        columns[f"c{j}_{kind}"] = pd.Categorical(drawn, categories=values, ordered=bool(rng.random() < 0.2))
        columns[f"x{j}"] = rng.normal(size=rows)
    frame = pd.DataFrame(columns)
    signal = frame.filter(regex="^x").sum(axis=1) + sum((frame[c].cat.codes.astype(int) * 7919 % 5 - 2) for c in frame if c[0] == "c")
    return frame, np.digitize(signal, [-2, 0, 2])


def write_tables(folder, frame):
    """The frame as CSV, JSON lines and Parquet, with a column of queries."""
    table = frame.copy()
    table.insert(0, "qid", np.arange(len(frame)) // 50)
    table.to_csv(folder / "data.csv", index=False)
    plain = table.apply(lambda c: c.astype(object))
    with open(folder / "data.jsonl", "w") as out:
        for row in plain.to_dict("records"):
            out.write(json.dumps({k: None if pd.isna(v) else v for k, v in row.items()}, default=lambda v: v.item()) + "\n")
    for c in table:
        if isinstance(table[c].dtype, pd.CategoricalDtype):
            values = table[c].astype(object)
            table[c] = values.map(bool).where(values.notna()) if frame[c].cat.categories.dtype == bool else values
    table.to_parquet(folder / "data.parquet", index=False)
    return ("data.csv", "data.jsonl", "data.parquet")


def agree(program, models, frame, want, tolerance, what):
    order = np.random.default_rng(1).permutation(frame.columns)
    for table in write_tables(program.folder, frame[order]):
        for model in models:
            got = [float(v) for v in program.run("score", "--model", model, "--data", table).split()]
            same(got, want, tolerance, f"{what}, {table}, {model}")


def refuse(program, model, frame, column):
    """A value that is no category and no code is an error with its line."""
    frame = frame.copy()
    frame[column] = frame[column].astype(object)
    frame.loc[7, column] = "no category" if isinstance(frame[column].dropna().iloc[0], str) else 4711
    for table in write_tables(program.folder, frame):
        try:
            program.run("score", "--model", model, "--data", table)
        except RuntimeError as error:
            if "one of the model's categories" not in str(error):
                raise
            continue
        raise AssertionError(f"{table}: an unknown category of {column} is scored")


def draw_kinds(rng, leave=()):
    kinds = [k for k in KINDS if k not in leave]
    return list(rng.choice(kinds, rng.integers(1, 5), replace=False))


def lightgbm_frames(program, rng, models):
    for k in range(models):
        kinds = draw_kinds(rng)
        frame, y = draw_frame(rng, kinds)
        params = dict(objective="lambdarank", verbose=-1, num_leaves=12, min_data_in_leaf=3, min_data_per_group=3, cat_smooth=1, max_cat_to_onehot=1 + k % 5, num_threads=1)
        booster = lgb.train(params, lgb.Dataset(frame, y, group=[50] * 12), 8)
        booster.save_model(str(program.folder / "l.txt"))
        program.run("import", "l.txt", "--model", "i.json")
        test, _ = draw_frame(rng, kinds)
        for c in frame:
            if c[0] == "c":
                test[c] = pd.Categorical(test[c].astype(object), categories=frame[c].cat.categories, ordered=frame[c].cat.ordered)
        agree(program, ("l.txt", "i.json"), test, booster.predict(test), 1e-9, f"model {k}, {kinds}")
        for c in frame:
            if c[0] == "c" and "truth" not in c:
                refuse(program, "i.json", test, c)
        program.run("export", "--model", "i.json", "--to", "lightgbm", "--out", "again.txt")
        same(lgb.Booster(model_file=str(program.folder / "again.txt")).predict(test), booster.predict(test), 1e-9, f"model {k}, written")
    return f"{models} models"


def xgboost_frames(program, rng, models):
    for k in range(models):
        kinds = draw_kinds(rng, ONLY_LIGHTGBM)
        frame, y = draw_frame(rng, kinds)
        data = xgb.DMatrix(frame, y, enable_categorical=True)
        data.set_group([50] * 12)
        booster = xgb.train(dict(objective="rank:ndcg", max_depth=4, max_cat_to_onehot=1 + k % 5, nthread=1, booster=("gbtree", "dart")[k % 2]), data, 8)
        booster.save_model(str(program.folder / "x.json"))
        booster.save_model(str(program.folder / "x.ubj"))
        program.run("import", "x.json", "--model", "i.json")
        test, _ = draw_frame(rng, kinds)
        for c in frame:
            if c[0] == "c":
                test[c] = pd.Categorical(test[c].astype(object), categories=frame[c].cat.categories)
        want = booster.predict(xgb.DMatrix(test, enable_categorical=True), output_margin=True)
        agree(program, ("x.json", "x.ubj", "i.json"), test, want, 3e-6, f"model {k}, {kinds}")
        for c in frame:
            if c[0] == "c":
                refuse(program, "i.json", test, c)
    return f"{models} models"


def catboost_frames(program, rng, models):
    """Columns of categories that no tree uses, before and among columns of numbers, keep the names."""
    for k in range(models):
        frame, y = draw_frame(rng, draw_kinds(rng, ONLY_LIGHTGBM))
        frame = frame.apply(lambda c: c.astype(object).map(lambda v: str(v)) if isinstance(c.dtype, pd.CategoricalDtype) else c)
        numbers = frame.filter(regex="^x").sum(axis=1)
        for c in frame:
            if c[0] == "c":
                frame[c] = rng.choice(["u", "v"], len(frame))
        categories = [c for c in frame if c[0] == "c"]
        booster = cb.CatBoost(dict(loss_function="RMSE", iterations=8, depth=3, thread_count=1, verbose=0, allow_writing_files=False, random_seed=k))
        booster.fit(cb.Pool(frame, numbers, cat_features=categories))
        booster.save_model(str(program.folder / "c.json"), format="json")
        trees = json.loads((program.folder / "c.json").read_text())["oblivious_trees"]
        if any(s["split_type"] != "FloatFeature" for t in trees for s in t["splits"]):
            continue  # which is refused
        program.run("import", "c.json", "--model", "i.json")
        agree(program, ("c.json", "i.json"), frame, booster.predict(frame), 1e-10, f"model {k}")
    return f"{models} models"


CHECKS = [lightgbm_frames, xgboost_frames, catboost_frames]

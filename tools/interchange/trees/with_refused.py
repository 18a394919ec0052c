"""Checks that files that are not models, or are incomplete, get an error that describes the fault."""

import json
import lzma
import pickle

import catboost as cb
import lightgbm as lgb
import xgboost as xgb

from compare import same
from drawn import draw_training


def refused(program, name, expected):
    try:
        program.run("import", name, "--model", "i.json")
    except RuntimeError as error:
        if expected not in str(error):
            raise AssertionError(f"{name}: the error lacks {expected!r}: {error}") from error
        return 1
    raise AssertionError(f"{name} is read")


def train(rng):
    x, y = draw_training(rng, missing=0)
    light = lgb.train(dict(verbose=-1, min_data_in_leaf=3), lgb.Dataset(x, y), 5)
    boost = xgb.train({}, xgb.DMatrix(x, y), 5)
    cat = cb.CatBoost(dict(iterations=5, verbose=0, allow_writing_files=False))
    cat.fit(cb.Pool(x, y))
    return light, boost, cat


def other_files(program, rng, models):
    """What the programs write beside their models."""
    light, boost, cat = train(rng)
    at = program.folder
    light.save_model(str(at / "l.txt"))
    (at / "dump.json").write_text(json.dumps(light.dump_model()))
    boost.dump_model(str(at / "dump.txt"), with_stats=True)
    (at / "tree.txt").write_text(boost.get_dump()[0])
    (at / "tree.dot").write_text(boost.get_dump(dump_format="dot")[0])
    (at / "config.json").write_text(boost.save_config())
    cat.save_model(str(at / "c.cbm"))
    cat.save_model(str(at / "c.onnx"), format="onnx")
    cat.save_model(str(at / "c.pmml"), format="pmml")
    for protocol in (0, 2, 4, 5):
        (at / f"{protocol}.pkl").write_bytes(pickle.dumps(light, protocol))
    (at / "l.txt.xz").write_bytes(lzma.compress((at / "l.txt").read_bytes()))
    return f"""{sum(refused(program, name, expected) for name, expected in {
        "dump.json": "a JSON dump of LightGBM",
        "dump.txt": "a text dump of XGBoost",
        "tree.txt": "a text dump of XGBoost",
        "tree.dot": "a drawing of trees",
        "config.json": "save_config only its configuration",
        "c.cbm": "CatBoost's binary format",
        "c.onnx": "ONNX",
        "c.pmml": "PMML",
        "0.pkl": "a pickle of Python",
        "2.pkl": "a pickle of Python",
        "4.pkl": "a pickle of Python",
        "5.pkl": "a pickle of Python",
        "l.txt.xz": "a file that xz compressed",
    }.items())} files"""


def incomplete_files(program, rng, models):
    """Models that lack a tree."""
    light, boost, cat = train(rng)
    at = program.folder
    boost.save_model(str(at / "x.json"))
    whole = json.loads((at / "x.json").read_text())
    forest = whole["learner"]["gradient_booster"]["model"]
    trees = forest["trees"]
    forest["trees"] = trees[:-1]
    (at / "fewer.json").write_text(json.dumps(whole))
    del forest["trees"]
    (at / "none.json").write_text(json.dumps(whole))
    cat.save_model(str(at / "c.json"), format="json")
    whole = json.loads((at / "c.json").read_text())
    del whole["oblivious_trees"]
    (at / "c.json").write_text(json.dumps(whole))
    text = light.model_to_string()
    begin, end = text.index("Tree=2"), text.index("Tree=3")
    (at / "l.txt").write_text(text[:begin] + text[end:])
    for name, expected in {"fewer.json": 'as "num_trees" says', "none.json": 'found no "trees"', "c.json": 'found neither "oblivious_trees" nor "trees"', "l.txt": "the file is not whole"}.items():
        refused(program, name, expected)
    return "4 files"


def xgboost_names(program, rng, models):
    """XGBoost takes the names that export writes in place of those that it does not take."""
    x, y = draw_training(rng, missing=0)
    light = lgb.train(dict(verbose=-1, min_data_in_leaf=3), lgb.Dataset(x, y, feature_name=[f"a<{j}" for j in range(x.shape[1])]), 5)
    light.save_model(str(program.folder / "l.txt"))
    program.run("export", "--model", "l.txt", "--to", "xgboost", "--out", "x.json")
    names = [f"a_{j}" for j in range(x.shape[1])]
    booster = xgb.Booster(model_file=str(program.folder / "x.json"))
    same(booster.predict(xgb.DMatrix(x, feature_names=names)), light.predict(x), 3e-6, "names")
    return f"{len(names)} names"


CHECKS = [other_files, incomplete_files, xgboost_names]

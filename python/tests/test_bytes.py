"""Models are those of the command line, byte for byte."""

import json
import subprocess

import numpy as np
import pytest
from conftest import ROOT, judged, letor

import listwise


def methods():
    out = subprocess.run(["go", "run", "./cmd/listwise", "methods", "--format", "json"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [(m["name"], scorer) for m in json.loads(out.stdout) for scorer in m["scorers"]]


# Settings that make trainings short.
SHORT = {"epochs": 3, "trees": 5, "rounds": 5, "iterations": 20, "restarts": 1, "samples": 50}


def short(listwise_program, name, scorer):
    out = subprocess.run([listwise_program, "methods", name, "--scorer", scorer, "--format", "json"], capture_output=True, text=True, check=True)
    known = {h["name"] for h in json.loads(out.stdout).get("hyperparameters", [])}
    return {k: v for k, v in SHORT.items() if k in known}


@pytest.mark.parametrize(("name", "scorer"), methods())
def test_every_method(name, scorer, command, listwise_program, tmp_path):
    X, y, qid = judged(queries=12, documents=8, features=4)
    V, z, vqid = judged(queries=5, documents=8, features=4, seed=1)
    letor(tmp_path / "train.txt", X, y, qid)
    letor(tmp_path / "valid.txt", V, z, vqid + 100)
    settings = short(listwise_program, name, scorer)
    flags = [f for k, v in settings.items() for f in ("--set", f"{k}={v}")]
    command("train", "--method", name, "--scorer", scorer, *flags, "--train", "train.txt", "--valid", "valid.txt", "--model", "m.json", "-q")
    ranker = listwise.Ranker(name, scorer=scorer, **settings).fit(X, y, qid=qid, eval_set=(V, z, vqid + 100))
    assert ranker.model_.file == (tmp_path / "m.json").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "flags"),
    [
        ({"measure": "map", "seed": 7}, ["--measure", "map", "--seed", "7"]),
        ({"normalize": "zscore", "views": "raw,rank"}, ["--normalize", "zscore", "--views", "raw,rank"]),
        ({"transforms": ["clip=5%:95%", "standard:1,2"]}, ["--transform", "clip=5%:95%", "--transform", "standard:1,2"]),
        ({"threshold": 2, "convention": "trec"}, ["--threshold", "2", "--convention", "trec"]),
        ({"C": 0.1}, ["--set", "C=0.1"]),
    ],
)
def test_arguments_are_flags(arguments, flags, command, tmp_path, data):
    X, y, qid = data
    letor(tmp_path / "train.txt", X, y, qid)
    command("train", "--method", "convexloss", *flags, "--train", "train.txt", "--model", "m.json", "-q")
    assert listwise.Ranker("convexloss", **arguments).fit(X, y, qid=qid).model_.file == (tmp_path / "m.json").read_bytes()


def test_queries_in_several_places_and_missing_values(command, tmp_path, data):
    X, y, qid = data
    order = np.random.default_rng(3).permutation(len(y))
    X, y, qid = X[order], y[order], qid[order]
    X[::7, 2] = np.nan
    letor(tmp_path / "train.txt", X, y, qid)
    for missing, method in [("min", "mle"), ("mean", "mle"), ("zero", "mle"), ("keep", "lambdamart")]:
        settings = {"trees": 5} if method == "lambdamart" else {}
        flags = [f for k, v in settings.items() for f in ("--set", f"{k}={v}")]
        command("train", "--method", method, *flags, "--missing", missing, "--train", "train.txt", "--model", "m.json", "-q")
        before = X.copy()
        with pytest.warns(listwise.DataWarning, match="were scattered"):
            ranker = listwise.Ranker(method, missing=missing, **settings).fit(X, y, qid=qid)
        assert ranker.model_.file == (tmp_path / "m.json").read_bytes()
        assert np.array_equal(before, X, equal_nan=True)


def test_names_of_features(command, tmp_path, data):
    pandas = pytest.importorskip("pandas")
    X, y, qid = data
    table = pandas.DataFrame(X, columns=["bm25", "price", "age", "clicks", "length"])
    table.assign(grade=y, query=qid).to_csv(tmp_path / "train.csv", index=False)
    command("train", "--method", "mle", "--train", "train.csv", "--model", "m.json", "-q")
    ranker = listwise.Ranker("mle").fit(table, y, qid=qid)
    assert ranker.model_.file == (tmp_path / "m.json").read_bytes()
    assert list(ranker.feature_names_in_) == list(table.columns)


def test_scores_are_the_commands(command, tmp_path, data):
    X, y, qid = data
    letor(tmp_path / "train.txt", X, y, qid)
    ranker = listwise.Ranker("convexloss", normalize="zscore").fit(X, y, qid=qid)
    ranker.save(tmp_path / "m.json")
    scores = np.array(command("score", "--model", "m.json", "--data", "train.txt").split(), float)
    assert np.array_equal(ranker.predict(X, qid=qid), scores)
    assert np.array_equal(listwise.Ranker.load(tmp_path / "m.json").predict(X, qid=qid), scores)

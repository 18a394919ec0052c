"""Click models, judgments, propensities and simulations: their numbers are those of the commands."""

import csv
import json
import pickle
import sys

import numpy as np
import pytest
from conftest import judged, letor

import listwise
from listwise import clicks

pandas = pytest.importorskip("pandas")

X, y, qid = judged(queries=12, documents=8)
DOC = np.asarray([f"d{i}" for i in range(len(y))])


@pytest.fixture(scope="module")
def ranker():
    return listwise.Ranker("mle").fit(X, y, qid=qid)


@pytest.fixture(scope="module")
def log(ranker):
    return clicks.simulate(ranker, X, y, qid=qid, doc=DOC, pages=4000, users=200, order="swap", seed=3)


@pytest.fixture(scope="module")
def held(ranker):
    return clicks.simulate(ranker, X, y, qid=qid, doc=DOC, pages=400, first=4000, order="swap", seed=3)


def written(log, path):
    """Writes a log in the way of pandas; lists are JSON text."""
    log = log.assign(swapped=log["swapped"].map(json.dumps), swap=log["swap"].map({True: "true", False: "false"}))
    log.to_csv(path, index=False)
    return path


def table(text):
    rows = list(csv.DictReader(text.splitlines()))
    return {name: [row[name] for row in rows] for name in rows[0]}


@pytest.mark.parametrize("model", ["gctr", "rctr", "dctr", "pbm", "cm", "ubm", "dcm", "sdbn", "dbn", "ccm"])
def test_fit_is_that_of_the_command(model, log, held, command, tmp_path):
    pages, valid = written(log, tmp_path / "pages.csv"), written(held, tmp_path / "valid.csv")
    fitted = clicks.fit(log, model, valid=held, resamples=50)
    out = json.loads(command("clicks", "fit", "--model", model, pages, "--valid", valid, "--resamples", 50, "--out", "m.json", "--format", "json"))
    assert fitted.file == (tmp_path / "m.json").read_bytes()
    assert fitted.measures == {m["measure"]: {k: m[k] for k in ("value", "low", "high")} for m in out["models"][0]["measures"]}
    assert fitted.log_likelihood == out["models"][0]["measures"][0]["value"]
    assert fitted.perplexity == fitted.measures["perplexity"]["value"]
    shared = next(iter(fitted.parameters.values()), np.empty(0)).tolist()
    assert shared == (out["models"][0]["parameters"] or [])


def test_predictions_have_the_likelihood_of_the_measures(log, held):
    fitted = clicks.fit(log, "dbn", valid=held, resamples=0)
    p, clicked = fitted.predict(held), held["clicks"].to_numpy() > 0
    logs = pandas.Series(np.log(np.where(clicked, p, 1 - p)))
    assert fitted.log_likelihood == pytest.approx(logs.groupby(held["page"]).mean().mean(), abs=1e-12)
    full = fitted.predict(held.drop(columns="clicks"), conditional=False)
    ranks = pandas.Series(np.log2(np.where(clicked, full, 1 - full))).groupby(held["rank"]).mean()
    assert fitted.perplexity == pytest.approx((2.0**-ranks).mean(), abs=1e-12)
    assert (full != p).any()


def test_a_model_keeps_its_file(log, held, tmp_path):
    fitted = clicks.fit(log, "sdbn", exact=True, prior="laplace")
    fitted.save(tmp_path / "m.json")
    for same in (pickle.loads(pickle.dumps(fitted)), clicks.ClickModel.load(tmp_path / "m.json")):
        assert same.file == fitted.file and same.name == "sdbn"
        assert (same.predict(held) == fitted.predict(held)).all()
    assert np.isnan(fitted.log_likelihood) and fitted.measures == {}
    attraction = fitted.attraction
    assert list(attraction.columns) == ["query", "doc", "attraction", "satisfaction"]
    assert len(attraction) == len(log.drop_duplicates(["query", "doc"]))


def test_judgments_are_those_of_the_command(log, command, tmp_path):
    pages = written(log, tmp_path / "pages.csv")
    for arguments, flags in [
        ({}, []),
        ({"model": "pbm", "levels": 3, "min_examinations": 2}, ["--model", "pbm", "--levels", 3, "--min-examinations", 2]),
        ({"levels": [0.1, 0.3], "keep_unsure": True, "relevance": "attraction", "bootstrap": 10}, ["--at", "0.1,0.3", "--keep-unsure", "--relevance", "attraction", "--bootstrap", 10]),
    ]:
        found = clicks.judge(log, **arguments)
        command("clicks", "judge", pages, *flags, "--out", "out.csv")
        want = table((tmp_path / "out.csv").read_text())
        assert list(found.columns) == list(want)
        for name, values in want.items():
            assert found[name].tolist() == (values if name == "doc" else [float(v) for v in values]), name


def test_propensities_are_those_of_the_command(log, command, tmp_path):
    pages = written(log, tmp_path / "pages.csv")
    for method in (None, "swap", "em"):
        few, flags = ({"bootstrap": 10}, ["--bootstrap", 10]) if method == "em" else ({}, [])
        found = clicks.propensities(log, method, **few)
        flags += [] if method is None else ["--method", method]
        want = json.loads(command("clicks", "propensities", pages, *flags, "--out", "theta.json", "--format", "json"))
        assert found.data == want and found.method == want["method"]
        assert found.table["propensity"].tolist() == [s["theta"] for s in want["slots"]]
        assert found.table["low"].tolist() == [s["low"] for s in want["slots"]]
        found.save(tmp_path / "own.json")
        assert (tmp_path / "own.json").read_bytes() == (tmp_path / "theta.json").read_bytes()


def test_propensities_by_arm(ranker, command, tmp_path):
    log = clicks.simulate({"a": ranker, "b": ranker}, X, y, qid=qid, doc=DOC, pages=6000, order="arms:1,1", top=3)
    found = clicks.propensities(log, "em", by="arm", bootstrap=10)
    log.to_csv(tmp_path / "pages.csv", index=False)
    want = table(command("clicks", "propensities", "pages.csv", "--method", "em", "--by", "arm", "--bootstrap", 10, "--format", "csv"))
    assert found.table["arm"].tolist() == want["arm"]
    for name, column in {"propensity": "propensity", "low": "from", "high": "to"}.items():
        assert found.table[name].tolist() == [float(v) for v in want[column]]


def test_propensities_by_features_and_by_grades(log, command, tmp_path):
    pages = written(log, tmp_path / "pages.csv")
    by_features = clicks.propensities(log, "regression", X=X, y=y, qid=qid, doc=DOC, bootstrap=0)
    letor(tmp_path / "data.txt", X, y, qid)
    lines = (tmp_path / "data.txt").read_text().splitlines()
    (tmp_path / "data.txt").write_text("".join(f"{line} # docid = {doc}\n" for line, doc in zip(lines, DOC, strict=True)))
    for method, argument in {"regression": "--data", "trust": "--judged"}.items():
        want = json.loads(command("clicks", "propensities", pages, "--method", method, argument, "data.txt", "--bootstrap", 0, "--format", "json"))
        found = clicks.propensities(log, method, X=X, y=y, qid=qid, doc=DOC, bootstrap=0)
        assert found.data == want
    assert ("alpha" in found.table.columns) and ("alpha" not in by_features.table.columns)
    assert clicks.propensities(log, "trust", y=y, qid=qid, doc=DOC, bootstrap=0).data == found.data


def test_a_simulation_is_that_of_the_command(ranker, command, tmp_path):
    letor(tmp_path / "data.txt", X, y, qid)
    ranker.save(tmp_path / "m.json")
    other = listwise.Ranker("regression").fit(X, y, qid=qid)
    other.save(tmp_path / "o.json")
    columns = {"page", "query", "clicks", "swapped", "exchanged", "propensity", "propensities", "arm", "user", "shuffled"}
    for order, models in {"swap": {"m": ranker}, "pairs": {"m": "m.json"}, "shuffle:4": {"m": ranker}, "arms:2,1": {"m": ranker, "o": other}}.items():
        named = {name: tmp_path / model if isinstance(model, str) else model for name, model in models.items()}
        log = clicks.simulate(named, X, y, qid=qid, pages=200, click="dbn:stop=0,.5,.9,continue=.9", order=order, users=20, top=5, seed=7)
        flags = [flag for name in models for flag in ("--model", f"{name}={name}.json")]
        command("clicks", "simulate", "--data", "data.txt", *flags, "--pages", 200, "--click", "dbn:stop=0,.5,.9,continue=.9", "--order", order,
                "--users", 20, "--top", 5, "--seed", 7, "--out", "p.csv")  # fmt: skip
        want = table((tmp_path / "p.csv").read_text())
        assert log["doc"].tolist() == want["docs"]
        for name in columns & set(log.columns):
            said = log[name].map(lambda v: v if isinstance(v, str) else json.dumps(v, separators=(",", ":")) if isinstance(v, list) else "" if v is None else f"{v!r}")
            same = [a == b or float(a) == float(b) for a, b in zip(said, want[name], strict=True)]
            assert all(same), name
        again = clicks.fit(log, "pbm")
        assert again.file == clicks.fit(tmp_path / "p.csv", "pbm").file


def test_a_fitted_model_clicks(ranker, log):
    fitted = clicks.fit(log, "pbm")
    one = clicks.simulate(ranker, X, y, qid=qid, doc=DOC, pages=3000, click=fitted)
    assert fitted.predict(one).sum() == pytest.approx(one["clicks"].sum(), rel=0.1)


def test_logs_of_any_kind_are_one(log, tmp_path):
    log = log.iloc[:1600]
    want = clicks.fit(log, "ubm").file
    path = written(log, tmp_path / "pages.csv")
    kinds = {
        "dict of lists": {name: log[name].tolist() for name in log.columns},
        "dict of arrays": {name: log[name].to_numpy() for name in ("page", "query", "doc", "clicks")},
        "list of dicts": log.to_dict("records"),
        "path": path,
        "paths": [str(path)],
        "index of any kind": log.set_index(np.arange(len(log))[::-1]),
        "clicked": log.assign(clicked=log["clicks"] > 0).drop(columns="clicks"),
        "ids that are numbers": log.assign(page=log["page"].astype(int), query=log["query"].astype(float)),
        "times": log.assign(time=pandas.to_datetime(log["time"])),
        "nullable": log.assign(clicks=log["clicks"].astype("Int64"), user=log["user"].where(log["user"] != "3")),
    }
    for name, given in kinds.items():
        assert clicks.fit(given, "ubm").file == want, name
    for name in ("polars", "pyarrow"):
        module = pytest.importorskip(name)
        given = module.from_pandas(log) if name == "polars" else module.Table.from_pandas(log)
        assert clicks.fit(given, "ubm").file == want, name


def test_without_pandas(log, monkeypatch):
    want = clicks.fit(log, "ubm")
    monkeypatch.setitem(sys.modules, "pandas", None)
    ranker = listwise.Ranker("mle").fit(X, y, qid=qid)
    rows = clicks.simulate(ranker, X, y, qid=qid, doc=DOC, pages=4000, users=200, order="swap", seed=3)
    assert isinstance(rows, list) and rows[0]["rank"] == 1
    assert clicks.fit(rows, "ubm").file == want.file
    assert clicks.judge(rows)[0].keys() >= {"query", "doc", "grade"} and clicks.propensities(rows).table[0]["propensity"] == 1


def test_ids_keep_their_type(ranker, log):
    numbers = np.arange(len(y)) + 100
    table = pandas.DataFrame(X).assign(qid=qid).rename(columns=str)
    for made in (clicks.simulate(ranker, X, y, qid=qid, doc=numbers, pages=50), clicks.simulate(ranker.__class__("mle").fit(table, y), table, y, doc=numbers, pages=50)):
        assert made["query"].dtype == qid.dtype and made["doc"].dtype == numbers.dtype
        judged = clicks.judge(made)
        assert len(pandas.DataFrame({"query": qid, "doc": numbers}).merge(judged)) == len(judged) > 0
        for kind in (made.to_dict("list"), made.to_dict("records"), made.rename(columns={"doc": "docs"})):
            assert clicks.judge(kind).equals(judged)
        texts = clicks.judge(made.astype({"query": str, "doc": str}))
        assert texts["query"].tolist() == [str(q) for q in judged["query"]]
        assert texts.drop(columns=["query", "doc"]).equals(judged.drop(columns=["query", "doc"]))
    assert clicks.judge(log)["query"].dtype == log["query"].dtype


def test_users_are_the_units_of_intervals(log):
    users = clicks.fit(log, "pbm", valid=log, resamples=50).measures["perplexity"]
    pages = clicks.fit(log, "pbm", valid=log.drop(columns="user"), resamples=50).measures["perplexity"]
    assert users["value"] == pages["value"] and users["low"] != pages["low"]


def test_pages_with_other_slots_are_told(log):
    side = log.iloc[:1600].assign(slot=np.where(log["page"].iloc[:1600] == "0", "side" + log["rank"].iloc[:1600].astype(str), log["rank"].iloc[:1600].astype(str)))
    with pytest.warns(listwise.DataWarning, match="^valid: left out 1 page with slots or ranks that a model does not have: side"):
        clicks.fit(log, valid=side, resamples=0)


def test_unknown_columns_are_told(log):
    with pytest.warns(listwise.DataWarning, match="members that are not known and were ignored: cliks"):
        clicks.fit(log.assign(cliks=1))


WRONG = {
    "unknown model": (lambda log: clicks.fit(log, "pbn"), 'model: unknown click model "pbn": did you mean "pbm"'),
    "several models": (lambda log: clicks.fit(log, "pbm,dbn"), "model: found 'pbm,dbn', expected the name of one"),
    "model that grades nothing": (lambda log: clicks.judge(log, "rctr"), "model rctr: the model has no grades"),
    "prior": (lambda log: clicks.fit(log, prior="much"), 'prior: found prior "much", expected laplace or'),
    "exact": (lambda log: clicks.fit(log, exact=1), "exact: found 1, expected True or False"),
    "iterations": (lambda log: clicks.fit(log, iterations=0), "iterations: found 0, expected a whole number from 1"),
    "no log": (lambda log: clicks.fit(3), "pages: found 3, expected a DataFrame, a dict of columns, or the path"),
    "no file": (lambda log: clicks.fit("nowhere.csv"), "pages: nowhere.csv: no such file"),
    "no pages": (lambda log: clicks.fit(log.iloc[:0]), "^pages: found no pages"),
    "no clicks": (lambda log: clicks.fit(log.drop(columns="clicks")), "^pages:1: found a page without clicks"),
    "no pages told": (lambda log: clicks.fit(log.drop(columns=["page", "rank"])), "^pages: found neither a column page nor a column rank"),
    "no queries": (lambda log: clicks.fit(log.drop(columns="query")), "^pages: found the columns .*, expected a column query"),
    "rows not together": (lambda log: clicks.fit({"page": [1, 2, 1], "query": [1, 2, 1], "doc": ["a", "a", "b"], "clicks": [0, 1, 0]}), "^pages:3: found page .?1"),
    "clicks no numbers": (lambda log: clicks.fit(log.assign(clicks=np.arange(len(log)) / 2 % 1)), '^pages:2: found "0.5" in clicks'),
    "clicks below 0": (lambda log: clicks.fit(log, valid=log.assign(clicks=-1)), '^valid:1: found "-1" in clicks'),
    "document twice": (lambda log: clicks.fit(log.assign(doc="d")), '^pages:1: found document "d" twice'),
    "column of objects": (lambda log: clicks.fit(log.assign(user=object())), "pages: column 'user': found <object"),
    "ids that are lists": (lambda log: clicks.judge({"page": [1], "query": [[1]], "doc": ["d"], "clicks": [1]}), "pages: column 'query': found .1., expected a text"),
    "columns of other lengths": (lambda log: clicks.fit({"query": ["a"], "doc": ["b", "c"]}), "pages: found columns of 1, 2 rows"),
    "surrogates": (lambda log: clicks.fit({"query": ["\udc00"], "doc": ["d"]}), "pages: found a text with lone surrogates"),
    "levels that fall": (lambda log: clicks.judge(log, levels=[0.5, 0.1]), 'levels: found "0.1", expected increasing'),
    "one level": (lambda log: clicks.judge(log, levels=1), "levels: found 1, expected a whole number from 2"),
    "unsure without levels": (lambda log: clicks.judge(log, keep_unsure=True), "keep_unsure: found no levels"),
    "examinations without levels": (lambda log: clicks.judge(log, min_examinations=3), "min_examinations: found no number of levels"),
    "unknown method": (lambda log: clicks.propensities(log, "magic"), 'method: found "magic", expected shuffle'),
    "unknown column": (lambda log: clicks.propensities(log, "em", by="user"), 'by: found "user", expected arm'),
    "log that tells nothing": (lambda log: clicks.propensities(log.drop(columns=["swapped", "swap", "time"]).iloc[:80]), "^pages: shuffle: found no shuffled pages.*harvest: "),
    "documents without ids": (lambda log: clicks.propensities(log, "regression", X=X, y=y, qid=qid), "doc: found none, expected the ids"),
    "unknown clicks": (lambda log: clicks.simulate("nowhere.json", X, y, qid=qid), "model: nowhere.json: no such file"),
    "no ranker": (lambda log: clicks.simulate(3, X, y, qid=qid), "model: found 3, expected a ranker"),
    "file of another kind": (lambda log: clicks.ClickModel(b"{}"), "model: found"),
    "no bytes": (lambda log: clicks.ClickModel("m.json"), "file: found 'm.json', expected the bytes"),
    "predicting without clicks": (lambda log: clicks.fit(log).predict(log.drop(columns="clicks")), "^pages:1: found no clicks, expected clicks, or conditional=False"),
    "predicting other slots": (lambda log: clicks.fit(log).predict(log.assign(slot="side")), '^pages:1: found slot "side", expected a slot of the model'),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_name_the_argument(name, log):
    call, message = WRONG[name]
    with pytest.raises(listwise.Error, match=message):
        call(log)


def test_a_simulation_names_its_arguments(ranker):
    for arguments, message in {
        "click": ({"click": "magic"}, 'click: found click model "magic"'),
        "order": ({"order": "random"}, 'order: found .*"random"'),
        "pages": ({"pages": 0}, "pages: found 0, expected a whole number from 1"),
        "first": ({"first": -1}, "first: found -1, expected a whole number from 0"),
    }.values():
        with pytest.raises(listwise.Error, match=message):
            clicks.simulate(ranker, X, y, qid=qid, **arguments)
    with pytest.raises(listwise.Error, match="model: found 2 models with order fixed"):
        clicks.simulate({"a": ranker, "b": ranker}, X, y, qid=qid)


def of_documents(path):
    """Writes the documents as a table without grades."""
    frame = pandas.DataFrame(X, columns=[f"f{j + 1}" for j in range(X.shape[1])])
    frame.insert(0, "doc", DOC)
    frame.insert(0, "query", qid)
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("debias", ["none", "examinations", "robust", "ips"])
def test_weigh_is_that_of_the_command(debias, log, command, tmp_path):
    theta = clicks.propensities(log, "swap", top=4)
    theta.save(tmp_path / "theta.json")
    pages, products = written(log, tmp_path / "pages.csv"), of_documents(tmp_path / "products.csv")
    given = {} if debias == "none" else {"propensities": theta, "max_missing": 1}
    flags = [] if debias == "none" else ["--propensities", "theta.json", "--max-missing", 1]
    t = clicks.weigh(log, X, qid=qid, doc=DOC, debias=debias, **given)
    command("clicks", "weigh", pages, "--data", products, "--debias", debias, *flags, "--out", "w.lwd")
    same = listwise.read(tmp_path / "w.lwd")
    assert (t.X == same.X).all() and (t.y == same.y).all() and (t.qid == same.qid).all() and (t.doc == same.doc).all()
    for a, b in ((t.sample_weight, same.sample_weight), (t.query_weight, same.query_weight)):
        assert (a is None) == (b is None) and (a is None or (a == b).all())
    assert (t.sample_weight is not None) == (debias in ("examinations", "robust"))
    listwise.Ranker("mart", trees=5).fit(t.X, t.y, qid=t.qid, sample_weight=t.sample_weight, query_weight=t.query_weight)


def test_evaluate_is_that_of_the_command(log, held, ranker, command, tmp_path):
    theta = clicks.propensities(log, "swap")
    theta.save(tmp_path / "theta.json")
    other = listwise.Ranker("regression").fit(X, y, qid=qid)
    ranker.save(tmp_path / "old.json"), other.save(tmp_path / "new.json")
    pages, products = written(held, tmp_path / "pages.csv"), of_documents(tmp_path / "products.csv")
    r = clicks.evaluate(held, {"new": other}, X, qid=qid, doc=DOC, propensities=theta, baseline=ranker, max_unsupported=1)
    flags = ["--propensities", "theta.json", "--baseline", "old.json", "--max-unsupported", 1, "--format", "json"]
    out = json.loads(command("clicks", "evaluate", "--pages", pages, "--data", products, *flags, "new.json"))
    assert [m["model"] for m in r["models"]] == ["baseline", "new"] and r["baseline"] == "baseline"
    assert [m["estimate"] for m in r["models"]] == [m["estimate"] for m in out["models"]]
    assert r["differences"][0]["interval"] == out["differences"][0]["interval"]


def test_errors_of_weigh_and_evaluate_name_arguments(log, ranker):
    with pytest.raises(listwise.Error, match="^doc: found none, expected the ids"):
        clicks.weigh(log, X, qid=qid)
    with pytest.raises(listwise.Error, match="propensities"):
        clicks.weigh(log, X, qid=qid, doc=DOC)
    with pytest.raises(listwise.Error, match="^propensities: found 3, expected those of clicks.propensities"):
        clicks.evaluate(log, ranker, X, qid=qid, doc=DOC, propensities=3)
    with pytest.raises(listwise.Error, match="^models: found 3, expected a ranker"):
        clicks.evaluate(log, 3, X, qid=qid, doc=DOC, estimator="slate")

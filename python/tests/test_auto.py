"""AutoRanker, against the command auto."""

import json
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, judged, letor

import listwise
from listwise import AutoRanker

X, y, qid = judged(queries=16, documents=8)
FEW = {"trials": 3, "folds": 2}


def rows(table):
    """The rows of a table: a DataFrame, or a list of dicts."""
    return table if isinstance(table, list) else table.to_dict("records")


@pytest.fixture(scope="module")
def ranker():
    return AutoRanker(**FEW).fit(X, y, qid=qid)


def test_is_the_command(command, tmp_path, ranker):
    """The model has the same bytes, and the attributes have the numbers of the folder."""
    letor(tmp_path / "d.txt", X, y, qid)
    want = json.loads(command("auto", "--no-record", "--data", "d.txt", "--trials", 3, "--folds", 2, "--out", "out", "--format", "json", "-q"))
    assert ranker.model_.file == (tmp_path / "out" / "model.json").read_bytes()
    assert ranker.results_ == want
    assert ranker.value_ == want["nested"]["value"] and list(ranker.interval_) == want["nested"]["ci"]
    assert ranker.interval_[0] < ranker.value_ < ranker.interval_[1]

    trials = {line["trial"]: line for line in map(json.loads, (tmp_path / "out" / "trials.jsonl").read_text().splitlines())}
    board = rows(ranker.leaderboard_)
    assert [row["value"] for row in board] == sorted((t["final"] for t in trials.values()), reverse=True)
    weights = {m["trial"]: m["weight"] for m in want["members"]}
    for row in board:
        line = trials[row["trial"]]
        assert row["value"] == line["final"] and [row["low"], row["high"]] == line["final_ci"] and row["low"] < row["value"] < row["high"]
        assert row["weight"] == weights.get(row["trial"], 0)
        for name in ("name", "method", "scorer", "settings", "validation"):
            assert row[name] == line[name]
    assert sum(row["weight"] for row in board) == pytest.approx(1)
    candidates = rows(ranker.candidates_)
    assert [c["value"] for c in candidates] == [c["value"] for c in want["candidates"]]
    assert [c["name"] for c in candidates if c["chosen"]] == [want["chosen"]]


def test_a_row_of_the_leaderboard_is_a_ranker(ranker):
    row = next(row for row in rows(ranker.leaderboard_) if row["views"] != "raw")
    own = listwise.Ranker(row["method"], scorer=row["scorer"], views=row["views"], transforms=row["transforms"], settings=row["settings"])
    assert own.fit(X, y, qid=qid).score(X, y, qid=qid) > 0.8


def test_refused_trials_come_last():
    missing = X.copy()
    missing[3, 1] = np.nan
    board = rows(AutoRanker(normalize="zscore", **FEW).fit(missing, y, qid=qid).leaderboard_)
    assert board[0]["scorer"] == "linear" and board[0]["refused"] == ""
    assert board[-1]["scorer"] == "trees" and np.isnan(board[-1]["value"]) and np.isnan(board[-1]["validation"])
    assert "missing values to be kept with the normalization" in board[-1]["refused"]


def test_missing_values_need_no_argument():
    missing = X.copy()
    missing[3, 1] = np.nan
    ranker = AutoRanker(**FEW).fit(missing, y, qid=qid)
    assert all(trial["refused"] == "" for trial in rows(ranker.leaderboard_))
    assert np.isfinite(ranker.predict(missing)).all()
    with pytest.raises(listwise.Error, match="missing"):
        AutoRanker(missing="error", **FEW).fit(missing, y, qid=qid)


def test_tables_without_pandas(monkeypatch, ranker):
    monkeypatch.setitem(sys.modules, "pandas", None)
    without = AutoRanker(**FEW).fit(X, y, qid=qid)
    for name in ("leaderboard_", "candidates_"):
        table = getattr(without, name)
        assert isinstance(table, list) and table == rows(getattr(ranker, name))


def test_time_and_trials_repeat_a_search():
    timed = AutoRanker(budget=1.5, folds=2).fit(X, y, qid=qid)
    again = AutoRanker(trials=timed.results_["trials"], without=timed.results_.get("without"), folds=2).fit(X, y, qid=qid)
    assert again.model_.file == timed.model_.file
    left = AutoRanker(without=np.array([1]), **FEW).fit(X, y, qid=qid)
    assert left.results_["without"] == [1] and rows(left.leaderboard_)[-1]["trial"] == 1


def test_folder(listwise_program, tmp_path, monkeypatch):
    """Its commands make the model again; the same call takes what is there."""
    monkeypatch.chdir(tmp_path)
    kept = AutoRanker(out="runs/mine", target="solr", **FEW).fit(X, y, qid=qid, eval_set=(X[:40], y[:40], qid[:40] + 100))
    folder = Path("runs/mine")
    assert (folder / "report.html").exists() and (folder / "model.solr").exists() and Path("runs/mine-X.lwd").exists()
    assert kept.results_["for"] == "solr"
    (folder / "model.json").unlink()
    environment = {**os.environ, "PATH": os.path.dirname(listwise_program) + os.pathsep + os.environ["PATH"], "LISTWISE_RUNS": "off"}
    subprocess.run(["sh", "-e", folder / "commands.sh"], env=environment, check=True, capture_output=True)
    assert (folder / "model.json").read_bytes() == kept.model_.file
    again = AutoRanker(out=folder, target="solr", **FEW).fit(X, y, qid=qid, eval_set=(X[:40], y[:40], qid[:40] + 100))
    assert again.model_.file == kept.model_.file and again.results_ == kept.results_


def test_validation_data(command, tmp_path):
    letor(tmp_path / "d.txt", X[:80], y[:80], qid[:80])
    letor(tmp_path / "v.txt", X[80:], y[80:], qid[80:])
    for folds in (1, 2):
        command("auto", "--no-record", "--train", "d.txt", "--valid", "v.txt", "--trials", 3, "--folds", folds, "--out", f"out{folds}", "-q")
        got = AutoRanker(trials=3, folds=folds).fit(X[:80], y[:80], qid=qid[:80], eval_set=(X[80:], y[80:], qid[80:]))
        assert got.model_.file == (tmp_path / f"out{folds}" / "model.json").read_bytes()


def test_inputs(ranker):
    """One search of one data set, whatever holds it."""
    pandas = pytest.importorskip("pandas")
    sparse = pytest.importorskip("scipy.sparse")
    sizes = np.full(16, 8)
    for matrix, queries in [(X.tolist(), {"qid": qid}), (sparse.csr_matrix(X), {"group": sizes}), (X, {"qid": [str(q) for q in qid]})]:
        assert AutoRanker(**FEW).fit(matrix, y, **queries).model_.file == ranker.model_.file
    frame = pandas.DataFrame(X, columns=list("abcde")).assign(qid=[f"query {q}" for q in qid])
    named = AutoRanker(**FEW).fit(frame, y)
    assert list(named.feature_names_in_) == list("abcde") and named.n_features_in_ == 5
    assert np.array_equal(named.predict(frame[["e", "d", "qid", "c", "b", "a"]]), named.predict(X, qid=qid))
    assert named.value_ == ranker.value_


def test_weights_count(ranker):
    documents = AutoRanker(**FEW).fit(X, y, qid=qid, sample_weight=1.0 + np.arange(len(y)) % 3)
    queries = AutoRanker(**FEW).fit(X, y, qid=qid, query_weight=1.0 + qid % 3)
    assert len({r.model_.file for r in (ranker, documents, queries)}) == 3
    assert queries.value_ != ranker.value_


def test_small_and_fractional():
    pairs = AutoRanker(**FEW).fit(X[:40], y[:40], group=[2] * 20)
    assert 0 < pairs.value_ <= 1
    assert AutoRanker(**FEW).fit(X, y / 3, qid=qid).value_ > 0.7


def test_use(tmp_path, ranker):
    """What a Ranker can do."""
    scores = ranker.predict(X, qid=qid)
    ranker.save(tmp_path / "m.json")
    for kind in (AutoRanker, listwise.Ranker):
        loaded = kind.load(tmp_path / "m.json")
        assert isinstance(loaded, kind) and np.array_equal(loaded.predict(X, qid=qid), scores)
    assert AutoRanker.load(tmp_path / "m.json").get_params() == AutoRanker().get_params()
    assert ranker.score(X, y, qid=qid) == listwise.evaluate(y, scores, qid=qid, measures="ndcg@10").tie_neutral["ndcg@10"]
    assert listwise.compare({"auto": ranker, "one": X[:, 0]}, y, X=X, qid=qid, permutations=9, resamples=9).means["auto"] > 0.5
    other = pickle.loads(pickle.dumps(ranker))
    assert np.array_equal(other.predict(X, qid=qid), scores) and other.results_ == ranker.results_ and rows(other.leaderboard_) == rows(ranker.leaderboard_)


def test_progress(capsys):
    seen = []
    AutoRanker(verbose=1, **FEW).fit(np.tile(X, (8, 1)), np.tile(y, 8), group=[8] * 128, callback=seen.append)
    assert {"trials", "final models"} >= {p["stage"] for p in seen} and seen[-1]["number"] <= seen[-1]["total"]
    assert "auto: trials: " in capsys.readouterr().err


def test_interrupt():
    """Ctrl-C, and an exception of the callback, end a search."""
    data = {"X": np.tile(X, (8, 1)), "y": np.tile(y, 8), "group": [8] * 128}
    with pytest.raises(KeyboardInterrupt):
        AutoRanker(budget="10m").fit(**data, callback=lambda _: signal.raise_signal(signal.SIGINT))

    def stop(_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        AutoRanker(budget="10m").fit(**data, callback=stop)


WRONG = {
    "unknown measure": ({"measure": "ndgc"}, {}, '^measure: unknown measure "ndgc": did you mean "ndcg"'),
    "unknown target": ({"target": "sol"}, {}, '^target: found the format "sol": did you mean'),
    "unknown transform": ({"transforms": "sqrt"}, {}, '^transform sqrt: found the step "sqrt"'),
    "time without unit": ({"budget": "5"}, {}, "^budget 5: expected a time with its unit"),
    "negative time": ({"budget": -1}, {}, "^budget -1s: expected a time"),
    "no limit": ({"budget": 0, "trials": None}, {}, "^found neither budget nor trials"),
    "no trials": ({"trials": 0}, {}, "^trials: found 0"),
    "all left out": ({"without": [1, 2, 3]}, {}, "^found no trial to choose from"),
    "more parts than queries": ({"folds": 17}, {}, "^found 16 queries, expected at least 17"),
    "folder of a missing disk": ({"out": "/proc/none/out"}, {}, "^out: /proc/none/out: No such file"),
    "missing values": ({"missing": "error"}, {"X": np.where(X > 2, np.nan, X)}, '^X: found value NaN of feature .* expected a finite number \\(or missing="zero"'),
    "one query": ({}, {"X": X[:8], "y": y[:8], "qid": qid[:8]}, "^found 1 query, expected at least 2"),
    "grades too few": ({}, {"y": y[1:]}, "^y: found 127 values, expected 128"),
    "no queries": ({}, {"qid": None}, "expected qid .*, group .*, or a column qid"),
    "queries of validation data": ({}, {"eval_set": (X, y, qid)}, "^eval_set: found the query '1', which X has too"),
    "grades all alike": ({}, {"y": np.ones(128)}, "found no query on which ndcg@10 depends"),
    "callback": ({}, {"callback": 1}, "^callback: found 1, expected a function"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_calls(name):
    arguments, data, message = WRONG[name]
    with pytest.raises(listwise.Error, match=message):
        AutoRanker(**{**FEW, **arguments}).fit(**{"X": X, "y": y, "qid": qid, **data})


# scikit-learn.


def test_parameters():
    pytest.importorskip("sklearn")
    from sklearn.base import clone

    ranker = AutoRanker("5m", trials=7, seed=3)
    assert repr(ranker) == "AutoRanker(budget='5m', trials=7, seed=3)"
    copy = clone(ranker).set_params(measure="map", budget=60)
    assert copy.get_params() == {**ranker.get_params(), "measure": "map", "budget": 60} and ranker.budget == "5m"
    with pytest.raises(listwise.Error, match="found the argument 'trees', expected one of AutoRanker: budget, measure, trials"):
        ranker.set_params(trees=3)
    with pytest.raises(listwise.NotFittedError, match="AutoRanker is not fitted"):
        ranker.predict(X)


def test_pipeline(ranker):
    pytest.importorskip("sklearn")
    from sklearn.model_selection import GroupKFold, cross_val_score
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import FunctionTransformer

    steps = Pipeline([("same", FunctionTransformer()), ("rank", AutoRanker(**FEW))]).fit(X, y, rank__qid=qid)
    assert steps[-1].model_.file == ranker.model_.file
    table = np.column_stack([X, qid])
    frame = pytest.importorskip("pandas").DataFrame(table, columns=[*"abcde", "qid"])
    assert (cross_val_score(AutoRanker(**FEW), frame, y, groups=qid, cv=GroupKFold(2)) > 0.7).all()


class InQueriesOfFive(AutoRanker):
    """For the checks of scikit-learn, which know of no queries."""

    def __init__(self, trials=1, folds=2):
        super().__init__(trials=trials, folds=folds)

    def fit(self, X, y, sample_weight=None):
        if y is not None:
            y = np.abs(np.asarray(y).real.astype(float))
        return super().fit(X, y, qid=np.arange(np.size(y)) // 5, sample_weight=sample_weight)


# Checks that do not apply, with the reason; docs/python.md lists them.
NOT = {
    "check_fit2d_1sample": "parts need two queries",
    "check_methods_subset_invariance": "a fusion standardizes scores within a query",
    "check_sample_weight_equivalence_on_dense_data": "repeated documents are other queries, and so other parts",
    "check_sample_weight_equivalence_on_sparse_data": "repeated documents are other queries, and so other parts",
    **dict.fromkeys(
        ["check_positive_only_tag_during_fit", "check_sample_weights_not_an_array", "check_sample_weights_pandas_series"],
        "their data have parts in which all documents of a query have one grade",
    ),
}


def test_check_estimator():
    pytest.importorskip("sklearn")
    from sklearn.utils.estimator_checks import check_estimator

    results = check_estimator(InQueriesOfFive(), expected_failed_checks=NOT, on_fail=None, on_skip=None)
    assert [(r["check_name"], repr(r["exception"])[:300]) for r in results if r["status"] == "failed"] == []
    assert {r["check_name"] for r in results if r["status"] == "xfail"} == set(NOT)
    passed = sum(r["status"] == "passed" for r in results)
    assert f"{passed} checks pass for an `AutoRanker`" in (page := (ROOT / "docs" / "python.md").read_text())
    assert all(name in page for name in NOT)

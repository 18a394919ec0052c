"""evaluate, compare, tune, fuse, report, explain and the readers, against the command line or by hand."""

import html
import json

import numpy as np
import pytest
from conftest import ROOT, judged, letor

import listwise

X, y, qid = judged()


@pytest.fixture(scope="module")
def rankers():
    return {"convex": listwise.Ranker("convexloss").fit(X, y, qid=qid), "trees": listwise.Ranker("lambdamart", trees=5).fit(X, y, qid=qid)}


def test_evaluate_is_the_command(command, tmp_path, rankers):
    letor(tmp_path / "d.txt", X, y, qid)
    rankers["trees"].save(tmp_path / "m.json")
    for more, flags in [({}, []), ({"ties": "average", "convention": "trec", "threshold": 2}, ["--ties", "average", "--convention", "trec", "--threshold", "2"])]:
        got = listwise.evaluate(y, rankers["trees"].predict(X), qid=qid, **more)
        want = json.loads(command("eval", "--no-record", "--data", "d.txt", "--model", "m.json", "--format", "json", *flags))
        assert got.means == want["measures"] and got.tie_neutral == want["tie_neutral"]
        assert got["map"] == pytest.approx(np.nanmean(got.per_query["map"])) and len(got.queries) == 30


def test_precision_by_hand():
    got = listwise.evaluate([1, 0, 1, 0], [4, 3, 2, 1], measures=["p@1", "p@2", "map"])
    assert got.means == {"p@1": 1.0, "p@2": 0.5, "map": pytest.approx((1 + 2 / 3) / 2)}


def test_evaluate_in_any_order(rankers):
    order = np.random.default_rng(0).permutation(len(y))
    scores = rankers["convex"].predict(X)
    a, b = listwise.evaluate(y, scores, qid=qid), listwise.evaluate(y[order], scores[order], qid=qid[order])
    assert a.tie_neutral["map"] == pytest.approx(b.tie_neutral["map"], rel=1e-12)


def test_evaluate_run_as_dicts_and_files(tmp_path):
    run = {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}, "q2": {"d1": 1.0}}
    qrels = {"q1": {"d2": 1}, "q2": {"d1": 2, "d9": 1}}
    means = listwise.evaluate_run(run, qrels, measures="map,mrr")
    assert means == {"map": pytest.approx((1 / 2 + 1 / 2) / 2), "mrr": pytest.approx((1 / 2 + 1) / 2)}
    (tmp_path / "run").write_text("".join(f"{q} Q0 {d} 0 {s} me\n" for q, ds in run.items() for d, s in ds.items()))
    (tmp_path / "qrels").write_text("".join(f"{q} 0 {d} {g}\n" for q, ds in qrels.items() for d, g in ds.items()))
    assert listwise.evaluate_run(tmp_path / "run", tmp_path / "qrels", measures="map,mrr") == means
    r, j = listwise.read_run(tmp_path / "run"), listwise.read_qrels(tmp_path / "qrels")
    assert list(zip(r.qid, r.doc, r.scores, strict=True)) == [("q1", "d1", 3), ("q1", "d2", 2), ("q1", "d3", 1), ("q2", "d1", 1)]
    assert set(zip(j.qid, j.doc, j.y, strict=True)) == {("q1", "d2", 1), ("q2", "d1", 2), ("q2", "d9", 1)}


def test_compare_is_the_command(command, tmp_path, rankers):
    letor(tmp_path / "d.txt", X, y, qid)
    for name, ranker in rankers.items():
        ranker.save(tmp_path / f"{name}.json")
    want = json.loads(command("compare", "--data", "d.txt", "--measure", "ndcg@5", "--permutations", "999", "--resamples", "999", "--format", "json", "convex=convex.json", "trees=trees.json"))
    scores = {name: ranker.predict(X) for name, ranker in rankers.items()}
    for systems in (rankers, scores, {"convex": rankers["convex"], "trees": tmp_path / "trees.json"}):
        got = listwise.compare(systems, y, X=X, qid=qid, measure="ndcg@5", permutations=999, resamples=999)
        assert got.data == want
    assert got.means == {s["name"]: s["mean"] for s in want["systems"]}
    assert "convex" in str(got) and got._repr_html_().startswith("<pre>")
    assert listwise.compare(scores, y, qid=qid, measure="ndcg@5", permutations=999, resamples=999).data == want


def test_compare_takes_runs(command, tmp_path, rankers):
    letor(tmp_path / "d.txt", X, y, qid)
    for name, ranker in rankers.items():
        ranker.save(tmp_path / f"{name}.json")
    want = json.loads(command("compare", "--data", "d.txt", "--measure", "ndcg@5", "--permutations", "999", "--format", "json", "both=convex.json,trees.json", "trees=trees.json"))
    got = listwise.compare({"both": [rankers["convex"], rankers["trees"]], "trees": rankers["trees"].predict(X)}, y, X=X, qid=qid, measure="ndcg@5", permutations=999)
    assert got.data == want
    assert [p["claim"] for p in got.pairs] == ["methods"]
    assert listwise.compare({"a": [list(y), y], "b": list(y)}, y, qid=qid, permutations=99).pairs[0]["claim"] == "methods"
    several = {"a": [rankers["convex"], rankers["trees"]], "b": list(y)}
    assert "sd of runs" in listwise.report(several, y, X=X, qid=qid).html


def test_tune_takes_a_scorer_for_each_method():
    own = {"hidden": [2], "restarts": [0], "epochs": [3], "rate": [0.01], "C": [1]}
    got = listwise.tune(["listnet", "mle"], X, y, qid=qid, grid=own, folds=2, scorer={"listnet": "net"})
    alone = listwise.tune("listnet", X, y, qid=qid, grid=own, folds=2, scorer="net")
    assert got.data["methods"][0] == alone.data["methods"][0]
    with pytest.raises(listwise.Error, match="mle is none of the methods"):
        listwise.tune("listnet", X, y, qid=qid, folds=2, scorer={"mle": "net"})


def test_tune_is_the_command(command, tmp_path):
    letor(tmp_path / "d.txt", X, y, qid)
    want = json.loads(command("tune", "--no-record", "--method", "mle,listnet", "--grid", "C=0.01,1", "--folds", "3", "--data", "d.txt", "--out", "out", "--refit", "--format", "json", "-q"))
    got = listwise.tune(["mle", "listnet"], X, y, qid=qid, grid={"C": [0.01, 1]}, folds=3)
    assert got.data["methods"] == want["methods"]
    assert got.ranker.model_.file == (tmp_path / "out" / "model.json").read_bytes()
    assert set(got.measures) == {"mle", "listnet"}
    assert got.ranker.predict(X).shape == (len(y),)


def test_tune_with_seeds_is_the_command(command, tmp_path):
    letor(tmp_path / "d.txt", X, y, qid)
    flags = ["--method", "listnet,mle", "--scorer", "listnet=net", "--grid", "hidden=2", "--grid", "epochs=3", "--grid", "C=1", "--measures", "map", "--folds", "2", "--data", "d.txt"]
    want = json.loads(command("tune", "--no-record", *flags, "--seeds", "3,5", "--out", "out", "--format", "json", "-q"))
    one = {"grid": {"hidden": [2], "epochs": [3], "C": [1]}, "folds": 2, "measures": "map"}
    got = listwise.tune(["listnet", "mle"], X, y, qid=qid, scorer={"listnet": "net"}, seeds=[3, 5], **one)
    assert got.data["methods"] == want["methods"] and got.data["seeds"] == [3, 5]
    assert repr(got).startswith("Tuning(seeds [3, 5]: {'listnet': ")
    with pytest.raises(listwise.Error, match="ranker: found results of several seeds"):
        got.ranker.predict(X)
    means = {m["method"]: [s["measures"]["map"]["mean"] for s in m["seeds"]] for m in want["methods"]}
    assert means["listnet"][0] != means["listnet"][1] and got.measures["listnet"]["map"] == pytest.approx(np.mean(means["listnet"]))
    table = got.to_pandas()
    assert table.groupby(["system", "run"]).size().to_dict() == {(system, run): 30 for system in ("listnet", "mle") for run in (1, 2)}
    summary = got.results.summary().set_index("system")
    for system in ("listnet", "mle"):
        assert summary.loc[system, "mean"] == pytest.approx(table[table.system == system]["value"].mean())
        alone = listwise.tune(system, X, y, qid=qid, scorer="net" if system == "listnet" else None, seeds=[3, 5], **one).results.summary().loc[0]
        assert alone["mean"] == pytest.approx(summary.loc[system, "mean"]) and alone["low"] < alone["mean"] < alone["high"]


def test_fuse(command, tmp_path, rankers):
    fused = listwise.fuse(list(rankers.values()), rule="combsum", scale="minmax")
    scores = [r.predict(X) for r in rankers.values()]
    assert np.allclose(fused.predict(X, qid=qid), listwise.fuse(scores, qid=qid, rule="combsum", scale="minmax"), rtol=1e-12)
    order = np.random.default_rng(0).permutation(len(y))
    assert np.allclose(listwise.fuse([s[order] for s in scores], qid=qid[order]), listwise.fuse(scores, qid=qid)[order])
    assert list(listwise.fuse([[1, 2], [1, 5]], rule="rrf", k=0)) == [0.5, 1.0]
    assert list(listwise.fuse([[1, 2], [1, 5]], rule="rrf", k=0, weights=[1, 3])) == [2.0, 4.0]
    letor(tmp_path / "d.txt", X, y, qid)
    for name, r in rankers.items():
        r.save(tmp_path / f"{name}.json")
    command("fuse", "--data", "d.txt", "--rule", "combsum", "--weights", "equal", "--model", "f.json", "convex.json", "trees.json")
    assert listwise.fuse(list(rankers.values())).model_.file == (tmp_path / "f.json").read_bytes()


def test_report_is_shown_in_a_frame_of_its_own(tmp_path, rankers):
    page = listwise.report(rankers, y, X=X, qid=qid, title="Two <rankers>")
    assert "Two &lt;rankers>" in page.html or "Two &lt;rankers&gt;" in page.html
    shown = page._repr_html_()
    assert shown.startswith("<iframe") and "<script" not in shown
    assert html.escape(page.html) in shown and 'sandbox="' in shown and "allow-same-origin" not in shown
    page.save(tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text() == page.html


def test_explanations_add_up(rankers):
    for ranker in rankers.values():
        e = ranker.explain(X, qid=qid)
        assert e.values.shape == X.shape and e.feature_names == ["1", "2", "3", "4", "5"]
        assert np.array_equal(e.scores, ranker.predict(X))
        assert np.allclose(e.base_values + e.values.sum(axis=1) + e.remainder, e.scores, atol=1e-9)
    linear = rankers["convex"]
    weights = np.array(json.loads(linear.model_.file)["scorer"]["weights"])
    e = linear.explain(X[:7], background=X)
    assert np.allclose(e.values, (X[:7] - X.mean(axis=0, dtype=np.float64)) * weights, atol=1e-6)
    order = np.random.default_rng(0).permutation(len(y))
    assert np.array_equal(linear.explain(X[order], qid=qid[order], background=X).values, linear.explain(X, qid=qid, background=X).values[order])


def test_read_text_of_scikit_learn(tmp_path):
    """Features from 0, in any order and beyond 100,000, and numbers that stand for missing values."""
    datasets = pytest.importorskip("sklearn.datasets")
    datasets.dump_svmlight_file(X.astype(np.float64), y, str(tmp_path / "z.txt"), query_id=qid)
    assert np.array_equal(listwise.read(tmp_path / "z.txt", first_feature=0).X, X)
    with pytest.raises(listwise.Error, match="--first-feature 0"):
        listwise.read(tmp_path / "z.txt")
    (tmp_path / "t.txt").write_text("1 qid:1 3:1.79769313486e+308 1:inf 2:7\n0 qid:1 100002:1\n")
    d = listwise.read(tmp_path / "t.txt", unsorted=True, max_feature=100_002, missing_values=[1.79769313486e308, np.inf])
    assert d.X.shape == (2, 100_002) and np.isnan(d.X[0, [0, 2]]).all() and d.X[0, 1] == 7 and d.X[1, 100_001] == 1
    with pytest.raises(listwise.Error, match="first_feature: found 2"):
        listwise.read(tmp_path / "t.txt", first_feature=2)


def test_read(tmp_path):
    letor(tmp_path / "d.txt", X, y, qid)
    d = listwise.read(tmp_path / "d.txt")
    assert np.array_equal(d.X, X) and np.array_equal(d.y, y) and list(d.qid) == [str(q) for q in qid] and d.doc is None
    assert listwise.Ranker("mle").fit(d.X, d.y, qid=d.qid).model_.file == listwise.Ranker("mle").fit(X, y, qid=qid).model_.file
    named = listwise.read(ROOT / "testdata" / "train.txt")
    assert named.doc is not None and len(named.doc) == len(named)
    (tmp_path / "t.csv").write_text("query,grade,price,note\na,1,3,\na,0,nan,\nb,2,1,\n".replace(",note", "").replace(",\n", "\n"))
    t = listwise.read(tmp_path / "t.csv")
    assert t.feature_names == ["price"] and np.isnan(t.X[1, 0]) and list(t.qid) == ["a", "a", "b"]
    assert list(listwise.read(tmp_path / "t.csv", missing="zero").X[:, 0]) == [3, 0, 1]
    pandas = pytest.importorskip("pandas")
    frame = t.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and list(frame.columns) == ["qid", "price"]


def test_models_of_other_systems(tmp_path):
    (tmp_path / "w.txt").write_text("## Coordinate Ascent\n1:0.5 2:0.25 3:0.25 4:0 5:0\n")
    ranker = listwise.Ranker.load(tmp_path / "w.txt")
    assert np.allclose(ranker.predict(X), X[:, :3] @ [0.5, 0.25, 0.25], atol=1e-6)


def test_progress(capsys):
    seen = []
    listwise.Ranker("lambdamart", trees=300, verbose=1).fit(np.tile(X, (20, 1)), np.tile(y, 20), qid=np.repeat(np.arange(600), 12), callback=seen.append)
    assert seen and {"number", "objective", "text"} <= set(seen[0])
    assert "lambdamart: " in capsys.readouterr().err


def test_warnings_are_pythons():
    with pytest.warns(listwise.DataWarning, match="were scattered"):
        listwise.Ranker("mle").fit(X[[0, 12, 1, 13, 2, 14]], [1, 0, 0, 1, 1, 0], qid=[1, 2, 1, 2, 1, 2])


def test_import_does_not_load_others():
    import subprocess
    import sys

    code = "import listwise, sys; print([m for m in ('sklearn', 'pandas', 'matplotlib', 'polars', 'pyarrow', 'scipy') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


FRACTIONS = {"q1": {"a": 0.9, "b": 0.4, "c": 0}, "q2": {"a": 0.25, "b": 2.5, "d": 1}}
SCORES = {"q1": {"c": 3.0, "a": 2.0, "b": 1.0}, "q2": {"d": 1.5, "b": 1.0, "x": 0.5, "a": -1.0}}


def ndcg(ranked, grades):
    """NDCG as trec_eval has it: gains are grades."""
    gain = [sum(g / np.log2(rank + 2) for rank, g in enumerate(order)) for order in (ranked, sorted(grades, reverse=True))]
    return gain[0] / gain[1]


def as_arrays(run, qrels):
    """The pool of a run and judgements as evaluate takes it."""
    rows = [(q, d) for q in qrels for d in {**run[q], **qrels[q]}]
    return [qrels[q].get(d, 0) for q, d in rows], [run[q].get(d, -np.inf) for q, d in rows], [q for q, _ in rows]


def test_fractional_grades(tmp_path):
    """They count as they are in dicts, files, and what read_qrels returns; expected values are by hand."""
    want = (ndcg([0, 0.9, 0.4], [0.9, 0.4, 0]) + ndcg([1, 2.5, 0, 0.25], [0.25, 2.5, 1])) / 2
    (tmp_path / "qrels").write_text("".join(f"{q} 0 {d} {g}\n" for q, ds in FRACTIONS.items() for d, g in ds.items()))
    (tmp_path / "run").write_text("".join(f"{q} Q0 {d} 0 {s} me\n" for q, ds in SCORES.items() for d, s in ds.items()))
    read_run, read_qrels = listwise.read_run(tmp_path / "run"), listwise.read_qrels(tmp_path / "qrels")
    for run in (SCORES, read_run, tmp_path / "run", str(tmp_path / "run")):
        for qrels in (FRACTIONS, read_qrels, tmp_path / "qrels"):
            assert listwise.evaluate_run(run, qrels, measures="ndcg@4")["ndcg@4"] == pytest.approx(want, abs=1e-12)
    grades, scores, queries = as_arrays(SCORES, FRACTIONS)
    assert listwise.evaluate(grades, scores, qid=queries, measures="ndcg@4", convention="trec")["ndcg@4"] == pytest.approx(want, abs=1e-12)
    constant = {q: dict.fromkeys(ds, 1) for q, ds in SCORES.items()}
    compared = listwise.compare({"a": SCORES, "b": constant}, FRACTIONS, measure="ndcg@4", permutations=9, resamples=9)
    assert compared.means["a"] == pytest.approx(want, abs=1e-12)
    small = {"q": {"a": 1e-7, "b": 3e-7}}
    assert listwise.evaluate_run({"q": {"a": 2, "b": 1}}, small, measures="ndcg@4")["ndcg@4"] == pytest.approx(ndcg([1, 3], [1, 3]), abs=1e-12)


def test_evaluate_run_is_trec_eval():
    """On random runs with whole grades, ties and documents without judgement."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    rng = np.random.default_rng(7)
    qrels = {f"q{q}": {f"d{d}": int(rng.integers(0, 4)) for d in rng.choice(40, 15, replace=False)} for q in range(12)}
    run = {f"q{q}": {f"d{d}": float(rng.integers(0, 9)) / 4 for d in rng.choice(40, 25, replace=False)} for q in range(12)}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg", "recip_rank", "P_5"}).evaluate(run)
    ours = listwise.evaluate_run(run, qrels, measures="map,ndcg@100,mrr,p@5")
    for name, other in {"map": "map", "ndcg@100": "ndcg", "mrr": "recip_rank", "p@5": "P_5"}.items():
        assert ours[name] == pytest.approx(np.mean([v[other] for v in theirs.values()]), abs=1e-9), name


def test_ties_of_runs():
    run, qrels = {"q": {"a": 1, "b": 1}}, {"q": {"a": 1, "b": 0}}
    assert listwise.evaluate_run(run, qrels, measures="mrr") == {"mrr": 0.5}  # by descending id
    assert listwise.evaluate_run(run, qrels, measures="mrr", ties="average") == {"mrr": 0.75}


def test_an_undefined_mean_is_nan():
    """No query counts under a convention that leaves out those without relevant documents."""
    nothing = np.zeros(4)
    queries, systems = [1, 1, 2, 2], {"a": np.arange(4.0), "b": -np.arange(4.0)}
    means = listwise.evaluate(nothing, systems["a"], qid=queries, measures="map", convention="trec-skip").means
    assert np.isnan(means["map"])
    run = {"q": {"a": 1}}
    assert np.isnan(listwise.evaluate_run(run, {"q": {"a": 0}}, measures="map", convention="trec-skip")["map"])
    data = {"measure": "map", "systems": [{"name": "a", "mean": None}], "pairs": [{"difference": None, "ci": [None, 1]}]}
    details = {"queries": [], "values": [], "compared": [data]}
    compared = listwise.Comparison(data, "", details)
    assert np.isnan(compared.means["a"]) and np.isnan(compared.pairs[0]["difference"]) and np.isnan(compared.pairs[0]["ci"][0])
    tuned = listwise.Tuning({"methods": [{"method": "mle", "measures": {"map": {"mean": None}}}]}, None, details)
    assert np.isnan(tuned.measures["mle"]["map"])


def test_compare_and_report_take_what_was_not_retrieved():
    scores = np.where(np.arange(len(y)) % 3 == 1, -np.inf, X[:, 0])
    systems = {"part": scores, "all": X[:, 1]}
    compared = listwise.compare(systems, y, qid=qid, measure="map", convention="trec", permutations=99, resamples=99)
    for name, given in systems.items():
        assert compared.means[name] == listwise.evaluate(y, given, qid=qid, measures="map", convention="trec")["map"]
    doc = [f"d{i}" for i in range(len(y))]
    run = {str(q): {doc[i]: float(scores[i]) for i in np.flatnonzero(qid == q)} for q in np.unique(qid)}
    columns = [(q, d, s) for q, ds in run.items() for d, s in ds.items() if s > -np.inf]
    as_read = listwise.Run(*(np.asarray(c, object) for c in list(zip(*columns, strict=True))[:2]), np.asarray([s for *_, s in columns]))
    for form in (run, as_read):
        joined = listwise.compare({"part": form, "all": X[:, 1]}, y, qid=qid, doc=doc, measure="map", convention="trec", permutations=99, resamples=99)
        assert joined.data == compared.data
    pages = [listwise.report({"part": form, "all": X[:, 1]}, y, qid=qid, doc=doc, convention="trec").html for form in (scores, run)]
    assert pages[0] == pages[1]
    qrels = {str(q): {doc[i]: float(y[i]) for i in np.flatnonzero(qid == q)} for q in np.unique(qid)}
    by_judgements = listwise.compare({"part": run, "twice": {q: {d: 2 * s for d, s in ds.items()} for q, ds in run.items()}}, qrels, permutations=99, resamples=99)
    assert by_judgements.means["part"] == listwise.evaluate_run(run, qrels, measures="map")["map"] == by_judgements.means["twice"]
    assert by_judgements.data["convention"] == by_judgements.data["ties"] == "trec"


def test_messages_name_the_system():
    run = {"1": {"d0": 1.0, "other": 2.0}}
    with pytest.warns(listwise.DataWarning) as told:
        listwise.compare({"best": X[:, 0], "mine": run}, y, qid=qid, doc=[f"d{i}" for i in range(len(y))], permutations=9, resamples=9)
    sentences = [str(w.message) for w in told]
    assert any(s.startswith("systems: mine: left out 1 document") for s in sentences)
    assert not any(".run" in s or "listwise-" in s or ".lwd" in s for s in sentences)
    with pytest.raises(listwise.Error, match="^systems: best: found scores alone"):
        listwise.compare({"best": X[:, 0], "mine": run}, {"1": {"d0": 1}, "2": {"d1": 1}})
    with pytest.raises(listwise.FileError, match="^systems: mine: nowhere: no such file"):
        listwise.compare({"best": X[:, 0], "mine": "nowhere"}, y, qid=qid)


def test_one_warning_for_one_cause(rankers):
    within = listwise.Ranker("convexloss", normalize="zscore").fit(X, y, qid=qid)
    order = np.random.default_rng(1).permutation(len(y))
    A, z, q = X[order], y[order], qid[order]
    calls = {
        "score": lambda: within.score(A, z, qid=q),
        "scorer": lambda: listwise.scorer("map")(within, A, z, qid=q),
        "compare": lambda: listwise.compare({"a": rankers["convex"], "b": within}, z, X=A, qid=q, permutations=9, resamples=9),
        "report": lambda: listwise.report({"a": rankers["convex"], "b": within}, z, X=A, qid=q),
        "tune": lambda: listwise.tune("regression", A, z, qid=q, grid={"C": [1]}, folds=2),
        "without relevant documents": lambda: listwise.evaluate(np.zeros(4), np.arange(4), qid=[1, 1, 2, 2]),
    }
    for name, call in calls.items():
        with pytest.warns(listwise.DataWarning) as told:
            call()
        assert len(told) == 1, (name, [str(w.message) for w in told])
        assert told[0].filename == __file__, name


def test_fuse_runs_of_one_document():
    """The only document that a run retrieved counts 1 by minmax, as in the command line, and not 0 as in arrays of scores."""
    runs = [{"q1": {"a": 1.0, "b": 0.5}, "q2": {"c": 7.0}}, {"q1": {"b": 1.0, "a": 0.5}, "q3": {"c": 7.0}}]
    for rule in ("combsum", "combmnz"):
        fused = listwise.fuse(runs, rule=rule)
        assert list(zip(fused.qid, fused.doc, fused.scores, strict=True)) == [("q1", "a", 0.5), ("q1", "b", 0.5), ("q2", "c", 0.5), ("q3", "c", 0.5)]
    assert list(listwise.fuse([[7.0], [7.0]], qid=["q"])) == [0.0]


def test_fuse_runs(tmp_path):
    """Documents and queries of either run are in the fusion; scores by hand, reciprocal ranks with k = 1."""
    one = {"q1": {"a": 3.0, "b": 2.0}, "q2": {"x": 1.0}}
    (tmp_path / "two.run").write_text("q1 Q0 b 1 9 t\nq1 Q0 c 2 8 t\nq3 Q0 z 1 1 t\n")
    fused = listwise.fuse([one, tmp_path / "two.run"], rule="rrf", k=1, weights=[1, 1])
    found = dict(zip(zip(fused.qid, fused.doc, strict=True), fused.scores, strict=True))
    want = {("q1", "b"): 1 / 3 + 1 / 2, ("q1", "a"): 1 / 2, ("q1", "c"): 1 / 3, ("q2", "x"): 1 / 2, ("q3", "z"): 1 / 2}
    assert found == pytest.approx(want)
    assert list(fused.doc) == ["b", "a", "c", "x", "z"]
    assert listwise.evaluate_run(fused, {"q1": {"a": 1}, "q3": {"z": 1}}, measures="mrr")["mrr"] == pytest.approx(0.75)
    again = listwise.fuse([one, listwise.read_run(tmp_path / "two.run")], rule="rrf", k=1, weights=[1, 1])
    assert list(again.doc) == list(fused.doc) and list(again.scores) == list(fused.scores)
    with pytest.raises(listwise.Error, match="found runs and scores"):
        listwise.fuse([one, [1, 2]])


def test_distances_as_scores_are_warned_of_in_words_of_python(tmp_path):
    """The warning about ranks against scores names no option that Python lacks."""
    run = tmp_path / "distances.run"
    run.write_text("".join(f"q Q0 d{rank} {rank} {rank / 10} t\n" for rank in range(1, 9)))
    with pytest.warns(listwise.DataWarning, match=r"the ranks contradict the scores.* \(scores with the other sign turn that round\)$"):
        listwise.evaluate_run(run, {"q": {"d1": 1, "d8": 0}})

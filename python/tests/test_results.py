"""Results as data frames, and the displays, against the values that they show."""

import builtins
import math

import numpy as np
import pytest
from conftest import judged

import listwise

pandas = pytest.importorskip("pandas")
matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

X, y, qid = judged()
DRAWS = {"permutations": 499, "resamples": 499}


@pytest.fixture(scope="module")
def rankers():
    return {
        "convex": listwise.Ranker("convexloss").fit(X, y, qid=qid),
        "net": [listwise.Ranker("ranknet", scorer="net", epochs=4, seed=s).fit(X, y, qid=qid, eval_set=(X, y, qid)) for s in (1, 2, 3)],
        "trees": listwise.Ranker("lambdamart", trees=5).fit(X, y, qid=qid),
    }


@pytest.fixture(scope="module")
def comparison(rankers):
    return listwise.compare(rankers, y, X=X, qid=qid, measure=["ndcg@5", "map"], baseline="trees", **DRAWS)


@pytest.fixture(scope="module")
def tuned():
    return listwise.tune(["mle", "regression"], X, y, qid=qid, grid={"C": [0.01, 1]}, folds=3, measures="map,ndcg@10")


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def test_one_row_per_query_system_and_measure(rankers, comparison):
    table = comparison.to_pandas()
    assert list(table.columns) == ["query", "system", "run", "measure", "value"]
    assert len(table) == 30 * 5 * 2 and not table.duplicated(["query", "system", "run", "measure"]).any()
    for name, ranker, run in [("convex", rankers["convex"], 1), ("net", rankers["net"][2], 3), ("trees", rankers["trees"], 1)]:
        of = listwise.evaluate(y, ranker.predict(X), qid=qid, measures="map,ndcg@5")
        for measure in ("map", "ndcg@5"):
            own = table[(table.system == name) & (table.run == run) & (table.measure == measure)]
            assert own["query"].tolist() == of.queries and own["value"].tolist() == of.per_query[measure].tolist()


def test_summary_and_pairs_are_those_of_the_comparison(comparison):
    summary, pairs = comparison.results.summary(), comparison.results.pairs()
    assert summary["measure"].tolist() == ["ndcg@5"] * 3 + ["map"] * 3 and pairs[["a", "b"]].values.tolist() == [["convex", "trees"], ["net", "trees"]] * 2
    means = comparison.to_pandas().groupby(["measure", "system"])["value"].mean()  # each run has all queries
    for row in summary.to_dict("records"):
        assert row["mean"] == pytest.approx(means[row["measure"], row["system"]]) and row["low"] < row["mean"] < row["high"] and row["queries"] == 30
        if row["system"] == "trees":
            assert all(math.isnan(row[c]) for c in ("difference", "difference_low", "difference_high", "p", "p_holm"))
        else:
            assert row["difference"] == pytest.approx(row["mean"] - means[row["measure"], "trees"])
    first = comparison.pairs[0]
    assert pairs.loc[0, ["difference", "low", "high", "p", "p_holm", "p_t"]].tolist() == [
        first["difference"], *first["ci"], first["randomization"]["p"], first["randomization"]["p_holm"], first["t"]["p"],
    ]
    assert summary.loc[0, ["difference", "p", "p_holm"]].tolist() == pairs.loc[0, ["difference", "p", "p_holm"]].tolist()


def test_results_of_tune_by_fold(tuned):
    table = tuned.to_pandas()
    assert list(table.columns) == ["query", "fold", "system", "run", "measure", "value"] and len(table) == 30 * 2 * 2
    assert sorted(set(table["fold"])) == ["Fold1", "Fold2", "Fold3"] and table.groupby("query")["fold"].nunique().max() == 1
    for method, means in tuned.measures.items():
        for measure, mean in means.items():
            own = table[(table.system == method) & (table.measure == measure)]
            assert own.groupby("fold")["value"].mean().mean() == pytest.approx(mean)
    pair = tuned.results.pairs().loc[0]
    wide = table[table.measure == "map"].pivot(index="query", columns="system", values="value")
    difference = wide["mle"] - wide["regression"]
    assert (pair["a"], pair["b"]) == ("mle", "regression") and pair["difference"] == pytest.approx(difference.mean())
    assert (pair["wins"], pair["losses"]) == ((difference > 1e-12).sum(), (difference < -1e-12).sum())


def test_one_method_has_intervals_and_no_pairs():
    results = listwise.tune("mle", X, y, qid=qid, grid={"C": [1]}, folds=3, measures="map").results
    row = results.summary().loc[0]
    assert row["low"] < row["mean"] < row["high"] and not len(results.pairs()) and "a" in results.pairs()
    with pytest.raises(listwise.Error, match="found no pairs, expected two systems"):
        listwise.DifferencesDisplay.from_comparison(results)


def test_results_of_auto():
    ranker = listwise.AutoRanker(trials=2, folds=2).fit(X, y, qid=qid)
    table = ranker.evaluation_.to_pandas()
    assert set(table["system"]) == {"auto", "best-single"} and len(set(table["query"])) == 30
    means = {s["system"]: s["measures"]["map"]["pooled"] for s in ranker.results_["systems"]}
    for name, mean in means.items():
        assert table[(table.system == name) & (table.measure == "map")]["value"].mean() == pytest.approx(mean)


def test_queries_that_do_not_count_are_nan():
    none = np.where(qid == 3, 0, y)
    found = listwise.compare({"a": X[:, 0], "b": X[:, 1]}, none, qid=qid, convention="standard-skip", **DRAWS)
    table = found.to_pandas()
    assert table[table["value"].isna()]["query"].tolist() == ["3", "3"] and found.results.summary()["queries"].tolist() == [29, 29]


def test_importances_are_mean_absolute_contributions(rankers):
    why = rankers["trees"].explain(X, qid=qid)
    display = listwise.ImportanceDisplay.from_explanation(why)
    means = np.abs(why.values).mean(axis=0)
    assert [bar.get_width() for bar in display.bars_] == pytest.approx(sorted(means, reverse=True))
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == [why.feature_names[i] for i in np.argsort(-means, kind="stable")]
    assert display.figure_ is display.ax_.figure and "contribution" in display.ax_.get_xlabel()
    used = listwise.ImportanceDisplay([0, 2, 0, 1], ["a", "b", "c", "d"]).plot()
    assert [label.get_text() for label in used.ax_.get_yticklabels()] == ["b", "d", "2 others"]
    few = listwise.ImportanceDisplay.from_estimator(rankers["trees"], X, qid=qid, max_features=2)
    assert [label.get_text() for label in few.ax_.get_yticklabels()][2] == "3 others"
    assert [bar.get_width() for bar in few.bars_] == pytest.approx([*sorted(means, reverse=True)[:2], sum(sorted(means)[:3])])


def test_learning_curves_are_the_values_of_the_training(rankers):
    single = rankers["net"][0]
    curve = single.learning_curve_
    assert curve["unit"] == "epoch" and curve["number"].tolist() == [1, 2, 3, 4]
    display = listwise.LearningCurveDisplay.from_estimator(single)
    (line,) = display.lines_.values()
    assert line.get_xdata().tolist() == [1, 2, 3, 4] and line.get_ydata().tolist() == curve["validation"].tolist()
    (dot,) = [other for other in display.ax_.lines if other is not line]
    assert dot.get_ydata() == curve["validation"].max()
    assert display.ax_.get_xlabel() == "epoch" and display.ax_.get_ylabel() == "map, validation data" and display.ax_.get_legend() is None

    both = listwise.LearningCurveDisplay.from_estimator({"net": rankers["net"], "trees": rankers["trees"]}, value="objective")
    values = np.stack([r.learning_curve_["objective"] for r in rankers["net"]])
    assert both.lines_["net"].get_ydata() == pytest.approx(values.mean(axis=0))
    (band,) = both.ax_.collections
    bounds = band.get_paths()[0].get_extents()
    assert (bounds.ymin, bounds.ymax) == pytest.approx((values.min(), values.max()))
    assert [t.get_text() for t in both.ax_.get_legend().get_texts()] == ["net: mean and range of 3", "trees"] and both.ax_.get_xlabel() == "epoch or round"
    assert rankers["trees"].learning_curve_["unit"] == "round" and len(rankers["trees"].learning_curve_["number"]) == 5


def test_curves_that_cannot_be_drawn(rankers, tmp_path):
    draw = listwise.LearningCurveDisplay.from_estimator
    with pytest.raises(listwise.Error, match="found no validation values of lambdamart, expected an eval_set"):
        draw(rankers["trees"], value="validation")
    rankers["trees"].save(tmp_path / "m.json")
    with pytest.raises(listwise.Error, match="found no learning curve of lambdamart"):
        draw(listwise.Ranker.load(tmp_path / "m.json"))
    with pytest.raises(listwise.Error, match="expected a Ranker"):
        draw({"a": [1]})
    with pytest.raises(listwise.Error, match="value: found 'loss'"):
        draw(rankers["trees"], value="loss")


def test_differences_are_drawn_with_their_intervals(comparison, tuned):
    display = listwise.DifferencesDisplay.from_comparison(comparison, measure="map")
    pairs = comparison.results.pairs().query("measure == 'map'")
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["convex", "net"]
    assert display.ax_.get_xlabel() == "map minus that of trees\n95 % interval"
    for drawn, row in zip(display.errorbars_, pairs.to_dict("records"), strict=True):
        point, _, (bar,) = drawn
        (start, end) = bar.get_segments()[0]
        assert point.get_xdata()[0] == row["difference"] and (start[0], end[0]) == pytest.approx((row["low"], row["high"]))
        assert (point.get_markerfacecolor() == "C0") == (row["p_holm"] < 0.05)
    three = listwise.DifferencesDisplay([0.1, 0.2, 0.3], [[0, 0.2], [0.1, 0.3], [math.nan] * 2], ["a", "b", "c"], [0.01, 0.06, math.nan]).plot()
    assert [e[0].get_markerfacecolor() == "C0" for e in three.errorbars_] == [True, False, False] and [len(e[2]) for e in three.errorbars_] == [1, 1, 0]
    every = listwise.DifferencesDisplay.from_comparison(tuned)
    assert [label.get_text() for label in every.ax_.get_yticklabels()] == ["mle − regression"]
    with pytest.raises(listwise.Error, match="measure: found 'ndcg@3', expected one of map, ndcg@10"):
        listwise.DifferencesDisplay.from_comparison(tuned, measure="ndcg@3")
    with pytest.raises(listwise.Error, match="expected the result of compare or tune"):
        listwise.DifferencesDisplay.from_comparison([1])


def test_displays_draw_on_given_axes(rankers, comparison):
    figure, axes = plt.subplots(3)
    displays = [
        listwise.ImportanceDisplay.from_estimator(rankers["trees"], X, qid=qid, ax=axes[0], bar_kw={"color": "C3"}),
        listwise.LearningCurveDisplay.from_estimator(rankers["net"][0], ax=axes[1], line_kw={"linestyle": ":"}),
        listwise.DifferencesDisplay.from_comparison(comparison, ax=axes[2], level=0),
    ]
    assert [d.ax_ for d in displays] == list(axes) and all(d.figure_ is figure for d in displays)
    again = displays[0].plot()
    assert again is displays[0] and again.figure_ is not figure


@pytest.mark.parametrize("package", ["pandas", "matplotlib"])
def test_a_missing_package_is_named(monkeypatch, comparison, package):
    def refuse(name, *args, **kwargs):
        if name.partition(".")[0] == package:
            raise ImportError(name)
        return original(name, *args, **kwargs)

    original = builtins.__import__
    for name in [m for m in __import__("sys").modules if m.partition(".")[0] == package]:
        monkeypatch.delitem(__import__("sys").modules, name)
    monkeypatch.setattr(builtins, "__import__", refuse)
    monkeypatch.setattr("importlib.import_module", refuse)
    with pytest.raises(ImportError, match=f"pip install {package}"):
        if package == "pandas":
            comparison.to_pandas()
        else:
            listwise.DifferencesDisplay.from_comparison(comparison)

"""Wrong calls: each is an exception that says what is wrong, and leaves the library usable."""

import numpy as np
import pytest
from conftest import judged

import listwise
from listwise import Ranker

X, y, qid = judged()
n = len(y)


def fit(method="mle", X=X, y=y, qid=qid, **arguments):
    options = {k: arguments.pop(k) for k in ("group", "sample_weight", "query_weight", "eval_set") if k in arguments}
    return Ranker(method, **arguments).fit(X, y, qid=qid, **options)


def fitted():
    if not hasattr(fitted, "ranker"):
        fitted.ranker = fit()
    return fitted.ranker


def changed(array, at, value):
    array = array.copy()
    array[at] = value
    return array


def frame(**columns):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({"a": X[:, 0], "b": X[:, 1], **columns})


WRONG = {
    "unknown method": (lambda: fit("lambdarang"), "method: .*lambdarank"),
    "method no text": (lambda: fit(3), "method: found 3, expected a text"),
    "unknown hyperparameter": (lambda: fit("lambdamart", tree=3), "lambdamart on trees has no hyperparameter \"tree\": did you mean \"trees\""),
    "another library's name": (lambda: fit("lambdamart", n_estimators=3), "it is called trees here"),
    "hyperparameter out of range": (lambda: fit(C=-1), "C=-1: expected a number"),
    "hyperparameter no number": (lambda: fit(C="big"), "C=big: expected a number"),
    "hyperparameter an object": (lambda: fit(C=object()), "C: found <object"),
    "hyperparameter NaN": (lambda: fit(C=float("nan")), "C=nan: expected a number"),
    "hyperparameter without effect": (lambda: fit("lambdarank", scorer="net", optimizer="sgd9"), "optimizer"),
    "unknown scorer": (lambda: fit(scorer="forest"), "scorer forest"),
    "unknown measure": (lambda: fit("lambdarank", measure="ndgc@10"), "measure: .*ndgc"),
    "measure that the method cannot": (lambda: fit("approxndcg", measure="map"), "measure: found the training measure map, expected"),
    "unknown convention": (lambda: fit(convention="letor9"), "convention: .*letor9"),
    "threshold not positive": (lambda: fit(threshold=-1), "threshold -1: expected a positive number or auto"),
    "unknown normalization": (lambda: fit(normalize="max"), "normalize: .*max"),
    "unknown views": (lambda: fit(views="raw,square"), "views: .*square"),
    "unknown transform": (lambda: fit(transforms=["sqrt"]), "transform sqrt"),
    "unknown missing": (lambda: fit(missing="drop"), "missing: .*drop"),
    "settings no dict": (lambda: fit(settings=[1]), "settings: found .1., expected a dict"),
    "settings twice": (lambda: fit(C=1, settings={"C": 1}), "settings: found C twice"),
    "seed negative": (lambda: fit(seed=-1), "seed: found -1, expected a whole number"),
    "seed no number": (lambda: fit(seed="one"), "seed: found 'one'"),
    "no queries": (lambda: fit(qid=None), "expected qid .*, group .*, or a column qid"),
    "qid and group": (lambda: fit(group=[12] * 30), "qid and group: found both"),
    "qid too short": (lambda: fit(qid=qid[:-1]), f"qid: found {n - 1} ids, expected {n}"),
    "qid not whole": (lambda: fit(qid=qid + 0.5), "qid: found numbers that are not whole"),
    "qid NaN": (lambda: fit(qid=changed(qid.astype(float), 3, np.nan)), "qid: found numbers that are not whole"),
    "qid beyond floating point": (lambda: fit(qid=np.where(qid < 9, 1e300, 2e300)), "qid: found a number above 9007199254740992 of type float64"),
    "qid masked": (lambda: fit(qid=np.ma.masked_array(qid, qid == 2)), "qid: found masked values"),
    "grades masked": (lambda: fit(y=np.ma.masked_array(y, y == 1)), "y: found masked values"),
    "X masked": (lambda: fit(X=np.ma.masked_array(X, X == X[3, 1])), r"X:4: found no value \(NaN\) of feature 2"),
    "name of no argument": (lambda: Ranker("mle").set_params(normalise="zscore"), "found the argument 'normalise'.*did you mean 'normalize'"),
    "name of nothing": (lambda: Ranker("mle").set_params(qwertyuiop=1), "found the argument 'qwertyuiop'.*listwise methods"),
    "name of another method": (lambda: fit(adaptive=1), "mle has no hyperparameter .adaptive"),
    "qid of objects": (lambda: fit(qid=np.array([{}] * n)), "qid: found {} for document 1"),
    "qid empty text": (lambda: fit(qid=np.array(["a"] * (n - 1) + [""])), "expected an id that is not empty"),
    "qid of dates": (lambda: fit(qid=np.zeros(n, "datetime64[s]")), "qid: found values of type datetime64"),
    "group sum": (lambda: fit(qid=None, group=[n - 1]), f"group: found queries of {n - 1} documents together, expected {n}"),
    "group zero": (lambda: fit(qid=None, group=[n, 0]), "group: found a query of 0 documents"),
    "group of floats": (lambda: fit(qid=None, group=[float(n)]), "group: found values of type float64"),
    "grade negative": (lambda: fit(y=changed(y, 4, -1)), "X:5: found the grade -1, expected a finite non-negative number"),
    "grade NaN": (lambda: fit(y=changed(y, 4, np.nan)), "X:5: found the grade NaN"),
    "grades too few": (lambda: fit(y=y[:-1]), f"y: found {n - 1} values, expected {n}"),
    "grades texts": (lambda: fit(y=np.array(["good"] * n)), "y: found values of type <U4, expected numbers"),
    "grades None": (lambda: fit(y=None), "y: requires y to be passed, but the target y is None"),
    "grades all equal": (lambda: fit(y=np.zeros(n)), "found no query with both relevant and irrelevant documents|all rankings|no query"),
    "grades two-dimensional": (lambda: fit(y=np.zeros((n, 2))), "y: found 2 dimensions, expected 1"),
    "X None": (lambda: fit(X=None), "X: found None"),
    "X of one dimension": (lambda: fit(X=X[:, 0]), "X: found 1 dimensions, expected 2.*Reshape your data"),
    "X of three dimensions": (lambda: fit(X=X[None]), "X: found 3 dimensions, expected 2"),
    "X of texts": (lambda: fit(X=np.array([["a"]] * n)), "X: found values of type <U1, expected numbers"),
    "X complex": (lambda: fit(X=X.astype(complex)), "X: Complex data not supported: found values of type complex128"),
    "X complex objects": (lambda: fit(X=X.astype(complex).astype(object)), "X: expected a matrix of numbers"),
    "X complex column": (lambda: fit(X=frame(c=X[:, 0] + 1j)), "X: column 'c': found the complex type complex64"),
    "X complex and sparse": (lambda: fit(X=pytest.importorskip("scipy.sparse").csr_matrix(X.astype(complex))), "X: found values of type complex128"),
    "y complex": (lambda: fit(y=y.astype(complex)), "y: found values of type complex128, expected numbers"),
    "y complex objects": (lambda: fit(y=[1j] * n), "y: found values of type complex128"),
    "qid complex": (lambda: fit(qid=qid.astype(complex)), "qid: found values of type complex128"),
    "weights complex": (lambda: fit("regression", sample_weight=y + 1j), "sample_weight: found values of type complex128"),
    "scores complex": (lambda: listwise.evaluate(y, y + 1j, qid=qid), "scores: found values of type complex128"),
    "background complex": (lambda: fitted().explain(X[:5], background=X.astype(complex)), "background: Complex data not supported"),
    "group wraps around": (lambda: fit(qid=None, group=np.array([2**63, 2**63, n], np.uint64)), "group: found a query of 9223372036854775808 documents"),
    "X infinite": (lambda: fit(X=changed(X, (3, 1), np.inf)), r"X:4: found the value inf of feature 2"),
    "X too large for float32": (lambda: fit(X=changed(X.astype(float), (3, 1), 1e300)), r"X:4: found the value inf of feature 2"),
    "X missing": (lambda: fit(X=changed(X, (3, 1), np.nan)), r'X:4: found no value \(NaN\) of feature 2, expected a finite number \(or missing="zero", or another rule'),
    "X without documents": (lambda: fit(X=X[:0], y=y[:0], qid=qid[:0]), "X: found no documents"),
    "X without features": (lambda: fit(X=X[:, :0]), r"X: found 0 feature\(s\)"),
    "X a column of categories": (lambda: fit(X=frame().astype({"b": "category"})), "X: column 'b': found the type category"),
    "X a column of texts": (lambda: fit(X=frame(c="x")), "X: column 'c': found"),
    "X a column of dates": (lambda: fit(X=frame(c=np.zeros(n, "datetime64[s]"))), "X: column 'c': found the type datetime64"),
    "X names twice": (lambda: fit(X=frame().set_axis(["a", "a"], axis=1)), "X: found two columns named 'a'"),
    "X of dicts": (lambda: fit(X=np.array([[{}]] * n)), "X: expected a matrix of numbers"),
    "keep with a linear function": (lambda: fit(X=changed(X, (3, 1), np.nan), missing="keep"), "only trees learn from what is missing"),
    "weight negative": (lambda: fit("regression", sample_weight=-np.ones(n)), "X:1: found the weight -1"),
    "weights too few": (lambda: fit("regression", sample_weight=np.ones(3)), f"sample_weight: found 3 values, expected {n}"),
    "weights all 0": (lambda: fit("regression", sample_weight=np.zeros(n)), "sample_weight: found the weight zero of all documents"),
    "weights that the method does not take": (lambda: fit("coordascent", sample_weight=1 + np.arange(n) % 2), "weights of documents"),
    "query weights that differ": (lambda: fit(query_weight=np.arange(n)), "query_weight: found different weights of documents of one query"),
    "eval_set no pair": (lambda: fit(eval_set=X), "eval_set: expected"),
    "eval_set without queries": (lambda: fit(eval_set=(X, y)), "eval_set: expected qid"),
    "eval_set of other features": (lambda: fit("lambdamart", trees=2, eval_set=(X[:, :2], y, qid)), "eval_set: found 2 features, expected 5 as in X"),
    "not fitted": (lambda: Ranker().predict(X), "not fitted"),
    "more features": (lambda: fitted().predict(np.hstack([X, X])), "X has 10 features, but Ranker is expecting 5 features"),
    "fewer features": (lambda: fitted().predict(X[:, :2]), "X has 2 features, but Ranker is expecting 5 features"),
    "missing at predict": (lambda: fitted().predict(changed(X, (0, 0), np.nan)), "the model was trained without a rule for missing values"),
    "infinite at predict": (lambda: fitted().predict(changed(X, (0, 0), np.inf)), "found the value inf"),
    "nothing to predict": (lambda: fitted().predict(X[:0]), "X: found no documents"),
    "other names at predict": (lambda: fit(X=frame()).predict(frame().rename(columns={"b": "c"})), 'without "b".*with "c"'),
    "one document of a normalized model": (lambda: fit(normalize="zscore").predict(X[:1]), "single document"),
    "transforms no list": (lambda: fit(transforms=3), "transforms: found 3, expected a list"),
    "sample no number": (lambda: fitted().explain(X[:5], sample="a"), "sample: found 'a', expected a whole number"),
    "sample negative": (lambda: fitted().explain(X[:5], sample=-1), "sample: found -1"),
    "seed of a draw": (lambda: fitted().explain(X[:5], seed=-1), "seed: found -1"),
    "attribution no text": (lambda: fitted().explain(X[:5], attribution=1), "attribution: found 1"),
    "title no text": (lambda: listwise.report({"a": y}, y, qid=qid, title=5), "title: found 5, expected a text"),
    "measure no text": (lambda: listwise.compare({"a": y, "b": y}, y, qid=qid, measure=5), "measure: found 5, expected names"),
    "system None": (lambda: listwise.compare({"a": None}, y, qid=qid), "systems: a: found None"),
    "k no number": (lambda: listwise.fuse([y, y], k="a"), "k: found .a., expected a finite number"),
    "weights no numbers": (lambda: listwise.fuse([y, y], weights=["a", "b"]), "weights: found values of type"),
    "rule no text": (lambda: listwise.fuse([y, y], rule=3), "rule: found 3, expected a text"),
    "unknown attribution": (lambda: fitted().explain(X[:5], attribution="tree"), "attribution"),
    "background of other features": (lambda: fitted().explain(X[:5], background=X[:5, :2]), "."),
    "file of no model": (lambda: Ranker.load(__file__), "test_errors.py"),
    "no file": (lambda: Ranker.load("/nowhere/m.json"), "/nowhere/m.json: no such file"),
    "no folder": (lambda: fitted().save("/nowhere/m.json"), "found no folder /nowhere"),
    "scores too few": (lambda: listwise.evaluate(y, y[:-1], qid=qid), f"scores: found {n - 1} values, expected {n}"),
    "scores NaN": (lambda: listwise.evaluate(y, y * np.nan, qid=qid), "scores: found NaN for document 1"),
    "measures unknown": (lambda: listwise.evaluate(y, y, qid=qid, measures="map,foo"), "measures: .*foo"),
    "measures none": (lambda: listwise.evaluate(y, y, qid=qid, measures=[]), r"measures: found \[\]"),
    "ties unknown": (lambda: listwise.evaluate(y, y, qid=qid, ties="random?"), "ties: "),
    "ties trec without ids": (lambda: listwise.evaluate(y, y, qid=qid, ties="trec"), "identifiers of documents"),
    "systems no dict": (lambda: listwise.compare([y], y, qid=qid), "systems: expected a dict"),
    "one system": (lambda: listwise.compare({"a": y}, y, qid=qid), "."),
    "system's scores too few": (lambda: listwise.compare({"a": y, "b": y[:-1]}, y, qid=qid), "systems: b: found 359 values, expected 360"),
    "grid no list": (lambda: listwise.tune("mle", X, y, qid=qid, grid={"C": 1}), "grid: C: found 1, expected a list"),
    "grid unknown": (lambda: listwise.tune("mle", X, y, qid=qid, grid={"D": [1]}), "grid D: none of the methods mle has this hyperparameter"),
    "seeds no list": (lambda: listwise.tune("mle", X, y, qid=qid, seeds=3), "seeds: found 3, expected a list"),
    "seeds empty": (lambda: listwise.tune("mle", X, y, qid=qid, seeds=[]), "seeds : found no seed"),
    "seeds negative": (lambda: listwise.tune("mle", X, y, qid=qid, seeds=[1, -1]), "seeds: found -1, expected a whole number"),
    "seeds twice": (lambda: listwise.tune("mle", X, y, qid=qid, seeds=[1, 1]), "1 is named twice"),
    "seeds and seed": (lambda: listwise.tune("mle", X, y, qid=qid, seed=2, seeds=[1]), "seed 2 and seeds: found both"),
    "too many folds": (lambda: listwise.tune("mle", X, y, qid=qid, folds=1000), "found 30 queries, expected at least 1000"),
    "rule unknown": (lambda: listwise.fuse([y, y], rule="mean"), "rule: found the rule \"mean\""),
    "one to fuse": (lambda: listwise.fuse([y]), "systems: found 1, expected two"),
    "fuse scores and rankers": (lambda: listwise.fuse([y, fitted()]), "found rankers and scores"),
    "fuse unequal lengths": (lambda: listwise.fuse([y, y[1:]]), "scores of system 2"),
    "fuse weights": (lambda: listwise.fuse([y, y], weights=[1]), "weights: found 1, expected one for each of 2"),
    "read no file": (lambda: listwise.read("/nowhere.txt"), "nowhere.txt"),
    "read no data": (lambda: listwise.read(__file__), "test_errors.py:1"),
    "read run no file": (lambda: listwise.read_run("/nowhere.run"), "nowhere.run"),
    "threads 0": (lambda: listwise.set_threads(0), "threads: found 0"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_call(name):
    call, message = WRONG[name]
    with pytest.raises(listwise.Error, match=f"(?s){message}") as caught:
        call()
    assert str(caught.value).strip()
    assert not isinstance(caught.value, listwise.InternalError)


def test_there_are_many_wrong_calls():
    assert len(WRONG) > 50


def test_kinds_of_exceptions():
    with pytest.raises(FileNotFoundError):
        listwise.read("/nowhere.txt")
    with pytest.raises(ValueError):
        Ranker("none").fit(X, y, qid=qid)
    with pytest.raises(listwise.NotFittedError):
        Ranker().predict(X)

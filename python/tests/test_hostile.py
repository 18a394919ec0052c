"""Every public function refuses wrong values of any kind with listwise.Error, and the library stays usable."""

import math
import warnings

import numpy as np
import pytest

import listwise

QID = [1, 1, 1, 2, 2, 2, 3, 3, 3]
Y = [1, 0, 2, 0, 1, 0, 2, 0, 0]
X = np.arange(27, dtype=np.float32).reshape(9, 3) % 7
DOC = list("abcdefghi")
RUN = {"q": {"a": 2.0, "b": 1.0}, "r": {"a": 1}}
QRELS = {"q": {"a": 1, "b": 0}, "r": {"a": 1, "b": 2}}
FEW = {"permutations": 9, "resamples": 9}


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


def loop():
    value = []
    value.append(value)
    return value


HOSTILE = {
    "None": None,
    "True": True,
    "nan": math.nan,
    "inf": math.inf,
    "-inf": -math.inf,
    "-1": -1,
    "0.5": 0.5,
    "2^63": 2**63,
    "2^64": 2**64,
    "10^400": 10**400,
    "5001 digits": 10**5000,
    "complex": 1j,
    "empty": "",
    "blank": "a b",
    "surrogate": "a\ud800",
    "zero byte": "a\0b",
    "line separator": "é\u2028",
    "option": "--help",
    "bytes": b"x",
    "list": [],
    "list of None": [None] * 9,
    "huge list": [10**400] * 9,
    "digits": [10**5000] * 9,
    "surrogates": ["\ud800"] * 9,
    "complex list": [1j] * 9,
    "ragged": [[1], [1, 2]],
    "deep": nested(40),
    "loop": loop(),
    "dict": {},
    "dict of None": {"a": None},
    "dict of dicts": {"q": {"a": "x"}},
    "dict of dicts of huge": {"q": {"a": 10**400}},
    "dict of surrogates": {"\ud800": {"a": 1}},
    "dict of lists": {"C": [10**5000], "D": [[1], None]},
    "object": object(),
    "function": lambda *_: None,
    "class": dict,
    "set": {1, 2},
    "scalar": np.array(5),
    "texts": np.array(["x"] * 9),
    "complex array": np.array([1j] * 9),
    "dates": np.array(["2020-01-01"] * 9, "datetime64[D]"),
    "float16": np.full(9, 7, np.float16),
    "objects": np.array([{}] * 9, object),
    "structure": np.zeros(9, [("a", int)]),
    "zero dimensions": np.zeros((0, 3, 1)),
}


@pytest.fixture(scope="module")
def ranker():
    return listwise.Ranker("regression").fit(X, Y, qid=QID)


def systems():
    return {"a": np.arange(9.0), "b": -np.arange(9.0)}


def calls(ranker):
    """Functions with arguments that are right, in place of each of which wrong ones are given."""

    def fit(**arguments):
        own = {k: arguments.pop(k) for k in ("X", "y", "qid", "group", "sample_weight", "query_weight", "eval_set", "callback")}
        return listwise.Ranker(**arguments).fit(own.pop("X"), own.pop("y"), **own)

    def search(**arguments):
        own = {k: arguments.pop(k) for k in ("X", "y", "qid", "group", "sample_weight", "query_weight", "eval_set", "callback")}
        return listwise.AutoRanker(**arguments).fit(own.pop("X"), own.pop("y"), **own)

    def set_params(**arguments):
        repr(listwise.Ranker().set_params(**arguments))

    def use_scorer(**arguments):
        listwise.scorer(**arguments)(ranker, X, Y)

    def estimator(estimator, X, y, qid):
        listwise.scorer()(estimator, X, y, qid)

    queries = {"qid": QID, "group": None}
    own = {
        "method": "regression",
        "measure": None,
        "scorer": None,
        "convention": "trec",
        "threshold": "auto",
        "normalize": "none",
        "views": "raw",
        "transforms": (),
        "missing": "error",
        "seed": 1,
        "settings": None,
        "verbose": 0,
    }
    return {
        "fit": (fit, {**own, "C": 1, "X": X, "y": Y, **queries, "sample_weight": None, "query_weight": None, "eval_set": None, "callback": None}),
        "search": (
            search,
            {
                "budget": "1s", "measure": "map", "trials": 1, "target": None, "folds": 2, "members": 1, "without": None, "out": None, "convention": "trec", "threshold": "auto",
                "normalize": "none", "transforms": (), "missing": "error", "seed": 1, "jobs": 1, "verbose": 0,
                "X": X, "y": Y, **queries, "sample_weight": None, "query_weight": None, "eval_set": None, "callback": None,
            },
        ),
        "set_params": (set_params, {**own, "C": 1}),
        "predict": (ranker.predict, {"X": X, **queries}),
        "rank": (ranker.rank, {"X": X, **queries}),
        "queries_of": (ranker.queries_of, {"X": X, **queries}),
        "score": (ranker.score, {"X": X, "y": Y, **queries}),
        "explain": (ranker.explain, {"X": X, **queries, "background": None, "attribution": "auto", "sample": 5, "seed": 1}),
        "save": (ranker.save, {"path": "m.json"}),
        "load": (listwise.Ranker.load, {"path": "m.json"}),
        "Model.load": (listwise.Model.load, {"path": "m.json"}),
        "Model.save": (ranker.model_.save, {"path": "m.json"}),
        "Model": (listwise.Model, {"file": ranker.model_.file}),
        "score_query": (ranker.model_.score_query, {"x": X}),
        "evaluate": (
            listwise.evaluate,
            {"y": Y, "scores": Y, **queries, "measures": "map", "convention": "trec", "threshold": "auto", "ties": "input", "query_weight": None, "doc": None},
        ),
        "scorer": (use_scorer, {"measure": "map", "qid": None, "convention": "trec", "threshold": "auto"}),
        "scorer of": (estimator, {"estimator": ranker, "X": X, "y": Y, "qid": QID}),
        "evaluate_run": (
            listwise.evaluate_run,
            {"run": RUN, "qrels": QRELS, "measures": "map", "convention": "trec", "threshold": "auto", "ties": "trec", "negative_grades": "zero"},
        ),
        "compare": (
            listwise.compare,
            {"systems": systems(), "y": Y, "X": None, **queries, "doc": None, "measure": "map", "baseline": None, "convention": "trec", "threshold": "auto", "ties": "input", "seed": 1, **FEW},
        ),
        "compare one": (lambda system: listwise.compare({"a": Y, "b": system}, Y, qid=QID, doc=DOC, **FEW), {"system": Y}),
        "compare runs": (lambda y: listwise.compare({"a": RUN, "b": RUN}, y, **FEW), {"y": QRELS}),
        "report": (
            listwise.report,
            {"systems": systems(), "y": Y, "X": None, **queries, "doc": None, "measures": "map", "title": "t", "baseline": None, "convention": "trec", "threshold": "auto", "seed": 1},
        ),
        "Report.save": (listwise.Report("page").save, {"path": "page.html"}),
        "tune": (
            listwise.tune,
            {
                "method": "regression", "X": X, "y": Y, **queries, "grid": {"C": [1]}, "folds": 2, "measure": None, "select": "map", "measures": "map", "scorer": None, "budget": None,
                "search": "grid", "halving": False, "jobs": 1, "convention": "trec", "threshold": "auto", "normalize": "none", "views": "raw", "missing": "error", "seed": 1, "seeds": None,
            },
        ),
        "fuse": (listwise.fuse, {"systems": [Y, Y], **queries, "rule": "combsum", "scale": "minmax", "k": 60, "weights": None}),
        "fuse one": (lambda system: listwise.fuse([Y, system], qid=QID), {"system": Y}),
        "fuse runs": (lambda system: listwise.fuse([RUN, system]), {"system": RUN}),
        "read": (listwise.read, {"path": "d.txt", "missing": "keep", "absent": "zero", "negative_grades": "error", "format": "", "query": "", "grade": "", "doc": "", "one_hot": None, "missing_values": (), "first_feature": 1, "unsorted": False, "max_feature": 100_000}),
        "read_run": (listwise.read_run, {"path": "run"}),
        "read_qrels": (listwise.read_qrels, {"path": "qrels"}),
        "set_threads": (listwise.set_threads, {"n": 2}),
    }  # fmt: skip


NAMES = list(calls(listwise.Ranker("regression").fit(X, Y, qid=QID)))


@pytest.fixture
def folder(tmp_path, monkeypatch, ranker):
    monkeypatch.chdir(tmp_path)
    ranker.save("m.json")
    (tmp_path / "d.txt").write_text("1 qid:1 1:1\n0 qid:1 1:2\n")
    (tmp_path / "run").write_text("q Q0 a 1 2 me\n")
    (tmp_path / "qrels").write_text("q 0 a 1\n")


@pytest.mark.parametrize("function", NAMES)
def test_wrong_values(function, ranker, folder):
    call, right = calls(ranker)[function]
    threads = listwise.set_threads(2)
    wrong = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call(**right)
        for argument in right:
            for name, value in HOSTILE.items():
                try:
                    call(**{**right, argument: value})
                except listwise.Error as error:
                    if "json:" in str(error) or "unmarshal" in str(error) or not str(error).strip():
                        wrong.append(f"{function}({argument}: {name}): {error}")
                except Exception as error:
                    wrong.append(f"{function}({argument}: {name}): {type(error).__name__}: {str(error)[:200]}")
    listwise.set_threads(threads)
    assert not wrong, "\n".join(wrong)
    assert np.array_equal(ranker.predict(X), listwise.Ranker("regression").fit(X, Y, qid=QID).predict(X))


def test_every_argument_is_tried(ranker):
    """The table above has all public functions, and all of their arguments."""
    import inspect

    table = calls(ranker)
    for name in listwise.__all__:
        value = getattr(listwise, name)
        if inspect.isfunction(value):
            assert set(inspect.signature(value).parameters) == set(table[name][1]), name
    for name in ("predict", "rank", "queries_of", "score", "explain", "save"):
        assert set(inspect.signature(getattr(ranker, name)).parameters) == set(table[name][1]), name
    for kind, name in ((listwise.Ranker, "fit"), (listwise.AutoRanker, "search")):
        arguments = {*inspect.signature(kind).parameters, *inspect.signature(kind().fit).parameters} - {"hyperparameters"}
        assert arguments <= set(table[name][1])

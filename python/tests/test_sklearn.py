"""Conventions of scikit-learn."""

import copy
import inspect
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT, judged

import listwise

sklearn = pytest.importorskip("sklearn")
from sklearn.base import BaseEstimator, clone  # noqa: E402
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

X, y, qid = judged()


def test_parameters():
    ranker = listwise.Ranker("lambdamart", "ndcg@5", trees=7, seed=3)
    assert isinstance(ranker, BaseEstimator)
    assert {k: ranker.get_params()[k] for k in ("method", "measure", "trees", "seed")} == {"method": "lambdamart", "measure": "ndcg@5", "trees": 7, "seed": 3}
    copied = clone(ranker)
    assert copied is not ranker and copied.get_params() == ranker.get_params()
    copied.set_params(trees=9, seed=4)
    assert copied.get_params()["trees"] == 9 and ranker.get_params()["trees"] == 7
    assert repr(ranker) == "Ranker(method='lambdamart', measure='ndcg@5', seed=3, trees=7)"
    assert "Ranker" in ranker._repr_html_()


def test_unknown_names_are_refused_at_once():
    """A misspelt parameter of a grid ends the search before it trains; names of other methods may be
    set before the method is."""
    ranker = listwise.Ranker("mle")
    assert ranker.set_params(trees=3).set_params(method="lambdamart").get_params()["trees"] == 3
    with pytest.raises(listwise.Error, match="did you mean 'trees'"):
        ranker.set_params(tree=3)
    assert "tree" not in ranker.get_params()
    with pytest.raises(listwise.Error, match="did you mean 'normalize'"):
        GridSearchCV(listwise.Ranker("mle"), {"normalise": ["none"]}, cv=GroupKFold(2), error_score="raise").fit(table(), y, groups=qid)


def test_clone_is_not_fitted():
    ranker = listwise.Ranker("mle").fit(X, y, qid=qid)
    with pytest.raises(sklearn.exceptions.NotFittedError):
        clone(ranker).predict(X)
    sklearn.utils.validation.check_is_fitted(ranker)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(protocol):
    ranker = listwise.Ranker("lambdamart", trees=5).fit(X, y, qid=qid)
    for other in (pickle.loads(pickle.dumps(ranker, protocol)), copy.deepcopy(ranker)):
        assert other.get_params() == ranker.get_params() and other.model_.file == ranker.model_.file
        assert np.array_equal(other.predict(X), ranker.predict(X))


def test_save_and_load(tmp_path):
    ranker = listwise.Ranker("lambdamart", "ndcg@5", trees=5, normalize="zscore", settings={"normalize": "gap"}).fit(X, y, qid=qid)
    ranker.save(tmp_path / "m.json")
    loaded = listwise.Ranker.load(tmp_path / "m.json")
    assert loaded.fit(X, y, qid=qid).model_.file == ranker.model_.file
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "m.json").read_bytes()


def table():
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(X, columns=list("abcde")).assign(qid=qid)


GRID = {"C": [0.001, 1, 100]}


def test_grid_search_with_two_processes():
    """Queries in a column of the table; scores are those of the ranker's own measure."""
    search = GridSearchCV(listwise.Ranker("convexloss", "ndcg@5"), GRID, cv=GroupKFold(3), n_jobs=2)
    search.fit(table(), y, groups=qid)
    by_hand = []
    for C in GRID["C"]:
        values = []
        for train, test in GroupKFold(3).split(X, y, groups=qid):
            ranker = listwise.Ranker("convexloss", "ndcg@5", C=C).fit(X[train], y[train], qid=qid[train])
            values.append(listwise.evaluate(y[test], ranker.predict(X[test]), qid=qid[test], measures="ndcg@5").tie_neutral["ndcg@5"])
        by_hand.append(np.mean(values))
    assert np.allclose(search.cv_results_["mean_test_score"], by_hand, rtol=1e-12)
    assert search.best_params_["C"] == GRID["C"][int(np.argmax(by_hand))]
    assert search.best_estimator_.model_.file == listwise.Ranker("convexloss", "ndcg@5", **search.best_params_).fit(table(), y).model_.file


def test_grid_search_with_a_scorer():
    one = GridSearchCV(listwise.Ranker("convexloss"), GRID, cv=GroupKFold(3), n_jobs=2, scoring=listwise.scorer("map")).fit(table(), y, groups=qid)
    frame = table().drop(columns="qid")
    by_index = listwise.scorer("map", qid=table()["qid"])
    other = GridSearchCV(listwise.Ranker("convexloss"), GRID, cv=GroupKFold(3), n_jobs=2, scoring=by_index).fit(frame, y, groups=qid, qid=qid)
    assert np.array_equal(one.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"])


def test_metadata_routing():
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = listwise.Ranker("convexloss").set_fit_request(qid=True).set_score_request(qid=True)
        search = GridSearchCV(ranker, GRID, cv=GroupKFold(3), n_jobs=2).fit(X, y, groups=qid, qid=qid)
    plain = GridSearchCV(listwise.Ranker("convexloss"), GRID, cv=GroupKFold(3)).fit(table(), y, groups=qid)
    assert np.array_equal(search.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])


def test_cross_val_score():
    values = cross_val_score(listwise.Ranker("mle"), table(), y, groups=qid, cv=GroupKFold(3), n_jobs=2, scoring=listwise.scorer("ndcg@3"))
    assert values.shape == (3,) and (values > 0.5).all()


class InQueriesOfFive(listwise.Ranker):
    """A ranker for the checks of scikit-learn, which know of no queries: every fifth document begins one."""

    def __init__(self, method="regression", C=None):
        super().__init__(method, C=C)

    def fit(self, X, y, sample_weight=None):
        if y is not None:
            y = np.abs(np.asarray(y).real.astype(float))
        return super().fit(X, y, qid=np.arange(np.size(y)) // 5, sample_weight=sample_weight)


# Checks that do not apply, with the reason; docs/python.md lists them.
NOT = {"check_no_attributes_set_in_init": "hyperparameters depend on the method and are kept in a dict"}


def test_check_estimator():
    results = check_estimator(InQueriesOfFive(), expected_failed_checks=NOT, on_fail=None, on_skip=None)
    failed = [(r["check_name"], repr(r["exception"])[:300]) for r in results if r["status"] == "failed"]
    assert not failed, failed
    assert sum(r["status"] == "passed" for r in results) >= 48


def without_queries(error):
    """Whether an exception, or one that led to it, is about data without queries."""
    while error is not None:
        if "expected qid" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def test_check_estimator_of_ranker_itself():
    """What fails on Ranker as it is are the checks that fit without queries."""
    results = check_estimator(listwise.Ranker(), expected_failed_checks=NOT, on_fail=None, on_skip=None)
    failed = [r for r in results if r["status"] == "failed" and not without_queries(r["exception"])]
    assert not failed, [(r["check_name"], repr(r["exception"])[:300]) for r in failed]
    passed = {r["check_name"] for r in results if r["status"] == "passed"}
    assert len(passed) >= 14
    assert {"check_estimator_cloneable", "check_get_params_invariance", "check_set_params", "check_do_not_raise_errors_in_init_or_set_params"} <= passed


def test_checks_that_do_not_apply_are_documented():
    page = (ROOT / "docs" / "python.md").read_text()
    for name in NOT:
        assert name in page


class Named(listwise.Ranker):
    """Its arguments are hyperparameters and an own one."""

    def __init__(self, trees=3, shift=0.0, *, seed=1):
        super().__init__("lambdamart", "ndcg@5", trees=trees, seed=seed)
        self.shift = shift

    def predict(self, X, *, qid=None, group=None):
        return super().predict(X, qid=qid, group=group) + self.shift


class Open(listwise.Ranker):
    """It takes the arguments of Ranker, too."""

    def __init__(self, alpha=1, inner=None, **others):
        super().__init__(**others)
        self.alpha = alpha
        self.inner = inner


def test_parameters_of_subclasses():
    named = Named(trees=5, shift=2.0)
    assert named.get_params() == {"trees": 5, "shift": 2.0, "seed": 1}
    assert repr(named) == "Named(trees=5, shift=2.0)"
    copy = clone(named)
    assert copy.get_params() == named.get_params() and copy.shift == 2.0 and copy.hyperparameters == {"trees": 5}
    copy.set_params(trees=7, shift=1.0, seed=4)
    assert copy.get_params() == {"trees": 7, "shift": 1.0, "seed": 4}
    expected = listwise.Ranker("lambdamart", "ndcg@5", trees=7, seed=4).fit(X, y, qid=qid)
    assert copy.fit(X, y, qid=qid).model_.file == expected.model_.file
    assert np.array_equal(copy.predict(X), expected.predict(X) + 1)
    with pytest.raises(listwise.Error, match="found the argument 'rate', expected one of Named: trees, shift, seed"):
        named.set_params(rate=0.1)
    search = GridSearchCV(Named(), {"trees": [1, 4], "shift": [0.0, 1.0]}, cv=GroupKFold(3)).fit(table(), y, groups=qid)
    assert set(search.best_params_) == {"trees", "shift"}
    assert search.best_estimator_.model_.file == listwise.Ranker("lambdamart", "ndcg@5", trees=search.best_params_["trees"]).fit(table(), y).model_.file

    opened = Open(3, method="mle", C=0.1, inner=Named())
    params = opened.get_params()
    assert params["alpha"] == 3 and params["method"] == "mle" and params["C"] == 0.1 and params["inner__trees"] == 3
    copy = clone(opened).set_params(alpha=4, C=2, missing="zero", inner__trees=9)
    assert (copy.alpha, copy.hyperparameters, copy.missing, copy.inner.hyperparameters) == (4, {"C": 2}, "zero", {"trees": 9})
    assert opened.inner.hyperparameters == {"trees": 3}


def test_subclasses_load(tmp_path):
    listwise.Ranker("lambdamart", "ndcg@5", trees=4).fit(X, y, qid=qid).save(tmp_path / "m.json")
    loaded = Named.load(tmp_path / "m.json")
    assert isinstance(loaded, Named) and loaded.get_params() == {"trees": 4, "shift": 0.0, "seed": 1}


def test_metadata_requests_are_typed(tmp_path):
    """Type checkers know the methods that scikit-learn makes."""
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text(
        "import listwise\n"
        "class Own(listwise.Ranker): ...\n"
        "own: Own = Own().set_fit_request(qid=True, sample_weight='w').set_score_request(qid=True).set_predict_request(group=False)\n"
        "own.set_fit_request(qids=True)\n"
    )
    python = ROOT / "python"
    environment = {**os.environ, "MYPYPATH": str(python / "src"), "MYPY_CACHE_DIR": str(python / ".mypy_cache")}  # which check.sh uses again
    command = [sys.executable, "-m", "mypy", "--config-file", str(python / "pyproject.toml"), "program.py"]
    checked = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    errors = [line for line in checked.stdout.splitlines() if ": error:" in line and line.startswith("program.py")]
    assert len(errors) == 1 and errors[0].startswith('program.py:4: error: Unexpected keyword argument "qids" for "set_fit_request"'), checked.stdout
    for name in ("fit", "predict", "score"):
        assert set(inspect.signature(getattr(listwise.Ranker, f"set_{name}_request")).parameters) - {"self"} == requests(name)


def requests(method):
    """The arguments of a method of Ranker that a search may pass on."""
    return set(inspect.signature(getattr(listwise.Ranker, method)).parameters) - {"self", "X", "y"}

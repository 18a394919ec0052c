"""Conventions of scikit-learn."""

import copy
import pickle

import numpy as np
import pytest
from conftest import judged

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

    def __init__(self):
        super().__init__("regression")

    def get_params(self, deep=True):
        return {}

    def fit(self, X, y, sample_weight=None):
        if y is not None:
            y = np.abs(np.asarray(y).real.astype(float))
        return super().fit(X, y, qid=np.arange(np.size(y)) // 5, sample_weight=sample_weight)


# What does not apply, with the reason.
NOT = {
    "check_no_attributes_set_in_init": "hyperparameters, which depend on the method, are kept in a dict",
}


def test_check_estimator():
    results = check_estimator(InQueriesOfFive(), expected_failed_checks=NOT, on_fail=None, on_skip=None)
    failed = [(r["check_name"], repr(r["exception"])[:300]) for r in results if r["status"] == "failed"]
    assert not failed, failed
    assert sum(r["status"] == "passed" for r in results) > 35

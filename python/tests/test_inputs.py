"""Inputs of numpy, pandas, polars, pyarrow and scipy: the same values give the same model."""

import numpy as np
import pytest
from conftest import judged

import listwise
from listwise._tables import features

X, y, qid = judged()
NAMES = ["a", "b", "c", "d", "e"]


def want(**arguments):
    return listwise.Ranker("mle", **arguments).fit(X, y, qid=qid)


ARRAYS = {
    "float32": lambda: X,
    "float64": lambda: X.astype(np.float64),
    "column-major": lambda: np.asfortranarray(X),
    "strided": lambda: np.repeat(X, 2, axis=1)[:, ::2],
    "read-only": lambda: np.frombuffer(X.tobytes(), np.float32).reshape(X.shape),
    "other byte order": lambda: X.astype(">f4"),
    "lists": lambda: X.tolist(),
    "objects": lambda: X.astype(object),
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_arrays(kind):
    assert listwise.Ranker("mle").fit(ARRAYS[kind](), y, qid=qid).model_.file == want().model_.file
    assert np.array_equal(want().predict(ARRAYS[kind](), qid=qid), want().predict(X, qid=qid))


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint16, bool])
def test_whole_numbers(kind):
    whole = (X * 3).astype(kind)
    assert listwise.Ranker("mle").fit(whole, y, qid=qid).model_.file == listwise.Ranker("mle").fit(whole.astype(np.float32), y, qid=qid).model_.file


def test_float32_in_row_major_order_is_not_copied():
    assert features(X).x is X
    assert np.shares_memory(features(X[10:200]).x, X)


def test_at_most_one_copy():
    """Peak memory of other inputs is below that of two copies."""
    import tracemalloc

    big = np.asfortranarray(np.random.default_rng(0).normal(size=(20000, 50)).astype(np.float32))
    tracemalloc.start()
    x = features(big).x
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert x.flags.c_contiguous and peak < 1.5 * big.nbytes


def tables():
    result = {}
    try:
        import pandas

        result["pandas"] = pandas.DataFrame(X, columns=NAMES)
        result["pandas nullable"] = pandas.DataFrame(X, columns=NAMES).convert_dtypes(dtype_backend="numpy_nullable")
        result["pandas arrow"] = pandas.DataFrame(X, columns=NAMES).convert_dtypes(dtype_backend="pyarrow")
    except ImportError:
        pass
    try:
        import polars

        result["polars"] = polars.DataFrame(X, schema=NAMES)
    except ImportError:
        pass
    try:
        import pyarrow

        result["pyarrow"] = pyarrow.table({name: X[:, j] for j, name in enumerate(NAMES)})
        result["pyarrow batch"] = pyarrow.record_batch({name: X[:, j] for j, name in enumerate(NAMES)})
    except ImportError:
        pass
    return result


TABLES = tables()


@pytest.mark.parametrize("kind", TABLES)
def test_tables(kind):
    ranker = listwise.Ranker("mle").fit(TABLES[kind], y, qid=qid)
    assert list(ranker.feature_names_in_) == NAMES
    assert np.array_equal(ranker.predict(TABLES[kind], qid=qid), want().predict(X, qid=qid))
    assert np.array_equal(ranker.predict(X, qid=qid), want().predict(X, qid=qid))  # without names, by position
    assert ranker.model_.file == listwise.Ranker("mle").fit(TABLES["pandas"], y, qid=qid).model_.file


def test_columns_in_another_order_are_found_by_their_names():
    table = TABLES["pandas"]
    ranker = listwise.Ranker("mle").fit(table, y, qid=qid)
    assert np.array_equal(ranker.predict(table[NAMES[::-1]], qid=qid), ranker.predict(table, qid=qid))


def test_validation_by_names():
    table = TABLES["pandas"]
    V, z, vqid = judged(seed=1)
    valid = table.__class__(V, columns=NAMES)
    one = listwise.Ranker("lambdamart", trees=5).fit(table, y, qid=qid, eval_set=(valid, z, vqid + 100))
    other = listwise.Ranker("lambdamart", trees=5).fit(table, y, qid=qid, eval_set=(valid[NAMES[::-1]], z, vqid + 100))
    assert one.model_.file == other.model_.file


def test_sparse():
    scipy = pytest.importorskip("scipy.sparse")
    holes = np.where(np.abs(X) < 0.5, 0, X)
    ranker = listwise.Ranker("mle").fit(holes, y, qid=qid)
    for kind in (scipy.csr_matrix, scipy.csc_array, scipy.coo_matrix):
        assert listwise.Ranker("mle").fit(kind(holes.astype(np.float64)), y, qid=qid).model_.file == ranker.model_.file
        assert np.array_equal(ranker.predict(kind(holes)), ranker.predict(holes))


@pytest.mark.parametrize("kind", TABLES)
def test_missing_values_of_tables(kind):
    holes = X.copy()
    holes[::5, 3] = np.nan
    if kind.startswith("pandas"):
        table = TABLES["pandas"].__class__(holes, columns=NAMES)
        if "arrow" in kind or "nullable" in kind:
            table = table.convert_dtypes(dtype_backend="pyarrow" if "arrow" in kind else "numpy_nullable")
    elif kind == "polars":
        table = TABLES[kind].__class__(holes, schema=NAMES, nan_to_null=True)
    else:
        columns = {name: [None if np.isnan(v) else float(v) for v in holes[:, j]] for j, name in enumerate(NAMES)}
        table = TABLES[kind].__class__.from_pydict(columns)
    got = features(table).x
    assert np.array_equal(got, holes, equal_nan=True)


QIDS = {
    "texts": lambda: qid.astype(str),
    "objects": lambda: qid.astype(object),
    "floats": lambda: qid.astype(float),
    "lists": lambda: qid.tolist(),
    "uint8": lambda: qid.astype(np.uint8),
}


@pytest.mark.parametrize("kind", QIDS)
def test_query_ids(kind):
    assert listwise.Ranker("mle").fit(X, y, qid=QIDS[kind]()).model_.file == want().model_.file


def test_group_is_the_queries_sizes():
    assert listwise.Ranker("mle").fit(X, y, group=[12] * 30).model_.file == want().model_.file


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_series(kind):
    module = pytest.importorskip(kind)
    series = module.array if kind == "pyarrow" else module.Series
    chunked = (lambda v: module.chunked_array([v])) if kind == "pyarrow" else series
    for make in (lambda v: series(list(v)), lambda v: chunked(list(v))):
        assert listwise.Ranker("mle").fit(X, make(y), qid=make(qid)).model_.file == want().model_.file
    if kind == "pandas":
        assert listwise.Ranker("mle").fit(X, y, qid=series(qid).astype("category")).model_.file == want().model_.file


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_a_column_qid_is_the_queries(kind):
    table = TABLES[kind]
    with_qid = table.append_column("qid", [qid]) if kind == "pyarrow" else table.assign(qid=qid) if kind == "pandas" else table.with_columns(qid=qid)
    ranker = listwise.Ranker("mle", normalize="zscore").fit(with_qid, y)
    plain = listwise.Ranker("mle", normalize="zscore").fit(table, y, qid=qid)
    assert ranker.model_.file == plain.model_.file
    assert np.array_equal(ranker.predict(with_qid), plain.predict(table, qid=qid))


def test_queries_in_any_order():
    order = np.random.default_rng(5).permutation(len(y))
    ranker = want(normalize="minmax")
    assert np.array_equal(ranker.predict(X[order], qid=qid[order]), ranker.predict(X, qid=qid)[order])
    with pytest.warns(listwise.DataWarning, match="were scattered and have been put together"):
        listwise.Ranker("mle").fit(X[order], y[order], qid=qid[order])


def test_rank():
    ranker = want()
    scores = ranker.predict(X, qid=qid)
    assert list(ranker.rank(X[:12])) == sorted(range(12), key=lambda i: -scores[i])
    order = np.random.default_rng(5).permutation(len(y))
    rows = ranker.rank(X[order], qid=qid[order])
    seen = list(dict.fromkeys(qid[order]))
    assert list(dict.fromkeys(qid[order][rows])) == seen
    for q in seen[:5]:
        of = [r for r in rows if qid[order][r] == q]
        assert (np.diff(scores[order][of]) <= 0).all() and len(of) == 12


def test_large_predictions_are_the_small_ones():
    ranker = want()
    rng = np.random.default_rng(1)
    big = rng.normal(size=(9001, 5)).astype(np.float32)
    pieces = np.concatenate([ranker.predict(big[i : i + 100]) for i in range(0, len(big), 100)])
    assert np.array_equal(ranker.predict(big), pieces)


def test_nothing_given_is_changed():
    before = X.copy(), y.copy(), qid.copy()
    listwise.Ranker("lambdamart", trees=3, normalize="none").fit(X, y, qid=qid).predict(X)
    listwise.Ranker("mle", normalize="zscore", transforms=["standard"]).fit(X, y, qid=qid).predict(X, qid=qid)
    assert all(np.array_equal(a, b) for a, b in zip(before, (X, y, qid), strict=True))


def test_weights():
    rng = np.random.default_rng(2)
    weight = rng.integers(1, 4, size=30).repeat(12).astype(float)
    assert listwise.Ranker("mle").fit(X, y, qid=qid, query_weight=np.ones(len(y))).model_.file == want().model_.file
    weighted = listwise.Ranker("mle").fit(X, y, qid=qid, query_weight=weight)
    assert weighted.model_.about["training"]["weighted"] == "queries"
    documents = listwise.Ranker("regression").fit(X, y, qid=qid, sample_weight=rng.uniform(0.5, 2, len(y)))
    assert documents.model_.about["training"]["weighted"] == "documents"


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("name", ["", "Unnamed: 0", "__index_level_0__", "index", "level_0"])
def test_row_numbers_are_no_features(kind, name):
    """The index that pandas writes is left out of training, validation and prediction, with a warning."""
    table, order = TABLES[kind], np.random.default_rng(1).permutation(len(y))
    if kind == "pyarrow":
        numbered = table.append_column(name, [order])
    else:
        numbered = table.assign(**{name: order}) if kind == "pandas" else table.with_columns(**{name: order})
    with pytest.warns(listwise.DataWarning, match=f"X: column '{name}' contains row numbers and is not used"):
        ranker = listwise.Ranker("mle").fit(numbered, y, qid=qid, eval_set=(numbered, y, qid))
    assert ranker.model_.names == NAMES
    plain = listwise.Ranker("mle").fit(table, y, qid=qid, eval_set=(table, y, qid))
    assert np.array_equal(ranker.predict(numbered, qid=qid), plain.predict(table, qid=qid))
    one = numbered[:1] if kind != "pyarrow" else numbered.slice(0, 1)
    assert ranker.predict(one)[0] == ranker.predict(numbered, qid=qid)[0]
    assert (ranker.rank(numbered, qid=qid) == ranker.rank(table, qid=qid)).all()


def test_features_called_index_stay():
    """Values that are no row numbers make a feature of a column by that name."""
    for values in (np.arange(len(y)) // 2, np.arange(len(y)) + 0.5, np.arange(len(y)) - 1, np.zeros(len(y), bool)):
        ranker = listwise.Ranker("mle").fit(TABLES["pandas"].assign(index=values), y, qid=qid)
        assert ranker.model_.names == [*NAMES, "index"]
        assert len(ranker.predict(TABLES["pandas"].assign(index=values)[:3])) == 3


@pytest.mark.parametrize("dtype", ["int64", "uint32"])
@pytest.mark.parametrize("kind", ["array", "pandas"])
def test_whole_numbers_that_become_one_are_warned_of(kind, dtype):
    """1700000001 and 1700000002 are both 1700000000 in float32; numbers below 2**24 are told apart."""
    times = np.full((len(y), 2), 1700000001, dtype)
    times[::2] += 1
    given = times if kind == "array" else TABLES["pandas"].__class__(times, columns=["a", "b"])
    with pytest.warns(listwise.DataWarning, match="different numbers become equal, such as 1700000001.0 and 1700000002.0"):
        listwise.Ranker("mle").fit(given, y, qid=qid)
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        listwise.Ranker("mle").fit(times % 2**24, y, qid=qid)


@pytest.mark.parametrize("kind", ["array", "pandas"])
def test_doubles_that_become_one_are_warned_of(kind):
    """2000000.01 and 2000000.02 are both 2000000 in float32; random doubles are told apart."""
    wide = np.random.default_rng(2).random((len(y), 3))
    wide[:, 1] = 2000000.01 + (np.arange(len(y)) % 2) / 100
    given, name = wide, "feature 2"
    if kind == "pandas":
        given, name = TABLES["pandas"].__class__(wide, columns=["a", "b", "c"]), "column 'b'"
    with pytest.warns(listwise.DataWarning, match=f"X: {name}: different numbers become equal, such as 2000000.01 and 2000000.02"):
        listwise.Ranker("mle").fit(given, y, qid=qid)
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        listwise.Ranker("mle").fit(np.delete(wide, 1, axis=1), y, qid=qid)
        listwise.Ranker("mle").fit(np.delete(wide, 1, axis=1).astype(np.float32), y, qid=qid)

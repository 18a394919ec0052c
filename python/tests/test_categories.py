"""Models that learned from data frames with columns of categories take these columns."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import listwise

# LightGBM's text of one tree: the codes 0 and 2 of colour, "tan" and "blue", score 1, others 2; then
# size, of which code 0, 30, adds 10.
LIGHTGBM = """tree
version=v4
num_class=1
num_tree_per_iteration=1
max_feature_idx=2
objective=lambdarank
feature_names=colour size ctr
feature_infos=0:1:2 1:0 [0:1]
tree_sizes=1 1

Tree=0
num_leaves=2
num_cat=1
split_feature=0
threshold=0
decision_type=1
left_child=-1
right_child=-2
leaf_value=1 2
cat_boundaries=0 1
cat_threshold=5

Tree=1
num_leaves=2
num_cat=1
split_feature=1
threshold=0
decision_type=1
left_child=-1
right_child=-2
leaf_value=10 0
cat_boundaries=0 1
cat_threshold=1

end of trees

pandas_categorical:[["tan", "red", "blue"], [30, 10]]
"""

COLUMNS = {"ctr": [0.5, 1.0, 0.0, 2.0], "size": [10, 30, 30, 10], "colour": ["red", "blue", "red", None]}
SCORES = [2.0, 11.0, 12.0, 2.0]


@pytest.fixture
def ranker(tmp_path):
    (tmp_path / "l.txt").write_text(LIGHTGBM)
    return listwise.Ranker.load(tmp_path / "l.txt")


def tables():
    frame = pd.DataFrame(COLUMNS)
    yield "object", frame
    yield "category", frame.assign(colour=pd.Categorical(frame.colour, categories=["red", "green", "blue"]), size=frame["size"].astype("category"))
    yield "string", frame.astype({"colour": "string"})
    yield "codes", frame.assign(colour=[1.0, 2.0, 1.0, np.nan])
    yield "polars", pl.DataFrame(COLUMNS)
    yield "polars, categorical", pl.DataFrame(COLUMNS).with_columns(pl.col("colour").cast(pl.Categorical))
    yield "pyarrow", pa.table(COLUMNS)
    yield "pyarrow, dictionary", pa.table({**COLUMNS, "colour": pa.array(COLUMNS["colour"]).dictionary_encode()})


@pytest.mark.parametrize(("kind", "table"), list(tables()), ids=[k for k, _ in tables()])
def test_columns_of_categories(ranker, kind, table):
    assert ranker.predict(table).tolist() == SCORES
    assert ranker.predict(table, qid=[1, 1, 2, 2]).tolist() == SCORES
    assert ranker.rank(table).tolist() == [2, 1, 0, 3]


def test_matrix_has_codes_of_texts_and_numbers(ranker):
    assert ranker.predict(np.array([[1, 10, 0.5], [2, 30, 1], [1, 30, 0], [np.nan, 10, 2]])).tolist() == SCORES


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("colour", "purple", "X: column 'colour': found 'purple', expected one of the model's categories: 'tan', 'red', 'blue'"),
        ("colour", 3, "found the value 3 of feature 1 (colour)"),
        ("size", 0, "found the value 0 of feature 2 (size)"),
        ("size", "big", "X: column 'size': found 'big', expected one of the model's categories: numbers"),
        ("colour", ("red",), "found a value of type tuple, expected a category of the model"),
        ("ctr", "red", "X: column 'ctr': found"),
    ],
)
def test_what_is_no_category(ranker, column, value, message):
    frame = pd.DataFrame(COLUMNS).astype(object)
    frame.at[1, column] = value
    with pytest.raises(listwise.Error) as error:
        ranker.predict(frame)
    assert message in str(error.value)


def test_saved_model_keeps_categories(ranker, tmp_path):
    ranker.save(tmp_path / "m.json")
    assert listwise.Ranker.load(tmp_path / "m.json").predict(pd.DataFrame(COLUMNS)).tolist() == SCORES


def test_names_with_half_a_surrogate_pair(ranker):
    frame = pd.DataFrame(np.eye(2))
    frame.columns = pd.Index(["a\ud800", "a\ud801"], dtype=object)
    with pytest.raises(listwise.Error, match="half of a surrogate pair"):
        ranker.predict(frame)

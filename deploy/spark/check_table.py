"""Compares the column that score_table.py adds to a table with the scores of the command line: bits, of every row.

    check_table.py TABLE MODEL EXPECTED   (a folder or file in Parquet, a model, and the table that listwise score wrote)
"""

import sys

import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from score_table import with_scores

table, model, expected = sys.argv[1:]
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "7").getOrCreate()
rows = spark.read.parquet(table)
scored = with_scores(rows, model, query="query", document="doc", listwise="./listwise").collect()
want = {(r["query"], r["document"]): r["score"] for r in pq.read_table(expected).to_pylist()}
got = {(r["query"], r["doc"]): r["score"] for r in scored}
assert len(scored) == len(got) == len(want) == rows.count() > 0, (len(scored), len(got), len(want))
assert got == want, "scores differ"
assert len(set(got.values())) > len(got) / 2, "scores are hardly different from one another"
try:
    with_scores(rows, "none.json", query="query", document="doc", listwise="./listwise").collect()
except Exception as error:
    assert "none.json" in str(error), error
else:
    sys.exit("a model that is not there was no error")
print(f"a column of scores, {len(got)} rows of a table in 7 partitions: the bits of the command line")

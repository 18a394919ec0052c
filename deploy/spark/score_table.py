"""Adds a column of scores to a table, of any source that Spark reads, with a model of listwise.

    from score_table import with_scores
    scored = with_scores(spark.read.parquet("candidates"), "m.json", query="session", document="sku")

Rows of a query are brought together, since features may be normalized within it, and each partition goes through the
listwise program as a Parquet file. Columns that are no features of a model that knows its features by name are left
out. The scores are those of "listwise score" on the same rows.
"""

import os
import subprocess
import tempfile

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.types import DoubleType, StructField, StructType


def with_scores(table, model, query, document, score="score", listwise="listwise", flags=()):
    """Returns the table with a column of scores behind its own, in no order of rows.

    table: a DataFrame with a row a document. model: path of a model file, on every machine. query, document: names of
    columns. flags: more flags of "listwise score", as a list.
    """
    if score in table.columns:
        raise ValueError(f"the table has a column {score!r} already: expected another name for the scores")
    schema = StructType([*table.schema.fields, StructField(score, DoubleType(), False)])

    def partition(batches):
        with tempfile.TemporaryDirectory() as folder:
            rows, scores = os.path.join(folder, "rows.parquet"), os.path.join(folder, "scores")
            writer, count = None, 0
            for batch in batches:
                writer = writer or pq.ParquetWriter(rows, batch.schema)
                writer.write_batch(batch)
                count += batch.num_rows
            if writer is None:
                return
            writer.close()
            if count == 0:
                return
            command = [listwise, "score", "--quiet", "--data", rows, "--model", model, "--query", query, "--doc", document, "--out", scores, *flags]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}: {done.stderr.strip()}")
            with open(scores) as lines:
                for batch in pq.ParquetFile(rows).iter_batches():
                    column = pa.array([float(next(lines)) for _ in range(batch.num_rows)], pa.float64())
                    yield pa.RecordBatch.from_arrays([*batch.columns, column], names=[*batch.schema.names, score])

    together = table.repartition(query).sortWithinPartitions(query, document)
    return together.mapInArrow(partition, schema)

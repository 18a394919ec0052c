"""Writes the same table as Parquet by fastparquet, polars, DuckDB and Spark.

write(folder, rows) writes NAME.parquet and NAME.csv for every type and codec of each program, and
returns the paths without their endings. Spark's NAME.parquet is a folder of parts.
"""

import csv
import decimal
import os
import uuid

import duckdb
import fastparquet
import fastparquet.writer
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from pyspark.sql import SparkSession, types

# The columns of features by name: the type for pyarrow, and the range of values.
WHOLE = {
    "i8": (pa.int8(), -(2**7), 2**7), "i16": (pa.int16(), -(2**15), 2**15), "i32": (pa.int32(), -(2**24), 2**24), "i64": (pa.int64(), -(2**40), 2**40),
    "u8": (pa.uint8(), 0, 2**8), "u16": (pa.uint16(), 0, 2**16), "u32": (pa.uint32(), 0, 2**32), "u64": (pa.uint64(), 0, 2**62),
}
DECIMALS = {"d9": (9, 2), "d18": (18, 6), "d38": (38, 10)}


def columns(rows, nulls):
    """The values of a table by column."""
    rng = np.random.default_rng(rows)

    def holes(values):
        return [None if nulls and rng.random() < 0.2 else v for v in values]

    def number(scale, places):
        return decimal.Decimal(int(rng.integers(-(10**scale), 10**scale))).scaleb(-places)

    c = {"query": [f"q{i // 5}" for i in range(rows)], "grade": [float(g) / 2 for g in rng.integers(0, 5, rows)]}
    for name, (_, least, most) in WHOLE.items():
        c[name] = holes([int(v) for v in rng.integers(least, most, rows)])
    c["f"] = holes([float(np.float32(v)) for v in rng.normal(size=rows)])
    c["d"] = holes([float(v) for v in rng.normal(size=rows) * 1e10])
    c["few"] = holes([0.25 * int(v) for v in rng.integers(0, 3, rows)])
    c["b"] = holes([bool(v) for v in rng.integers(0, 2, rows)])
    for name, (digits, places) in DECIMALS.items():
        c[name] = holes([number(min(digits, 18), places) for _ in range(rows)])
    return c


# Identifiers of documents by the type that they have.
IDS = {
    "text": lambda i: f"d{i}",
    "int": lambda i: 1000 + i,
    "double": lambda i: float(2**40 + i),
    "decimal": lambda i: decimal.Decimal(f"{1000 + i}.50"),
    "huge": lambda i: decimal.Decimal(10**30 + i),
    "uuid": lambda i: uuid.UUID(int=2**127 + i),
}


def text_of(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return format(value, "f") if isinstance(value, decimal.Decimal) else str(value)


def arrow(c, ids):
    """The columns as a table of pyarrow."""
    kinds = {"grade": pa.float64(), "f": pa.float32(), "d": pa.float64(), "few": pa.float32(), "b": pa.bool_(), "query": pa.string()}
    kinds.update({name: kind for name, (kind, _, _) in WHOLE.items()})
    kinds.update({name: pa.decimal128(*size) for name, size in DECIMALS.items()})
    kinds["doc"] = {"text": pa.string(), "int": pa.int64(), "double": pa.float64(), "decimal": pa.decimal128(9, 2), "huge": pa.decimal128(38, 0), "uuid": pa.string()}[ids]
    return pa.table({name: pa.array([str(v) if isinstance(v, uuid.UUID) else v for v in values], kinds[name]) for name, values in c.items()})


class Writer:
    """Writes a table under names, and its text beside it."""

    def __init__(self, folder, rows):
        self.folder, self.rows, self.bases = folder, rows, []

    def each(self, who, forms, left=()):
        """Yields a path and the table of each form, with a type of identifiers by turns, columns with and without nulls."""
        ids = [k for k in IDS if not (who == "fastparquet" and k in ("decimal", "huge", "uuid")) and not (who in ("polars", "spark") and k == "uuid")]
        for k, form in enumerate(forms):
            kind = ids[k % len(ids)]
            c = columns(self.rows, k % 2 == 0)
            c["doc"] = [IDS[kind](i) for i in range(self.rows)]
            c = {name: values for name, values in c.items() if name not in left}
            base = os.path.join(self.folder, "_".join([who, *map(str, form)]).lower())
            with open(base + ".csv", "w", newline="") as f:
                out = csv.writer(f, lineterminator="\n")
                out.writerow(c)
                out.writerows([text_of(v) for v in row] for row in zip(*c.values()))
            self.bases.append(base)
            yield base + ".parquet", form, kind, c

    def fastparquet(self):
        codecs = (None, "SNAPPY", "GZIP", "BROTLI", "LZ4", "LZ4_RAW", "ZSTD")
        nullable = {"i8": "Int8", "i16": "Int16", "i32": "Int32", "i64": "Int64", "u8": "UInt8", "u16": "UInt16", "u32": "UInt32", "u64": "UInt64", "b": "boolean"}
        for path, (codec, version), _, c in self.each("fastparquet", [(codec, version) for version in (1, 2) for codec in codecs], left=DECIMALS):
            frame = pd.DataFrame({name: pd.array(values, dtype=nullable[name]) if name in nullable and None in values else values for name, values in c.items()})
            frame = frame.astype({"f": "float32", "few": "float32", **{name: kind.lower().replace("boolean", "bool") for name, kind in nullable.items() if None not in c[name]}})
            if version == 2:
                frame["query"] = frame["query"].astype("category")
            fastparquet.writer.DATAPAGE_VERSION = version
            fastparquet.write(path, frame, compression=codec, row_group_offsets=max(7, self.rows // 3), has_nulls=True, write_index=False)

    def polars(self):
        for path, (codec, pages), ids, c in self.each("polars", [(codec, pages) for pages in ("large", "small") for codec in ("uncompressed", "snappy", "gzip", "brotli", "lz4", "zstd")]):
            frame = pl.from_arrow(arrow(c, ids))
            if pages == "small":
                frame = frame.with_columns(pl.col("query").cast(pl.Categorical))
            frame.write_parquet(path, compression=codec, row_group_size=max(7, self.rows // 3), data_page_size=None if pages == "large" else 256)

    def duckdb(self):
        codecs = ("uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4", "lz4_raw")
        for path, (codec, version), ids, c in self.each("duckdb", [(codec, version) for version in ("v1", "v2") for codec in codecs]):
            data = arrow(c, ids)
            con = duckdb.connect()
            con.register("data", data)
            casts = {"u8": "UTINYINT", "i64": "HUGEINT", "u64": "UHUGEINT"}
            if ids == "uuid":
                casts["doc"] = "UUID"
            if version == "v2":
                con.execute("create type queries as enum (select distinct query from data)")
                casts["query"] = "queries"
            what = ", ".join(f"{name}::{casts[name]} as {name}" if name in casts else name for name in data.column_names)
            con.execute(f"copy (select {what} from data) to '{path}' (format parquet, compression {codec}, parquet_version {version}, row_group_size 2048)")
            con.close()

    def spark(self):
        spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.log.level", "ERROR").config("spark.ui.showConsoleProgress", "false").getOrCreate()
        kinds = {"query": types.StringType(), "grade": types.DoubleType(), "f": types.FloatType(), "d": types.DoubleType(), "few": types.FloatType(), "b": types.BooleanType()}
        kinds.update({"i8": types.ByteType(), "i16": types.ShortType(), "i32": types.IntegerType(), "i64": types.LongType()})
        kinds.update({name: types.DecimalType(*size) for name, size in DECIMALS.items()})
        docs = {"text": types.StringType(), "int": types.LongType(), "double": types.DoubleType(), "decimal": types.DecimalType(9, 2), "huge": types.DecimalType(38, 0)}
        forms = [(codec, version) for version in ("v1", "v2", "legacy") for codec in ("none", "snappy", "gzip", "zstd", "lz4", "lz4_raw")]
        for path, (codec, version), ids, c in self.each("spark", forms, left=("u8", "u16", "u32", "u64")):
            fields = [types.StructField(name, docs[ids] if name == "doc" else kinds[name]) for name in c]
            spark.conf.set("spark.sql.parquet.writeLegacyFormat", str(version == "legacy").lower())
            frame = spark.createDataFrame(spark.sparkContext.parallelize(list(zip(*c.values())), 3), types.StructType(fields))
            writer = frame.write.mode("overwrite").option("compression", codec).option("parquet.page.size", 2000)
            writer.option("parquet.writer.version", "v2" if version == "v2" else "v1").parquet(path)
        spark.stop()


def intervals(folder):
    """A table with a column of intervals, which is refused."""
    duckdb.sql(f"copy (select 'a' as query, 0 as grade, 0.5::float as x, interval 1 day as interval) to '{os.path.join(folder, 'interval.parquet')}' (format parquet)")


def write(folder, rows):
    intervals(folder)
    w = Writer(folder, rows)
    for files in (w.fastparquet, w.polars, w.duckdb, w.spark):
        files()
    return w.bases

"""Tables in every variant of Parquet that a file of judged documents may use, with their content as
text. They are written by pyarrow and by the programs of writers.py.

    python tools/parquet/tables.py DIR              writes NAME.parquet and NAME.csv
    python tools/parquet/tables.py --check LISTWISE DIR
        also writes larger tables, converts each by listwise and compares it with the text; for
        tables by pyarrow, also compares the text with pyarrow's reading of listwise's Parquet
"""

import csv
import math
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import writers

FORMS = {
    "v1_dictionary": dict(compression="snappy", data_page_version="1.0", row_group_size=7),
    "v2_dictionary": dict(compression="zstd", data_page_version="2.0", row_group_size=11),
    "v1_plain": dict(compression="none", use_dictionary=False, data_page_version="1.0"),
    "v2_plain": dict(compression="gzip", use_dictionary=False, data_page_version="2.0", row_group_size=8),
    "small_pages": dict(compression="snappy", data_page_size=64),
    "prefixes": dict(compression="gzip", use_dictionary=False, data_page_version="2.0", write_page_checksum=True, column_encoding={"i64": "DELTA_BINARY_PACKED", "u8": "DELTA_BINARY_PACKED", "query": "DELTA_BYTE_ARRAY", "d": "BYTE_STREAM_SPLIT"}),
    "streams": dict(compression="zstd", use_dictionary=False, column_encoding={"f": "BYTE_STREAM_SPLIT", "i": "DELTA_BINARY_PACKED", "query": "DELTA_LENGTH_BYTE_ARRAY", "doc": "PLAIN"}),
    "brotli": dict(compression="brotli", data_page_version="2.0", write_page_checksum=True),
    "lz4": dict(compression="lz4", use_dictionary=False),
    "empty_groups": dict(compression="zstd", empty_groups=True, row_group_size=9),
}


def table(rows, seed, nulls):
    """A table of every type that can be read; with nulls or without."""
    rng = np.random.default_rng(seed)

    def holes(values):
        return [None if nulls and rng.random() < 0.2 else v for v in values]

    columns = {
        "query": pa.array([f"q{i // 5}" for i in range(rows)]),
        "grade": pa.array([float(g) / 2 for g in rng.integers(0, 5, rows)]),
        "doc": pa.array(range(1000, 1000 + rows), pa.int64()),
        "f": pa.array(holes([float(np.float32(v)) for v in rng.normal(size=rows)]), pa.float32()),
        "d": pa.array(holes([float(np.float32(v)) for v in rng.normal(size=rows) * 1e10]), pa.float64()),
        "few": pa.array(holes([0.25 * int(v) for v in rng.integers(0, 3, rows)]), pa.float32()),
        "i": pa.array(holes([int(v) for v in rng.integers(-1000, 1000, rows)]), pa.int32()),
        "i8": pa.array(holes([int(v) for v in rng.integers(-100, 100, rows)]), pa.int8()),
        "i64": pa.array(holes([int(v) for v in rng.integers(-(2**40), 2**40, rows)]), pa.int64()),
        "u8": pa.array(holes([int(v) for v in rng.integers(0, 256, rows)]), pa.uint8()),
        "u32": pa.array(holes([int(v) for v in rng.integers(0, 2**32, rows)]), pa.uint32()),
        "u64": pa.array(holes([int(v) for v in rng.integers(2**63, 2**64, rows, dtype=np.uint64)]), pa.uint64()),
        "b": pa.array(holes([bool(v) for v in rng.integers(0, 2, rows)])),
        "h": pa.array(holes([np.float16(v) for v in rng.normal(size=rows)]), pa.float16()),
        "nan": pa.array([float("nan") if nulls and v == 0 else float(v) for v in rng.integers(0, 4, rows)], pa.float32()),
    }
    return pa.table(columns)


def text_of(value):
    """A cell of a table of text."""
    if value is None or isinstance(value, float) and math.isnan(value):
        return ""
    if isinstance(value, bool):
        return "1" if value else "0"
    return repr(float(value)) if isinstance(value, np.floating) else str(value)


def write(t, base, form):
    groups = {**form}
    empty, size = groups.pop("empty_groups", False), groups.pop("row_group_size", None)
    with pq.ParquetWriter(base + ".parquet", t.schema, **groups) as out:
        for k in range(0, t.num_rows, size or t.num_rows) if empty else ():
            out.write_table(t.slice(0, 0))
            out.write_table(t.slice(k, size))
        out.write_table(t.slice(0, 0) if empty else t, size)
    with open(base + ".csv", "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(t.column_names)
        for row in t.to_pylist():
            out.writerow([text_of(v) for v in row.values()])


def refused(folder):
    """Tables with a column that cannot be read."""
    base = {"query": ["a", "a"], "grade": [0, 1], "x": [0.5, 1.5]}
    for name, column in {
        "nested": pa.array([[1.0, 2.0], [3.0]]),
        "struct": pa.array([{"a": 1}, {"a": 2}]),
        "timestamp": pa.array([1, 2], pa.timestamp("us")),
        "time": pa.array([1, 2], pa.time64("us")),
        "date": pa.array([1, 2], pa.date32()),
        "bytes": pa.array([b"abc", b"def"], pa.binary(3)),
        "words": pa.array(["red", "green"]),
    }.items():
        pq.write_table(pa.table({**base, name: column}), os.path.join(folder, name + ".parquet"))


    flags = pa.table({**base, "flag": pa.array([True, False])})
    pq.write_table(flags, os.path.join(folder, "runs.parquet"), data_page_version="2.0")
    pq.write_table(pa.table({**base, "": [1.0, 2.0]}), os.path.join(folder, "unnamed.parquet"))
    times = pa.table({**base, "int96": pa.array([1, 2], pa.timestamp("us"))})
    pq.write_table(times, os.path.join(folder, "int96.parquet"), use_deprecated_int96_timestamps=True)


def same(a, b):
    if a is None or b is None:
        return a is None and b is None
    return np.float32(a) == np.float32(b)


def check_text(listwise, base):
    """Compares a file, and what listwise writes of it, with its text."""
    def run(source, out):
        subprocess.run([listwise, "data", "convert", source, "--out", base + out, "--missing", "keep", "--quiet"], check=True, stdout=subprocess.DEVNULL)
        with open(base + out, "rb") as f:
            return f.read()

    want = run(base + ".csv", ".text.lwd")
    if run(base + ".parquet", ".lwd") != want:
        sys.exit(f"{base}: the data differ from those of the text")
    run(base + ".parquet", ".again.parquet")
    if run(base + ".again.parquet", ".again.lwd") != want:
        sys.exit(f"{base}.again: the data differ from those of the text")


def check(listwise, base):
    """Does so, and compares all values with what pyarrow reads."""
    check_text(listwise, base)
    want, got = pq.read_table(base + ".parquet"), pq.read_table(base + ".again.parquet")
    if want.column_names != got.column_names or want.num_rows != got.num_rows:
        sys.exit(f"{base}: columns {got.column_names}, {got.num_rows} rows")
    for name in want.column_names:
        for i, (a, b) in enumerate(zip(want[name].to_pylist(), got[name].to_pylist())):
            if isinstance(a, float) and math.isnan(a):
                a = None
            if name in ("query", "doc") and str(a) != b or name not in ("query", "doc") and not same(a, b):
                sys.exit(f"{base}: column {name}, row {i + 1}: {b}, expected {a}")


def check_scores(listwise, folder):
    """Has scores written as Parquet and as CSV, and compares the rows as pyarrow reads them."""
    data, model = os.path.join(folder, "v1_plain.csv"), os.path.join(folder, "model.json")
    out = {form: os.path.join(folder, "scores." + form) for form in ("parquet", "csv")}
    quiet = dict(check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    subprocess.run([listwise, "train", "--method", "regression", "--train", data, "--missing", "zero", "--features", "f,few,i8", "--model", model, "--no-record"], **quiet)
    for form, path in out.items():
        subprocess.run([listwise, "score", "--model", model, "--data", data, "--missing", "zero", "--format", form, "--best-first", "--out", path], **quiet)
    got = pq.read_table(out["parquet"])
    with open(out["csv"], newline="") as f:
        want = [[q, d, int(r), float(s)] for q, d, r, s in list(csv.reader(f))[1:]]
    if got.column_names != ["query", "document", "rank", "score"] or [list(row.values()) for row in got.to_pylist()] != want:
        sys.exit(f"{out['parquet']}: the scores differ from those of the text")


def main():
    checking = sys.argv[1] == "--check"
    folder = sys.argv[-1]
    os.makedirs(folder, exist_ok=True)
    for k, (name, form) in enumerate(FORMS.items()):
        write(table(23, k, k % 2 == 0), os.path.join(folder, name), form)
    refused(folder)
    others = writers.write(folder, 23)
    if not checking:
        return
    listwise, passed = sys.argv[2], 0
    large = os.path.join(folder, "large")
    os.makedirs(large)
    for base in others + writers.write(large, 6000):
        check_text(listwise, base)
        passed += 1
    for k, (name, form) in enumerate(FORMS.items()):
        large = os.path.join(folder, name + "_large")
        write(table(20000, 100 + k, k % 2 == 1), large, {**form, "row_group_size": 7000, "data_page_size": 5000})
        for base in (os.path.join(folder, name), large):
            check(listwise, base)
            passed += 1
    check_scores(listwise, folder)
    passed += 1
    print(f"{passed} passed, 0 failed")


if __name__ == "__main__":
    main()

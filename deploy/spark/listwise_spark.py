"""Scores and evaluates the shards of a data set with Spark: every task runs the static program `listwise` on a
shard, and the driver puts the parts together. The bytes are those of the command line on one machine.

    spark-submit --files listwise listwise_spark.py score --data test --model m.json --out scores
    spark-submit --files listwise listwise_spark.py eval --data test --model m.json --out parts --measures map,ndcg@10

`--data` is a folder that `listwise data shard` made; it, the model and `--out` are on a file system that all
machines see under one name. The program is found by --program or LISTWISE, or is the file `listwise` that --files
sent to every executor. Other arguments go to the command as they are. What is complete has a file _SUCCESS, written last.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from pyspark import SparkFiles
from pyspark.sql import SparkSession


def program(given):
    """Returns the program on the machine where this runs."""
    return given or os.environ.get("LISTWISE") or SparkFiles.get("listwise")


def call(arguments):
    """Runs the program; what it says of what is wrong becomes the error."""
    done = subprocess.run(arguments, capture_output=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)}: exits with {done.returncode}: {done.stderr.decode()}")
    return done.stdout


def part_of(options, others):
    """Returns what does a shard and tells its number and file: a function of rows of Spark, in Arrow's batches."""
    import pyarrow

    def work(batches):
        for batch in batches:
            for shard in batch.column("id").to_pylist():
                ending, flag = (".scores", "--out") if options.command == "score" else (".json", "--part")
                file = str(Path(options.out) / f"part-{shard:05d}{ending}")
                call([program(options.program), options.command, "--quiet", "--data", options.data, "--model", options.model,
                      "--shard", str(shard), flag, file, *others])
                yield pyarrow.RecordBatch.from_pydict({"id": [shard], "file": [file]})

    return work


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["score", "eval"])
    for name in "--data", "--model", "--out":
        parser.add_argument(name, required=True)
    parser.add_argument("--program")
    options, others = parser.parse_known_args()
    options.data, options.model, options.out = (os.path.abspath(p) for p in (options.data, options.model, options.out))
    shards = len(json.loads(Path(options.data, "shards.json").read_text())["shards"])
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    (out / "_SUCCESS").unlink(missing_ok=True)

    spark = SparkSession.builder.appName(f"listwise {options.command}").getOrCreate()
    numbers = spark.range(0, shards, 1, shards)  # a shard a task
    done = numbers.mapInArrow(part_of(options, others), "id long, file string").collect()
    found = sorted(row.id for row in done)
    if found != list(range(shards)):
        sys.exit(f"found the shards {found}, expected all of {shards}")
    if options.command == "eval":
        result = call([program(options.program), "eval", "--quiet", "--data", options.data, "--model", options.model,
                       "--parts", options.out, "--format", "json", *others])
        (out / "eval").mkdir(exist_ok=True)
        (out / "eval" / "eval.json").write_bytes(result)
    (out / "_SUCCESS").touch()
    spark.stop()


if __name__ == "__main__":
    main()

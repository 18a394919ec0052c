#!/usr/bin/env bash
# Scores and evaluates 16 shards with Spark, in its local mode, and compares with the command line; a corrupt
# shard must fail and leave nothing that looks complete. A column of scores, added to a table, is compared likewise.
# Then it runs what the pods of kubernetes-shards.yaml run.
# Needs Java 17 or later (as root on Debian it installs one). It keeps a Python environment with the pinned Spark, and
# uses it again: CHECK_SPARK_DIR, or one in the folder for temporary files.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../../tools/environment.sh"
dir=${CHECK_SPARK_DIR:-${TMPDIR:-/tmp}/listwise-spark-$(id -u)}
mkdir -p "$dir"
if ! command -v java >/dev/null && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq && apt-get install -y -qq --no-install-recommends openjdk-17-jre-headless >/dev/null
fi
for program in java python3 go; do
  command -v "$program" >/dev/null || { echo "found no $program, expected Java 17, Python 3.11 and Go, or later" >&2; exit 1; }
done
environment python3 "$dir" "$here/requirements.txt"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$here/../.." && CGO_ENABLED=0 go build -o "$work/listwise" ./cmd/listwise)
cd "$work"
export PATH=$dir/venv/bin:$PATH PYSPARK_PYTHON=$dir/venv/bin/python PYSPARK_DRIVER_PYTHON=$dir/venv/bin/python
export SPARK_LOCAL_IP=127.0.0.1 SPARK_LOCAL_HOSTNAME=localhost LISTWISE=$work/listwise
spark() {
  "$dir/venv/bin/spark-submit" --master 'local[2]' --conf spark.ui.enabled=false --conf spark.driver.bindAddress=127.0.0.1 "$here/listwise_spark.py" "$@" >>spark.log 2>&1
}

./listwise data synth --quiet --shape mq2008 --queries 120 --docs 20 --out test.txt
./listwise data shard --quiet test.txt --shards 16 --as .txt.gz --out test
./listwise train --quiet --no-record --method mle --train test.txt --model m.json >train.log
./listwise score --quiet --model m.json --data test.txt --out scores
measures=(--measures map,ndcg@7,mrr --convention standard-skip)
./listwise eval --quiet --no-record --format json --model m.json --data test.txt "${measures[@]}" >eval.json

spark score --data test --model m.json --out s || { tail -n 40 spark.log; exit 1; }
cat s/part-*.scores | cmp - scores
spark eval --data test --model m.json --out e "${measures[@]}" || { tail -n 40 spark.log; exit 1; }
cmp e/eval/eval.json eval.json
[ -e s/_SUCCESS ] && [ -e e/_SUCCESS ]
echo "Spark $("$dir/venv/bin/python" -c 'import pyspark; print(pyspark.__version__)'), local mode, 16 shards: scores and measures are the bytes of the command line"

cp test/part-00005.txt.gz good && cp test/part-00006.txt.gz test/part-00005.txt.gz
if spark score --data test --model m.json --out s; then echo 'a corrupt shard was no error'; exit 1; fi
grep -aq 'part-00005.txt.gz: found' spark.log
[ ! -e s/_SUCCESS ]
cp good test/part-00005.txt.gz
spark score --data test --model m.json --out s || { tail -n 40 spark.log; exit 1; }
[ -e s/_SUCCESS ] && cat s/part-*.scores | cmp - scores
echo 'a corrupt shard: the job fails and names it, and leaves no _SUCCESS; a rerun completes'

./listwise data convert --quiet test.txt --out table.parquet
"$dir/venv/bin/python" -c '
import pyarrow.parquet as pq
pq.write_table(pq.read_table("table.parquet").sort_by([("query", "ascending"), ("doc", "ascending")]), "sorted.parquet")'
./listwise train --quiet --no-record --method mle --normalize zscore --train table.parquet --model named.json >train.log
./listwise score --quiet --model named.json --data sorted.parquet --format parquet --out expected.parquet
PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1 "$dir/venv/bin/python" "$here/check_table.py" table.parquet named.json expected.parquet 2>>spark.log || { tail -n 40 spark.log; exit 1; }

mkdir scores-of-pods
mapfile -t arguments < <(sed -n '/^          args:/,/^          env:/s/^            - //p' "$here/../kubernetes-shards.yaml")
for index in $(seq 0 15); do
  pod=("${arguments[@]//\$(JOB_COMPLETION_INDEX)/$index}")
  pod=("${pod[@]//\/ranking\/scores/scores-of-pods}")
  ./listwise "${pod[@]//\/ranking\//}"
done
cat $(seq -f 'scores-of-pods/part-%g' 0 15) | cmp - scores
echo 'the command lines of the Indexed Job of Kubernetes, 16 indexes: the bytes of the command line'

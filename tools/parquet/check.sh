#!/usr/bin/env bash
# Checks Parquet files of pyarrow, fastparquet, polars, DuckDB and Spark, of the versions that
# requirements.txt pins: what they write is read, and pyarrow reads what listwise writes. It makes a folder of its own with a Python environment,
# and uses it again: CHECK_PARQUET_DIR, or one in the folder for temporary files.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../environment.sh"
dir=${CHECK_PARQUET_DIR:-${TMPDIR:-/tmp}/listwise-parquet-$(id -u)}
mkdir -p "$dir"

for program in python3 go java; do
  command -v "$program" >/dev/null || { echo "found no $program, expected Python 3.11 or later, Go and Java 17 or later" >&2; exit 1; }
done
JAVA_HOME=${JAVA_HOME:-$(dirname "$(dirname "$(readlink -f "$(command -v java)")")")}
export JAVA_HOME

environment python3 "$dir" "$here/requirements.txt"

(cd "$here/../.." && go build -o "$dir/listwise" ./cmd/listwise)
tables=$(mktemp -d "$dir/tables.XXXXXX")
trap 'rm -rf "$tables"' EXIT
"$dir/venv/bin/python" "$here/tables.py" --check "$dir/listwise" "$tables"

#!/usr/bin/env bash
# Compares all measures with trec_eval, ir_measures, ranx, scikit-learn, LightGBM and XGBoost, of the versions that
# requirements.txt pins. It makes a folder of its own with a Python environment, and uses it again: CHECK_TREC_DIR, or
# one in the folder for temporary files.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../environment.sh"
dir=${CHECK_TREC_DIR:-${TMPDIR:-/tmp}/listwise-trec-$(id -u)}
mkdir -p "$dir"

environment "$(recent_python)" "$dir" "$here/requirements.txt"
(cd "$here/../.." && go build -o "$dir/listwise" ./cmd/listwise)
"$dir/venv/bin/python" "$here/check.py" --listwise "$dir/listwise"

#!/usr/bin/env bash
# Checks contributions and importance against the package shap, LightGBM's and XGBoost's own
# contributions, and scikit-learn, of the versions that requirements.txt pins. It makes a folder of
# its own with a Python environment, and uses it again: CHECK_EXPLAIN_DIR, or one in the folder for
# temporary files. The exit code is not 0 if anything differs. "check.sh speed.py" measures instead.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../environment.sh"
dir=${CHECK_EXPLAIN_DIR:-${TMPDIR:-/tmp}/listwise-explain-$(id -u)}
mkdir -p "$dir"

python=$(recent_python)
environment "$python" "$dir" "$here/requirements.txt"

(cd "$here/../.." && go build -o "$dir/listwise" ./cmd/listwise)
work=$(mktemp -d "$dir/check.XXXXXX")
trap 'rm -rf "$work"' EXIT
"$dir/venv/bin/python" -W ignore "$here/${1:-check.py}" "$dir/listwise" "$work"

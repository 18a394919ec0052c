#!/usr/bin/env bash
# Checks models of trees that go out and come in against LightGBM, XGBoost, CatBoost and treelite, of
# the versions that trees/requirements.txt pins. It makes a folder of its own with a Python
# environment, and uses it again: CHECK_TREES_DIR, or one in the folder for temporary files. The exit
# code is not 0 if anything differs. Options go to trees/check_trees.py.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../environment.sh"
dir=${CHECK_TREES_DIR:-${TMPDIR:-/tmp}/listwise-trees-$(id -u)}
mkdir -p "$dir"

python=$(recent_python)
environment "$python" "$dir" "$here/trees/requirements.txt"

(cd "$here/../.." && go build -o "$dir/listwise" ./cmd/listwise)
exec "$dir/venv/bin/python" "$here/trees/check_trees.py" --listwise "$dir/listwise" "$@"

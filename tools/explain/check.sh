#!/usr/bin/env bash
# Checks contributions and importance against the package shap, LightGBM's and XGBoost's own
# contributions, and scikit-learn, of the versions that requirements.txt pins. It makes a folder of
# its own with a Python environment, and uses it again: CHECK_EXPLAIN_DIR, or one in the folder for
# temporary files. The exit code is not 0 if anything differs. "check.sh speed.py" measures instead.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${CHECK_EXPLAIN_DIR:-${TMPDIR:-/tmp}/listwise-explain-$(id -u)}
mkdir -p "$dir"

new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 12))' >/dev/null 2>&1; }
python=${PYTHON:-}
for candidate in python3 python3.12 python3.13 python3.14 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
  [ -n "$python" ] && break
  if new_enough "$candidate"; then python=$candidate; fi
done
if [ -z "$python" ] || ! new_enough "$python"; then
  echo "found no Python of version 3.12 or later, which XGBoost needs, expected one (PYTHON=… names it)" >&2
  exit 1
fi

requirements=$here/requirements.txt
if ! cmp -s "$requirements" "$dir/venv/requirements.txt"; then
  rm -rf "$dir/venv"
  "$python" -m venv "$dir/venv"
  "$dir/venv/bin/pip" install --quiet --disable-pip-version-check -r "$requirements"
  cp "$requirements" "$dir/venv/requirements.txt"
fi

(cd "$here/../.." && go build -o "$dir/listwise" ./cmd/listwise)
work=$(mktemp -d "$dir/check.XXXXXX")
trap 'rm -rf "$work"' EXIT
"$dir/venv/bin/python" -W ignore "$here/${1:-check.py}" "$dir/listwise" "$work"

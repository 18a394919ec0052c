#!/usr/bin/env bash
# Tests the Python package as it is installed: builds a wheel, checks it, installs it without a network
# and runs the tests against numpy, pandas, polars, pyarrow, scipy and scikit-learn of the versions that
# requirements.txt pins; then mypy. It makes a folder of its own with a Python environment, and uses
# it again: CHECK_PYTHON_DIR, or one in the folder for temporary files. --quick leaves wheels of other
# machines out.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../tools/environment.sh"
dir=${CHECK_PYTHON_DIR:-${TMPDIR:-/tmp}/listwise-python-$(id -u)}
mkdir -p "$dir"

for program in python3 go gcc; do
  command -v "$program" >/dev/null || { echo "found no $program, expected Python 3.11 or later, Go and a C compiler" >&2; exit 1; }
done

environment python3 "$dir" "$here/requirements.txt"
python=$dir/venv/bin/python

"$python" "$here/build.py" go vet ./...
"$python" "$here/build.py" go test ./...
rm -rf "$dir/dist"
"$python" "$here/build.py" wheel --arch "$(uname -m)" --out "$dir/dist"
if [ "${1:-}" != --quick ] && [ "$(uname -m)" = x86_64 ] && command -v aarch64-linux-gnu-gcc >/dev/null; then
  "$python" "$here/build.py" wheel --arch aarch64 --out "$dir/dist"
fi
"$python" -m pip install --quiet --disable-pip-version-check --no-index --no-deps --force-reinstall "$dir"/dist/*_"$(uname -m)".whl

(cd "$here/.." && go build -o "$dir/listwise" ./cmd/listwise)
cd "$here"
LISTWISE=$dir/listwise "$python" -m pytest -q --durations=5
"$python" -m mypy

#!/usr/bin/env bash
# Runs every fuzz target for a time, 10s unless the first argument says otherwise. The seeds of
# all targets run with the tests.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-10s}

failed=()
fuzz() { # the module's folder, what runs go there
  local module=$1 file target package
  shift
  while IFS=: read -r file target; do
    package=./$(dirname "$file")
    printf '== %s %s %s\n' "$module" "$package" "$target"
    (cd "$module" && "$@" test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$package") </dev/null || failed+=("$module $package $target")
  done < <(cd "$module" && git grep -o 'func Fuzz[A-Za-z0-9_]*' -- '*_test.go' ':!python' | sed 's/func //')
}
fuzz . go
fuzz python python3 build.py go
if [ ${#failed[@]} -gt 0 ]; then
  printf 'failed: %s\n' "${failed[@]}"
  exit 1
fi

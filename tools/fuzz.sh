#!/usr/bin/env bash
# Runs every fuzz target for a time, 10s unless the first argument says otherwise. The seeds of
# all targets run with the tests.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-10s}

failed=()
for module in . python; do
  while IFS=: read -r file target; do
    package=./$(dirname "$file")
    printf '== %s %s\n' "$package" "$target"
    (cd "$module" && go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$package") || failed+=("$module/$package $target")
  done < <(cd "$module" && git grep -o 'func Fuzz[A-Za-z0-9_]*' -- '*_test.go' ':!python' | sed 's/func //')
done
if [ ${#failed[@]} -gt 0 ]; then
  printf 'failed: %s\n' "${failed[@]}"
  exit 1
fi

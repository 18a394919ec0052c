#!/usr/bin/env bash
# Runs a program that go test built, with flags of rapid's, separated by commas, if the program knows rapid; for
# go test -exec 'draws.sh FLAGS', with tools/ in PATH: a path in -exec would be part of what test results are kept under.
set -euo pipefail
IFS=, read -ra flags <<< "$1"
program=$2
shift 2
if grep -q 'rapid\.seed' "$program"; then
  set -- "$@" "${flags[@]}"
fi
exec "$program" "$@"

#!/usr/bin/env bash
# Runs a program that go test built, with a flag of rapid's if the program knows rapid; for
# go test -exec 'tools/draws.sh FLAG'.
set -euo pipefail
flag=$1 program=$2
shift 2
if grep -q 'rapid\.seed' "$program"; then
  set -- "$@" "$flag"
fi
exec "$program" "$@"

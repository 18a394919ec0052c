#!/usr/bin/env bash
# The command of a worker in a process of its own (--environment_type=PROCESS): Beam's boot program, built by
# "go build -o boot github.com/apache/beam/sdks/v2/go/container" and named by BOOT or beside
# this script, fetches the program that the driver staged and runs it. Prism passes the worker's id in quotes,
# which are no part of it.
set -euo pipefail
args=()
for a in "$@"; do args+=("${a//\'/}"); done
staged=$(mktemp -d)
trap 'rm -rf "$staged"' EXIT
"${BOOT:-$(dirname "$0")/boot}" "${args[@]}" --semi_persist_dir="$staged"

#!/usr/bin/env bash
# The command of a worker in a process of its own (--environment_type=PROCESS): Beam's boot program, built by
# "go build -o boot github.com/apache/beam/sdks/v2/go/container" and named by BOOT or beside
# this script, fetches the program that the driver staged and runs it. Prism passes the worker's id in quotes,
# which are no part of it.
set -euo pipefail
args=()
for a in "$@"; do args+=("${a//\'/}"); done
staged=$(mktemp -d)
set -m # boot and what it starts are a group
"${BOOT:-$(dirname "$0")/boot}" "${args[@]}" --semi_persist_dir="$staged" &
boot=$!

# Whoever ends this script, by whatever signal, or is gone, ends the group, too. Boot runs a copy of the program, in a folder
# that it does not remove.
(
  folder=
  while kill -0 "$$" && kill -0 "$PPID" && kill -0 "$boot"; do
    for p in $(pgrep -P "$boot"); do
      copy=$(readlink "/proc/$p/exe" || true)
      [[ $copy != /tmp/bin*/worker ]] || folder=$(dirname "$copy")
    done
    sleep 0.1
  done
  kill -9 -- "-$boot" || true
  rm -rf "$staged" ${folder:+"$folder"}
) >/dev/null 2>&1 &
wait "$boot"

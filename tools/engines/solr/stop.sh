#!/usr/bin/env bash
# Stops the Solr that start.sh started, and waits until it has ended.
set -euo pipefail
file=${CHECK_SOLR_DIR:-${TMPDIR:-/tmp}/listwise-solr-$(id -u)}/pid
[ -f "$file" ] || exit 0
kill "$(cat "$file")" 2>/dev/null || true
while kill -0 "$(cat "$file")" 2>/dev/null; do sleep 0.1; done
rm "$file"

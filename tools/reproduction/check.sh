#!/usr/bin/env bash
# Compares the documentation with the experiments that need no data and take seconds. After a full
# `listwise reproduce all`, blocks.py compares the others.
set -euo pipefail
cd "$(dirname "$0")/../.."

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
go build -o "$out/listwise" ./cmd/listwise
for name in logrank-mathematics logrank-fig7 logrank-fig8 listmle-soundness listmle-consistency lambda-jacobian; do
  "$out/listwise" reproduce "$name" --out "$out" --quiet >/dev/null
done
python3 tools/reproduction/blocks.py "$out"

#!/usr/bin/env bash
# Runs the program on data larger than memory (bounded.py), and with limits of memory (limits.py). Needs root and Python 3.9
# or later.
set -euo pipefail
cd "$(dirname "$0")/../.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

go build -o "$scratch/listwise" ./cmd/listwise
python3 tools/scale/bounded.py --small --listwise "$scratch/listwise" --dir "$scratch/bounded"
python3 tools/scale/limits.py --listwise "$scratch/listwise" --dir "$scratch/limits"

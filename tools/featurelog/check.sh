#!/usr/bin/env bash
# Measures "listwise data log" on one core: the time and memory that answers of a search engine with a million documents
# take. The first argument is the number of documents.
set -euo pipefail
cd "$(dirname "$0")"
documents=${1:-1000000}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go build -o "$dir/made" .
(cd ../.. && go build -o "$dir/listwise" ./cmd/listwise)
cd "$dir"
for form in "solr 36" "elasticsearch 20"; do
  read -r name features <<<"$form"
  ./made -form "$name" -features "$features" -documents "$documents"
  for out in train.csv train.lwd; do
    printf '%s, %s features, %s bytes, %s:\n' "$name" "$features" "$(stat -c %s answers.jsonl)" "$out"
    GOMAXPROCS=1 /usr/bin/time -f '%e s, of these %U s in the program and %S s in the system; %M KB' \
      ./listwise data log answers.jsonl --judgements judgements.csv --out "$out" -q
  done
done

#!/usr/bin/env bash
# Keeps what a version writes, for the test that later versions read it:
#
#   tools/release/keep.sh LISTWISE VERSION
#
# LISTWISE is that version's program. What the version does not know yet is left out and listed.
set -euo pipefail
program=$(realpath "$1")
cd "$(dirname "$0")/../../testdata/compatibility"
out=$2
rm -rf "$out"
mkdir -p "$out"

train() { # NAME FLAGS…
  local name=$1
  shift
  if ! "$program" train --quiet --train data.txt --model "$out/$name.json" "$@" >/dev/null 2>"$out/error"; then
    echo "$2 ($name): $(tail -n 1 "$out/error")"
    rm -f "$out/$name.json"
    return
  fi
  "$program" score --quiet --model "$out/$name.json" --data data.txt --out "$out/$name.scores"
}

train linear --method mle
train network --method lambdarank --scorer net --set epochs=5
train pairs --method boltzrank2 --set epochs=2
train stumps --method rankboost --set rounds=8
train trees --method lambdamart --set trees=5 --set leaves=4
train symmetric --method yetiloss --scorer trees --set trees=4
train classes --method mcrank --scorer trees --set trees=3
train normalized --method listnet --normalize zscore
train transformed --method regression --transform log1p --transform standard
train views --method listnet --views raw,rank,zscore
if "$program" fuse --quiet --data data.txt --rule combsum --weights equal --model "$out/fusion.json" "$out/linear.json" "$out/stumps.json" >/dev/null 2>"$out/error"; then
  "$program" score --quiet --model "$out/fusion.json" --data data.txt --out "$out/fusion.scores"
else
  echo "fusion: $(tail -n 1 "$out/error")"
fi
"$program" data convert --quiet data.txt --out "$out/data.lwd" >/dev/null 2>"$out/error" || "$program" data convert data.txt "$out/data.lwd" >/dev/null 2>"$out/error" || echo "cache: $(tail -n 1 "$out/error")"
"$program" eval --quiet --format json --data data.txt --model "$out/linear.json" >"$out/eval.output"
"$program" data info --quiet --format json data.txt >"$out/info.output" 2>"$out/error" || "$program" data info --quiet --format json --data data.txt >"$out/info.output"
"$program" compare --quiet --format json --data data.txt --permutations 200 --resamples 200 "$out/linear.scores" "$out/stumps.scores" >"$out/compare.output" 2>"$out/error" || rm -f "$out/compare.output"
rm -rf "$out/error" .listwise
ls "$out"

#!/usr/bin/env bash
# Makes data, trains every method with every scorer, scores, fuses, evaluates and compares on amd64
# and, by qemu's emulation, on arm64: the files must be the same bytes. The NEON loops are tested
# there, too. As root on Debian it installs qemu-user; elsewhere without qemu-aarch64 it says so
# and checks nothing. JOBS says how many trainings run at once. --few trains three linear models, a network and trees
# alone.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v qemu-aarch64 >/dev/null && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq && apt-get install -y -qq --no-install-recommends qemu-user >/dev/null || true
fi
if ! command -v qemu-aarch64 >/dev/null; then
  echo 'no qemu-aarch64: arm64 is not checked (Debian has it in qemu-user)'
  exit 0
fi

# The vector loops against their portable references, and the elementary functions.
(cd "$here/../.." && GOARCH=arm64 go test -vet=off -short -timeout 30m -exec qemu-aarch64 ./internal/kernel && GOARCH=arm64 go test -vet=off -run TestBits -exec qemu-aarch64 ./internal/elementary)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for arch in amd64 arm64; do
  (cd "$here/../.." && GOOS=linux GOARCH=$arch go build -o "$work/$arch.bin" ./cmd/listwise)
  mkdir "$work/$arch"
done
native=$(go env GOHOSTARCH)
for arch in amd64 arm64; do
  run="$work/$arch.bin"
  case $arch in
  "$native") ;;
  arm64) run="qemu-aarch64 $run" ;;
  *) echo "this machine is $native: the check needs amd64"; exit 0 ;;
  esac
  printf '#!/bin/sh\nexec %s "$@"\n' "$run" >"$work/$arch.run"
  chmod +x "$work/$arch.run"
done

# Each architecture has a folder of its own, where the files have the same names in
# both.
cd "$work"
python3 - "$work/amd64.run" >trainings <<'PYTHON'
import json, subprocess, sys

def methods(*args):
    return json.loads(subprocess.run([sys.argv[1], "methods", *args, "--format", "json"], check=True, capture_output=True).stdout)

few = {"epochs": 6, "iterations": 15, "restarts": 1, "rounds": 10, "trees": 4, "bag": 1, "samples": 20, "starts": 2, "hidden": 3, "leaf_documents": 3}
for m in methods():
    name = m["name"]
    for scorer in m["scorers"]:
        known = {h["name"] for h in methods(name, "--scorer", scorer).get("hyperparameters", [])}
        sets = " ".join(f"--set {k}={v}" for k, v in few.items() if k in known)
        print(f"train --quiet --no-record --method {name} --scorer {scorer} {sets} --seed 3 --train train.txt --valid valid.txt --model {name}-{scorer}.json")
PYTHON
for form in sampled lattice shell; do
  echo "train --quiet --no-record --method mle --set form=$form --set samples=20 --set iterations=15 --train train.txt --model mle-$form.json"
done >>trainings
cat >>trainings <<'LINES'
train --quiet --no-record --method ranknet --views raw,rank,zscore --normalize minmax --set iterations=15 --train train.txt --model views.json
train --quiet --no-record --method lambdarank --scorer net --set activation=softplus --set epochs=4 --train train.txt --model softplus.json
train --quiet --no-record --method lambdarank --scorer net --set activation=elu --set epochs=4 --train train.txt --model elu.json
train --quiet --no-record --method lambdarank --scorer net --set activation=sigmoid --set epochs=4 --train train.txt --model sigmoid.json
LINES
if [ "${1:-}" = --few ]; then
  grep -E -e '--model (mle-linear|regression-linear|listnet-linear|lambdarank-net|lambdamart-trees)\.json$' trainings >few
  mv few trainings
fi

each() { # each ARCH < lines: runs them in the architecture's folder
  (cd "$1" && xargs -P "${JOBS:-2}" -I{} sh -c '../"$0".run {} >>"out.$$" 2>&1 || { echo "$0: {}" >&2; cat "out.$$" >&2; exit 255; }; rm -f "out.$$"' "$1")
}
for arch in amd64 arm64; do
  each "$arch" <<'LINES'
data synth --quiet --shape mq2008 --queries 14 --docs 9 --features 6 --out train.txt
data synth --quiet --shape mq2008 --queries 8 --docs 9 --features 6 --seed 2 --out valid.txt
data synth --quiet --shape cubic --queries 4 --docs 6 --features 4 --out cubic.csv
data synth --quiet --shape gov10 --queries 3 --docs 40 --out gov.lwd
LINES
  each "$arch" <trainings
  (
    cd "$arch"
    run="../$arch.run"
    for m in mle-linear lambdarank-net lambdamart-trees views; do
      [ ! -e "$m.json" ] || $run score --quiet --model "$m.json" --data valid.txt --out "$m.scores"
    done
    $run eval --no-record --format json --model mle-linear.json --data valid.txt >eval.json
    $run compare --format json --data valid.txt --baseline regression-linear mle-linear.json regression-linear.json listnet-linear.json >compare.json
    $run fuse --quiet --rule combsum --scale zscore --data valid.txt --out fused.scores mle-linear.json lambdarank-net.json >/dev/null
    $run explain --format json --model lambdarank-net.json --data valid.txt >explain.json
  )
done
diff -rq amd64 arm64 && echo "$(find amd64 -type f | wc -l) files are the same on amd64 and arm64"

#!/usr/bin/env bash
# Measures "train --experimental" over 16 shards against "listwise train" on the same data in one file: rounds and how long they
# take, with the averaged start and from 0, medians of three runs each. Arguments: numbers of queries (of about 153
# documents and 45 features). Without BEAM_ENDPOINT the pipelines run in the driver's process, on prism; else on that job
# server, with workers in the driver and in processes of their own, once each and 3 iterations:
#   beam/rounds.sh 650 6500 65000
#   CHECK=rounds.sh ARGS=650 beam/flink.sh
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$here"
go build -o "$work/listwise-beam" ./cmd/listwise-beam
go build -o "$work/boot" github.com/apache/beam/sdks/v2/go/container
(cd .. && go build -o "$work/listwise" ./cmd/listwise)
cd "$work"
mkdir workers
[ $# -gt 0 ] || read -ra sizes <<<"${ARGS:-650}"
for queries in "${@:-${sizes[@]}}"; do
  ./listwise data synth --quiet --shape ohsumed --queries "$queries" --out all.lwd
  ./listwise data shard --quiet all.lwd --shards 16 --out data
  HERE=$here WORK=$work python3 - <<'PYTHON'
import json, os, re, shutil, statistics, subprocess, time

work, endpoint = os.environ["WORK"], os.environ.get("BEAM_ENDPOINT")
method = ["--method", "mle"]


def run(*command):
    begun = time.time()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    return time.time() - begun, done.stderr


def training(path):
    return json.load(open(path))["training"]


def divided(start, beam, more):
    shutil.rmtree("out", ignore_errors=True)
    took, log = run("./listwise-beam", *beam, "train", "--experimental", "--data", work + "/data", "--out", work + "/out", "--start", start, "--", *method, *more)
    zeroth = float(re.search(r'round 0" seconds=([\d.e-]+)', log)[1])
    return took, zeroth, float(re.search(r"median_seconds=([\d.e-]+)", log)[1])


def row(how, start, beam, more, times):
    took, zeroth, median = (statistics.median(column) for column in zip(*(divided(start, beam, more) for _ in range(times))))
    got = training("out/model.json")
    worse = "" if more else f", objective {got['objective'] / want['objective'] - 1:+.1e}, gap {got['gap'] / got['objective']:.1e}"
    print(f"  {how}, start {start}: 1 + {got['divided']['rounds'] - 1} rounds, {zeroth:.3f} s and {median:.3f} s each, {took:.2f} s in all{worse}")


if not endpoint:
    one = statistics.median(run("./listwise", "train", "--quiet", "--no-record", *method, "--train", "all.lwd", "--model", "one.json")[0] for _ in range(3))
    want = training("one.json")
    print(f"{want['documents']} documents: one machine, {want['evaluations']} evaluations, {one:.2f} s in all, gap {want['gap'] / want['objective']:.1e}", flush=True)
    for start in ("average", "zero"):
        row("16 shards", start, [], [], 3)
else:
    config = json.dumps({"command": os.environ["HERE"] + "/worker.sh", "env": {"BOOT": work + "/boot", "TMPDIR": work + "/workers"}})
    for mode, flags in (("LOOPBACK", []), ("PROCESS", ["--environment_config", config])):
        row(mode, "zero", ["--runner=universal", "--endpoint=" + endpoint, "--environment_type=" + mode, *flags], ["--set", "iterations=3"], 1)
PYTHON
  rm -rf all.lwd data out
done

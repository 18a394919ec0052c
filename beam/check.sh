#!/usr/bin/env bash
# Runs the tests of this module, and its commands against a job server in a process of its own: workers in the
# driver (LOOPBACK) and in processes of their own (PROCESS), 16 shards, the bytes of the command line; then kills a
# worker. The job server is prism, which listens on all interfaces: all of it runs in a network namespace that has
# nothing but a loopback. The processes have a namespace, too: prism leaves workers behind, which end with it.
# BEAM_ENDPOINT names another job server, such as that of Flink (flink.sh), and BEAM_LOG its log; then nothing is
# isolated.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

if [ "${1:-}" != inside ]; then
  work=$(mktemp -d)
  touch "$work/begun"
  # Boot runs a copy of the worker in a folder of its own, which nobody removes when it is killed.
  trap 'find /tmp -maxdepth 1 -name "bin[0-9]*" -user "$(id -u)" -newer "$work/begun" -exec rm -rf {} +; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
  cd "$here"
  go vet ./...
  unformatted=$(gofmt -l .)
  [ -z "$unformatted" ] || { printf 'not formatted:\n%s\n' "$unformatted"; exit 1; }
  go test -c -o "$work/job.test" ./job
  go build -o "$work/listwise-beam" ./cmd/listwise-beam
  go build -o "$work/prism" github.com/apache/beam/sdks/v2/go/cmd/prism
  go build -o "$work/boot" github.com/apache/beam/sdks/v2/go/container
  (cd .. && go build -o "$work/listwise" ./cmd/listwise)
  export WORK=$work
  if [ -n "${BEAM_ENDPOINT:-}" ]; then
    bash "$here/check.sh" inside
  elif [ "$(id -u)" = 0 ]; then
    unshare -n -p --fork --kill-child --mount-proc bash "$here/check.sh" inside
  else
    unshare -rn -p --fork --kill-child --mount-proc bash "$here/check.sh" inside
  fi
  exit
fi

# Brings the loopback up, with what every Debian has.
[ -n "${BEAM_ENDPOINT:-}" ] || python3 - <<'PYTHON'
import fcntl, socket, struct
fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh14x", b"lo", 0x1 | 0x40))  # SIOCSIFFLAGS, IFF_UP | IFF_RUNNING
PYTHON

cd "$WORK"
mkdir tmp
export TMPDIR=$WORK/tmp # what drivers leave is removed with the rest
started=()
trap 'for p in "${started[@]}"; do kill "$p" 2>/dev/null || true; done' EXIT
if [ -z "${BEAM_ENDPOINT:-}" ]; then
  ./job.test -test.timeout 5m >tests.log 2>&1 || { grep -v 'level=' tests.log; exit 1; }
  echo "the tests pass: $(tail -n 1 tests.log)"
  ./prism --job_port 8073 --serve_http=false >server.log 2>&1 &
  started+=($!)
  endpoint=localhost:8073
  for _ in $(seq 100); do (: </dev/tcp/127.0.0.1/8073) 2>/dev/null && break; sleep 0.1; done
else
  endpoint=$BEAM_ENDPOINT
fi

./listwise data synth --quiet --shape mq2008 --queries 200 --docs 30 --out test.txt
mkdir -p folds/Fold1
for part in train vali test; do
  ./listwise data synth --quiet --shape mq2008 --queries 60 --docs 20 --seed ${#part} --out folds/Fold1/$part.txt
done
./listwise data shard --quiet test.txt --shards 16 --out test
./listwise train --quiet --no-record --method mle --train test.txt --model m.json >train.log
search=(--method lambdamart --grid trees=1500 --grid leaves=4,16 --grid rate=0.1)
mkdir want workers
./listwise score --quiet --model m.json --data test.txt --out want/scores
./listwise eval --quiet --no-record --format json --model m.json --data test.txt >want/eval.json
./listwise tune --quiet --no-record "${search[@]}" --data folds --out want/tuned >tune.log
learn=(--experimental --data "$WORK/test") learned=(--method mle --set C=10 --set iterations=4)
[ -z "${BEAM_ENDPOINT:-}" ] || learned=(--method mle --set C=10 --set iterations=1) # a round takes seconds there
./listwise-beam train "${learn[@]}" --out want/l -- "${learned[@]}" >train.log 2>&1 || { tail -n 5 train.log; exit 1; }

# beam MODE COMMAND ARGS... runs a command with workers of a mode.
beam() {
  local mode=$1 config=()
  shift
  [ "$mode" = LOOPBACK ] || config=(--environment_config "{\"command\":\"$here/worker.sh\",\"env\":{\"BOOT\":\"$WORK/boot\",\"TMPDIR\":\"$WORK/workers\"}}")
  timeout "${limit:-100}" ./listwise-beam --runner=universal --endpoint="$endpoint" --environment_type="$mode" "${config[@]}" "$@" >>beam.log 2>&1
}

# whole MODE checks that the results are those of the command line.
whole() {
  cat "$1"/s/part-*.scores | cmp - want/scores
  cmp "$1/e/eval.json" want/eval.json
  diff -r "$1/t/tuned" want/tuned
  for manifest in "$1"/[set]/results-manifest.json; do [ -s "$manifest" ]; done
  trainings=$(ls "$1/t/records" | wc -l)
  echo "$1: score and eval over 16 shards and tune, $trainings trainings: the bytes of the command line"
}

# divided MODE checks that the model of a training over shards is that of one process.
divided() {
  cmp "$1/l/model.json" want/l/model.json
  [ -s "$1/l/results-manifest.json" ]
  rounds=$(ls "$1/l/rounds" | wc -l)
  echo "$1: train over 16 shards, 1 + $rounds rounds: the bytes of one process"
}

# newest prints the process id of the last worker of this run in a process of its own, 0 for none.
newest() {
  local worker=0 line p
  for p in /proc/[0-9]*; do
    line=$(tr '\0' ' ' 2>/dev/null <"$p/cmdline" || true)
    [[ $line != *"--worker=true"*"--semi_persist_dir=$WORK/workers/"* || ${p#/proc/} -le $worker ]] || worker=${p#/proc/}
  done
  echo $worker
}

# killed PATTERN WHICH COMMAND ARGS... runs a command with workers in processes of their own and, when a file is there, kills
# the last worker (WHICH is last) or the next one as it begins (next). It fails if the command ends well.
killed() {
  local pattern=$1 which=$2 driver worker=0 before=0
  shift 2
  rm -f ended-well
  (limit=30 beam PROCESS "$@" && touch ended-well) &
  driver=$!
  for _ in $(seq 1200); do compgen -G "$pattern" >/dev/null && break; sleep 0.05; done
  [ "$which" = last ] || before=$(newest)
  for _ in $(seq 200); do
    worker=$(newest)
    [ "$worker" -gt "$before" ] && kill -9 "$worker" 2>/dev/null && break
    sleep 0.05
  done
  [ "$worker" -gt "$before" ] || { echo 'found no worker to kill'; tail beam.log; exit 1; }
  wait $driver || true # beam ends a driver that waits for ever
  [ ! -e ended-well ]
}

for mode in LOOPBACK PROCESS; do
  {
    beam $mode score --data "$WORK/test" --model "$WORK/m.json" --out "$WORK/$mode/s"
    beam $mode eval --data "$WORK/test" --model "$WORK/m.json" --out "$WORK/$mode/e"
    beam $mode tune --data "$WORK/folds" --out "$WORK/$mode/t" -- "${search[@]}"
    beam $mode train "${learn[@]}" --out "$WORK/$mode/l" -- "${learned[@]}"
  } || { tail -n 30 beam.log; exit 1; }
  whole $mode
  divided $mode
done

# A worker is killed when the first training stands.
rm -rf PROCESS/t
if ! killed 'PROCESS/t/records/*.json' last tune --data "$WORK/folds" --out "$WORK/PROCESS/t" -- "${search[@]}"; then
  echo 'a worker was killed: the job recovered'
else
  [ ! -e PROCESS/t/results-manifest.json ] || { echo 'found a manifest of a job whose worker was killed'; exit 1; }
  stood=$(ls PROCESS/t/records/*.json | wc -l)
  echo "a worker was killed: the job failed, $stood of $trainings trainings stand and there is no manifest"
  [ "$stood" -lt "$trainings" ]
  beam LOOPBACK tune --data "$WORK/folds" --out "$WORK/PROCESS/t" -- "${search[@]}" || { tail -n 30 beam.log; exit 1; }
  again=$(cat beam.log "${BEAM_LOG:-server.log}" 2>/dev/null | grep -ao "tune: $trainings parts, of which [0-9]* stood from before" | tail -n 1)
  echo "$again"
  [[ $again != *"which 0"* ]]
fi
whole PROCESS

# The same between rounds; on prism alone, for it takes half a minute.
[ -z "${BEAM_ENDPOINT:-}" ] || exit 0
rm -rf PROCESS/l
if ! killed 'PROCESS/l/rounds/round-00002.json' next train "${learn[@]}" --out "$WORK/PROCESS/l" -- "${learned[@]}"; then
  echo 'a worker was killed: the training recovered' # boot starts another if it had not begun its work
else
  [ ! -e PROCESS/l/model.json ] && [ ! -e PROCESS/l/results-manifest.json ] || { echo 'found a model of a training whose worker was killed'; exit 1; }
  stood=$(ls PROCESS/l/rounds | wc -l)
  touch killed
  beam LOOPBACK train "${learn[@]}" --out "$WORK/PROCESS/l" -- "${learned[@]}" || { tail -n 30 beam.log; exit 1; }
  echo "a worker was killed: the training failed, 1 + $stood rounds stand; a rerun made $(find PROCESS/l/rounds -newer killed | grep -c json) others"
fi
divided PROCESS

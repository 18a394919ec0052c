# What flink.sh and spark.sh share: a job server of Beam's in Java is started from the jars of an engine's runner, and
# check.sh runs against it.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# jars ENGINE FOLDER has the jars that ENGINE.xml names in FOLDER/lib. Needs Java 17 or later and Maven (as root on
# Debian it installs them). It keeps the jars, and uses them again.
jars() {
  local engine=$1 dir=$2
  mkdir -p "$dir"
  if ! { command -v java && command -v mvn; } >/dev/null && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq && apt-get install -y -qq --no-install-recommends openjdk-17-jre-headless maven >/dev/null
  fi
  for program in java mvn; do
    command -v "$program" >/dev/null || { echo "found no $program, expected Java 17 or later and Maven" >&2; exit 1; }
  done
  if ! cmp -s "$here/$engine.xml" "$dir/pom.xml"; then
    rm -rf "$dir/lib"
    mvn --quiet --batch-mode -f "$here/$engine.xml" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
      -DincludeScope=runtime -DoutputDirectory="$dir/lib"
    cp "$here/$engine.xml" "$dir/pom.xml"
  fi
}

# serve FOLDER PORT READY JAVA... starts the job server in FOLDER, where it writes files, waits until its log says READY,
# and runs check.sh, or the script that CHECK names. The log is in $log afterwards.
serve() {
  local dir=$1 port=$2 ready=$3
  shift 3
  scratch=$(mktemp -d) # where it and the workers of drivers leave what they do not remove
  log=$scratch/log
  mkdir "$scratch/tmp"
  cd "$dir"
  java -Xmx2g "-Djava.io.tmpdir=$scratch/tmp" "$@" -cp "$dir/lib/*" "$driver" --job-host 127.0.0.1 --job-port "$port" --artifact-port 0 --expansion-port 0 \
    --artifacts-dir "$scratch/artifacts" "${master[@]}" >"$log" 2>&1 &
  server=$!
  trap '{ kill $server && wait $server; } 2>/dev/null || true; rm -rf "$scratch"' EXIT
  for _ in $(seq 300); do grep -q "$ready" "$log" && break; sleep 0.2; done
  grep -q "$ready" "$log" || { tail -n 20 "$log"; exit 1; }
  BEAM_ENDPOINT=localhost:$port BEAM_LOG=$log bash "$here/${CHECK:-check.sh}" || { tail -n 40 "$log" | cut -c1-300; exit 1; }
}

#!/usr/bin/env bash
# Runs check.sh against Flink: Beam's job server for it, with a Flink cluster in its process, of the
# version that flink.xml pins. There is no jar of the job server as a whole in Maven's repository for that
# version; it is started from the runner's and what that needs. Needs Java 17 or later and Maven (as root on Debian it
# installs them). It keeps the jars (150 MB), and uses them again: CHECK_FLINK_DIR, or a folder in the one for
# temporary files.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${CHECK_FLINK_DIR:-${TMPDIR:-/tmp}/listwise-flink-$(id -u)}
mkdir -p "$dir"
if ! { command -v java && command -v mvn; } >/dev/null && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq && apt-get install -y -qq --no-install-recommends openjdk-17-jre-headless maven >/dev/null
fi
for program in java mvn; do
  command -v "$program" >/dev/null || { echo "found no $program, expected Java 17 or later and Maven" >&2; exit 1; }
done
if ! cmp -s "$here/flink.xml" "$dir/pom.xml"; then
  rm -rf "$dir/lib"
  mvn --quiet --batch-mode -f "$here/flink.xml" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
    -DincludeScope=runtime -DoutputDirectory="$dir/lib"
  cp "$here/flink.xml" "$dir/pom.xml"
fi

port=8099
log=$(mktemp)
cd "$dir" # the job server writes pipeline_options.json where it runs
java -Xmx2g -cp "$dir/lib/*" org.apache.beam.runners.flink.FlinkJobServerDriver \
  --job-host 127.0.0.1 --job-port $port --artifact-port 0 --expansion-port 0 --flink-master '[local]' >"$log" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null || true; rm -f "$log"' EXIT
for _ in $(seq 300); do grep -q 'Job server now running' "$log" && break; sleep 0.2; done
grep -q 'Job server now running' "$log" || { tail -n 20 "$log"; exit 1; }
BEAM_ENDPOINT=localhost:$port BEAM_LOG=$log bash "$here/check.sh" || { tail -n 40 "$log" | cut -c1-300; exit 1; }
grep -o 'org.apache.flink.runtime.minicluster.MiniCluster - Flink Mini Cluster started successfully' "$log" | sort | uniq -c
grep -o 'Job [a-z0-9-]* .*switched from state RUNNING to [A-Z]*' "$log" | sed 's/.* to /Flink: a job switched from RUNNING to /' | sort | uniq -c

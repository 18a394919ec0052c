#!/usr/bin/env bash
# Runs check.sh against Flink: Beam's job server for it, with a Flink cluster in its process, of the version that
# flink.xml pins. Maven's repository has no single jar of that job server, so it runs from the runner's jar and its
# dependencies. The jars (150 MB) stay in CHECK_FLINK_DIR, or in a folder in the one for temporary files. Needs Java 17
# or later and Maven, which it installs as root on Debian.
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

scratch=$(mktemp -d) # where the server and the workers of drivers leave what they do not remove
log=$scratch/log
mkdir "$scratch/tmp"
cd "$dir"
java -Xmx2g "-Djava.io.tmpdir=$scratch/tmp" -cp "$dir/lib/*" org.apache.beam.runners.flink.FlinkJobServerDriver --flink-master '[local]' \
  --job-host 127.0.0.1 --job-port 8099 --artifact-port 0 --expansion-port 0 --artifacts-dir "$scratch/artifacts" >"$log" 2>&1 &
server=$!
trap '{ kill $server && wait $server; } 2>/dev/null || true; rm -rf "$scratch"' EXIT
for _ in $(seq 300); do grep -q 'Job server now running' "$log" && break; sleep 0.2; done
grep -q 'Job server now running' "$log" || { tail -n 20 "$log"; exit 1; }
BEAM_ENDPOINT=localhost:8099 BEAM_LOG=$log bash "$here/check.sh" || { tail -n 40 "$log" | cut -c1-300; exit 1; }
grep -o 'org.apache.flink.runtime.minicluster.MiniCluster - Flink Mini Cluster started successfully' "$log" | sort | uniq -c
grep -o 'Job [a-z0-9-]* .*switched from state RUNNING to [A-Z]*' "$log" | sed 's/.* to /Flink: a job switched from RUNNING to /' | sort | uniq -c

#!/usr/bin/env bash
# Starts Solr 8.11.4 with its learning-to-rank module on 127.0.0.1, with empty cores: start.sh PORT CORE...
# The jars come from Maven Central and are kept in CHECK_SOLR_DIR, or in a folder for temporary files; the
# index is made anew. The id of the process is written to $CHECK_SOLR_DIR/pid.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${CHECK_SOLR_DIR:-${TMPDIR:-/tmp}/listwise-solr-$(id -u)}
port=$1
shift

for program in java javac mvn curl; do
  command -v "$program" >/dev/null || { echo "found no $program, expected a JDK from 17 on, Maven and curl" >&2; exit 1; }
done
mkdir -p "$dir"
if ! cmp -s "$here/pom.xml" "$dir/pom.xml"; then
  rm -rf "${dir:?}/lib"
  mvn --quiet --batch-mode -f "$here/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
    -DincludeScope=runtime -DoutputDirectory="$dir/lib" >&2 # Maven may print codes of colors
  cp "$here/pom.xml" "$dir/pom.xml"
fi
javac -nowarn -cp "$dir/lib/*" -d "$dir/classes" "$here/StartSolr.java"

rm -rf "${dir:?}/home"
mkdir "$dir/home"
echo '<solr/>' >"$dir/home/solr.xml"
for core; do
  mkdir "$dir/home/$core"
  cp -r "$here/conf" "$dir/home/$core/conf"
  echo "name=$core" >"$dir/home/$core/core.properties"
done
cat >"$dir/log4j2.xml" <<'XML'
<Configuration><Appenders><Console name="c"/></Appenders><Loggers><Root level="warn"><AppenderRef ref="c"/></Root></Loggers></Configuration>
XML
java -Xmx1g -Dlog4j.configurationFile="$dir/log4j2.xml" -cp "$dir/classes:$dir/lib/*" StartSolr "$dir/home" "$port" >"$dir/solr.log" 2>&1 &
echo $! >"$dir/pid"
for core; do
  until curl -sf "http://127.0.0.1:$port/solr/$core/select?q=*:*" >/dev/null; do
    sleep 0.5
    kill -0 "$(cat "$dir/pid")" || { tail "$dir/solr.log" >&2; exit 1; }
  done
done

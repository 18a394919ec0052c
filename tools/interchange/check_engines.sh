#!/usr/bin/env bash
# Checks models that go out and come in against RankyMcRankFace, Solr's learning-to-rank module,
# Elasticsearch's inference, eland, ONNX Runtime, Vespa's evaluator, scikit-learn and LIBLINEAR, of the
# versions that engines/ pins. It makes a folder of its own with a Python environment and the jars, and uses it again:
# CHECK_ENGINES_DIR, or one in the folder for temporary files. The exit code is not 0 if anything
# differs. Options go to engines.py.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../environment.sh"
dir=${CHECK_ENGINES_DIR:-${TMPDIR:-/tmp}/listwise-engines-$(id -u)}
mkdir -p "$dir"

for program in python3 java javac mvn go; do
  command -v "$program" >/dev/null || { echo "found no $program, expected Python 3.11 or later, a JDK from 17 on, Maven and Go" >&2; exit 1; }
done

environment python3 "$dir" "$here/engines/requirements.txt"

# jars NAME copies what NAME.xml depends on to a folder.
jars() {
  local pom=$here/engines/$1.xml
  if ! cmp -s "$pom" "$dir/$1/pom.xml"; then
    rm -rf "${dir:?}/$1"
    mkdir -p "$dir/$1/lib"
    mvn --quiet --batch-mode -f "$pom" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
      -DincludeScope=runtime -DoutputDirectory="$dir/$1/lib"
    cp "$pom" "$dir/$1/pom.xml"
  fi
}
jars engines
jars vespa
jars elasticsearch

rm -rf "$dir/classes" "$dir/work"
javac -nowarn -cp "$dir/engines/lib/*" -d "$dir/classes" "$here/engines/Engines.java"
javac -nowarn -cp "$dir/vespa/lib/*" -d "$dir/classes" "$here/engines/Vespa.java" 2>"$dir/warnings" || { cat "$dir/warnings" >&2; exit 1; }
javac -nowarn -cp "$dir/elasticsearch/lib/*" -d "$dir/classes" "$here/engines/Elasticsearch.java"
(cd "$here/../.." && go build -o "$dir/listwise" ./cmd/listwise)
exec "$dir/venv/bin/python" "$here/engines/engines.py" --listwise "$dir/listwise" \
  --java "java -cp $dir/classes:$dir/engines/lib/* Engines" --vespa "java -cp $dir/classes:$dir/vespa/lib/* Vespa" \
  --elasticsearch "java -cp $dir/classes:$dir/elasticsearch/lib/* Elasticsearch" \
  --work "$dir/work" "$@"

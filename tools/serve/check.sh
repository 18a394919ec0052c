#!/usr/bin/env bash
# Sends requests that schemathesis makes of /openapi.json, of the version that requirements.txt
# pins, to listwise serve: no answer may be 5xx or other than described; then soak for 20 seconds (serve/soak). It makes a folder of its
# own with a Python environment, and uses it again: CHECK_SERVE_DIR, or one in the folder for
# temporary files. EXAMPLES says how many requests are made of each operation.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../environment.sh"
dir=${CHECK_SERVE_DIR:-${TMPDIR:-/tmp}/listwise-serve-$(id -u)}
mkdir -p "$dir"

environment "$(recent_python)" "$dir" "$here/requirements.txt"

(cd "$here/../.." && go build -o "$dir/listwise" ./cmd/listwise)
work=$(mktemp -d "$dir/check.XXXXXX")
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
cd "$work"
"$dir/listwise" data synth --queries 20 --docs 20 --relevant 6 --features 3 --out d.txt
"$dir/listwise" train --quiet --no-record --method ranknet --missing zero --train d.txt --model web.json
: >log # there before it is looked at
"$dir/listwise" serve --model web=web.json --explore explored=web:noise=1 --experiment-log experiments.jsonl --page-log pages.jsonl --page-share 1 --page-candidates 2 --addr 127.0.0.1:0 --format json 2>>log &
server=$!
for _ in $(seq 100); do
  url=$(sed -n 's/.*"url":"\([^"]*\)".*/\1/p' log)
  [ -z "$url" ] || break
  sleep 0.1
done
[ -n "$url" ] || { cat log >&2; exit 1; }
# The whole description, then that of requests in JSON about this model alone, whose documents have
# three features: most of the first are refused, as they should be, and most of the second answered.
"$dir/venv/bin/python" - "$url" <<'PYTHON'
import json, sys, urllib.request
api = json.load(urllib.request.urlopen(sys.argv[1] + "/openapi.json"))
features = api["components"]["schemas"]["Document"]["properties"]["features"]["oneOf"]
features[0].update(minItems=3, maxItems=3)
features[1].update(properties={str(i): features[1]["additionalProperties"] for i in (1, 2, 3)}, required=["1", "2", "3"], additionalProperties=False)
rank = api["paths"]["/v1/models/{name}:rank"]["post"]
rank["parameters"] = [p for p in rank["parameters"] if p["in"] == "path"]
del rank["requestBody"]["content"]["application/octet-stream"]
api["paths"] = {"/v1/models/{name}:rank": {"post": rank}}
json.dump(api, open("rank.json", "w"))
PYTHON
check() {
  "$dir/venv/bin/schemathesis" --config-file "$here/schemathesis.toml" run "$@" --max-examples "${EXAMPLES:-100}" --seed 1 --no-color
}
check "$url/openapi.json"
check rank.json --url "$url"
if grep '"level":"ERROR"' log; then
  echo 'the server logged errors' >&2
  exit 1
fi

# Good, bad, slow, cut-off and oversized requests while the model changes.
(cd "$here/.." && go run ./serve/soak -time 20s -listwise "$dir/listwise")

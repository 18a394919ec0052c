#!/usr/bin/env bash
# Checks the tutorial and the commands of engine against a real Solr 8.11.4, which solr/start.sh starts on PORT (18983).
# The commands of docs/guide/search-engineer.md must print what the page says (UPDATE_SESSIONS=1 updates the page).
# Each kind of model, uploaded, must rank three sets as listwise score does, except for ties. Largest difference:
# 1e-5. The sets are the shop of docs/guide, films with text features of the query, and MQ2008 (LETOR names a
# folder with mq2008 and make-folds). For MQ2008 the last table compares auto --for solr with auto. CHECK_SOLR_DIR
# keeps the jars and the films, by default a folder for temporary files.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
export CHECK_SOLR_DIR=${CHECK_SOLR_DIR:-${TMPDIR:-/tmp}/listwise-solr-$(id -u)}
dir=$CHECK_SOLR_DIR
letor=${LETOR:-$root/../shared/data}
port=${PORT:-18983}
url=http://127.0.0.1:$port/solr

for program in python3 npm go; do
  command -v "$program" >/dev/null || { echo "found no $program, expected Python 3, npm and Go" >&2; exit 1; }
done
mkdir -p "$dir"
if ! [ -f "$dir/package/data/movies.json" ]; then
  (cd "$dir" && npm pack --silent vega-datasets@1.31.1 >/dev/null && tar xzf vega-datasets-1.31.1.tgz package/data/movies.json)
fi
(cd "$root" && go build -o "$dir/listwise" ./cmd/listwise)
work=$(mktemp -d "$dir/check.XXXXXX")
rm -f "$dir/pid"
trap '"$here/solr/stop.sh"; rm -rf "$work"' EXIT

python3 "$here/index.py" judgements "$dir/package/data/movies.json" "$work/judgements.csv"
cmp "$work/judgements.csv" "$root/docs/guide/films/judgements.csv"
(cd "$root" && PATH="$dir:$PATH" CHECK_SOLR_PORT=$port CHECK_SOLR_FILMS=$dir/package/data/movies.json go test -count=1 -run TestSolrDocument ./app)

"$here/solr/start.sh" "$port" films shop mq2008
cd "$work"
listwise() { "$dir/listwise" "$@" --quiet; }

# parity CORE MODEL compares a model with the core, and prints a line.
parity() {
  local core=$1 model=$2
  listwise engine put --solr "$url/$core" --model "$core/$model.json" --name "$model@2" --store "$core" >"$core/$model.put" 2>&1 ||
    { cat "$core/$model.put" >&2; exit 1; }
  listwise engine check --solr "$url/$core" --model "$core/$model.json" --name "$model@2" --data "$core/all.csv" --request "$core/request.json" \
    --format json >"$core/$model.check" || { cat "$core/$model.check" >&2; exit 1; }
  python3 - "$core" "$model" "$core/$model.check" <<'PYTHON'
import json, sys
core, model, path = sys.argv[1:]
r = json.load(open(path))
print(f'{core:7} {model:8} {r["queries"]:5} queries {r["documents"]:6} documents  largest difference {r["largest_difference"]:.1e}  '
      f'constant {r["constant"]:.3g}  another order {len(r["queries_in_another_order"] or [])}, within the tolerance {r["queries_in_another_order_within_tolerance"]}')
assert r["documents_not_returned"] == r["documents_with_other_features"] == 0, r
PYTHON
}

# models CORE TRAIN trains a model of each kind, and checks it.
models() {
  local core=$1
  shift
  listwise train --no-record --method mle --missing zero --train "$@" --model "$core/linear.json" >/dev/null
  listwise train --no-record --method mle --transform standard --missing zero --train "$@" --model "$core/standard.json" >/dev/null
  listwise train --no-record --method ranknet --scorer net --transform standard --missing zero --train "$@" --model "$core/network.json" >/dev/null
  listwise train --no-record --method lambdamart --missing zero --train "$@" --model "$core/trees.json" >/dev/null
  listwise train --no-record --method mart --set trees=30 --missing zero --train "$@" --model "$core/mart.json" >/dev/null
  listwise fuse --rule combsum --scale raw --data "$1" --model "$core/fused.json" "$core/trees.json" "$core/mart.json" >/dev/null
  for model in linear standard network trees fused; do parity "$core" "$model"; done
}

mkdir shop films mq2008
cat "$root/docs/guide/data/train.csv" <(tail -n +2 "$root/docs/guide/data/test.csv") >shop.csv
python3 "$here/index.py" pairs shop.csv "$url/shop" shop shop/all.csv
python3 "$here/index.py" films "$dir/package/data/movies.json" "$url/films" films films/all.csv
echo '{"q": "query_s:\"{query}\"", "rows": 200}' | tee shop/request.json >mq2008/request.json
echo '{"q": "{!edismax qf=\"title_t director_t\" v=$text}", "text": "{query}", "rows": 50}' >films/request.json

models shop "$root/docs/guide/data/train.csv"
listwise auto --data "$root/docs/guide/data/train.csv" --missing zero --folds 3 --trials 12 --for solr --out auto >/dev/null
grep -q '"method": "fusion"' auto/model.json # of the models of all parts
cp auto/model.json shop/auto.json
parity shop auto
models films films/all.csv

# fails PATTERN COMMAND... expects a command to fail with such a message.
fails() {
  local pattern=$1
  shift
  if listwise engine "$@" >message 2>&1 || ! grep -q "$pattern" message; then
    echo "listwise engine $*: expected a failure with $pattern, found" >&2
    cat message >&2
    exit 1
  fi
}
shop=(--solr "$url/shop")
fails 'feature store "shop" lacks 6 of the model.s 7 features' put "${shop[@]}" --model films/linear.json --name other --store shop
fails 'expected a new name such as "linear@3"' put "${shop[@]}" --model shop/linear.json --name linear@2 --store shop
listwise engine put "${shop[@]}" --model shop/trees.json --name linear@2 --store shop --replace >/dev/null
fails 'the engine ranks differently' check "${shop[@]}" --model shop/linear.json --name linear@2 --data shop/all.csv --request shop/request.json
sed '2s/,[0-9]*,\([0-9]*\)$/,7777,\1/' shop/all.csv >changed.csv # the age of one product
fails 'age: 7777 in the data, .* in the engine  differs' check "${shop[@]}" --model shop/standard.json --name standard@2 --data changed.csv --request shop/request.json

if ! [ -x "$letor/make-folds" ]; then
  echo "not run: MQ2008 (found no $letor/make-folds; LETOR names its folder)"
  exit
fi
"$letor/make-folds" mq2008 folds
fold=folds/Fold1
listwise data convert $fold/train.txt $fold/vali.txt $fold/test.txt --out pairs.csv >/dev/null
python3 "$here/index.py" pairs pairs.csv "$url/mq2008" mq2008 mq2008/all.csv
models mq2008 $fold/train.txt
search() { listwise auto --train $fold/train.txt --valid $fold/vali.txt --test $fold/test.txt --select ndcg@10 --measures ndcg@10 --trials 20 "$@" >/dev/null; }
search --for solr --out solr
search --out free
cp solr/model.json mq2008/auto.json
parity mq2008 auto
listwise compare --data $fold/test.txt --measure ndcg@10 auto-for-solr=solr/model.json auto=free/model.json

package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// fixture has the undamaged files, which the program itself writes.
type fixture struct {
	binary, dir string
	cpuLimit    time.Duration // of a run, in whole seconds
}

// recipe lists the commands that write the files of the fixture.
var recipe = []string{
	"data synth --queries 12 --docs 8 --relevant 3 --features 5 --out data.txt",
	"data synth --queries 6 --docs 8 --relevant 3 --features 5 --seed 2 --out vali.txt",
	"data convert data.txt --out data.txt.gz",
	"data convert data.txt --out data.txt.zst",
	"data convert data.txt --out data.lwd",
	"data fold data.txt --folds 3 --out folds",
	"train --method mle --train data.txt --normalize minmax --model linear.json",
	"train --method ranknet --scorer net --set hidden=2 --set epochs=3 --transform clip=1%:99%:1,2 --transform standard:2..5 --train data.txt --valid vali.txt --curve curve.jsonl --model net.json",
	"train --method listnet --scorer fm --set factors=2 --set epochs=3 --train data.txt --model fm.json",
	"train --method boltzrank2 --set hidden=2 --set epochs=2 --train data.txt --model pairnet.json",
	"train --method rankboost --set rounds=6 --train data.txt --model stumps.json",
	"train --method lambdamart --set trees=4 --set leaves=4 --set leaf_documents=5 --set categorical=1,2 --train data.txt --model trees.json",
	"clicks propensities exchanges.jsonl --out theta.json",
	"clicks simulate --data data.txt --model linear.json --order noise:0.5 --users 40 --pages 40 --top 2 --out shop.jsonl",
	"fuse --data data.txt --valid vali.txt --rule rrf --model fusion.json linear.json net.json stumps.json",
	"train --method mart --set trees=3 --set leaf_documents=5 --train data.txt --model mart.json --no-record",
	"export --model mart.json --to xgboost --out xgboost.json",
	"export --model mart.json --to xgboost-dump --out dump.json",
	"export --model mart.json --to catboost --out catboost.json",
	"export --model mart.json --to lightgbm --out lightgbm.txt",
	"export --model mart.json --to ranklib --out ranklib.txt",
	"export --model mart.json --to solr --out solr.json",
	"train --method mle --train data.txt --model plain.json --no-record",
	"export --model plain.json --to elasticsearch --out elastic.json",
	"clicks fit --model dbn pages.jsonl --out browse.json",
	"clicks simulate --data data.txt --model linear.json --pages 80 --top 4 --order noise:1 --out shown.jsonl",
	"clicks propensities shown.jsonl --method em --bootstrap 0 --out theta.json",
	"export --model plain.json --to solr --scores logistic --out layers.json",
	"data convert data.txt --out data.csv",
	"data convert data.txt --out data.jsonl",
	"data convert data.txt --out data.tsv.gz",
	"data convert data.txt --out data.parquet",
	"data convert weights.csv --query-weight query_weight --weight document_weight --out weights.parquet",
	"data shard data.txt --shards 3 --as .txt --out shards",
	"data shard data.txt --shards 2 --out cached",
	"eval --data shards --model linear.json --no-record --shard 0 --part parts/0.json",
	"eval --data shards --model linear.json --no-record --shard 1 --part parts/1.json",
	"eval --data shards --model linear.json --no-record --shard 2 --part parts/2.json",
	"score --model linear.json --data data.txt --out a.scores",
	"score --model stumps.json --data data.txt --out b.scores",
	"score --model linear.json --data data.txt --format run --out a.run",
	"score --model stumps.json --data data.txt --format run --top 5 --out b.run",
	"eval --data data.txt --model linear.json --per-query q.csv",
	"tune --method mle,rankboost --grid C=0.1,1 --grid rounds=3 --data folds --out tuned",
}

// models are the model files of the fixture, one for each kind of scorer.
var models = []string{"linear.json", "fm.json", "net.json", "pairnet.json", "stumps.json", "trees.json", "random.json", "fusion.json"}

// foreign are the model files of other systems whose names end as model files do.
var foreign = []string{"xgboost.json", "dump.json", "catboost.json", "solr.json", "layers.json", "elastic.json"}

// randomModel is a model file that no command writes.
const randomModel = `{
  "format": "listwise-model",
  "version": 1,
  "features": {
    "count": 5
  },
  "normalization": "none",
  "scorer": {
    "type": "random",
    "features": 5,
    "seed": 7
  }
}
`

// weighted is a table with weights, which no command writes.
const weighted = `query,grade,query_weight,document_weight,a,b
q1,1,2,1,0.5,1
q1,0,2,0.5,0.25,2
q1,2,2,3,1.5,3
q2,0,0.5,1,0.75,1.5
q2,1,0.5,0,1.25,2.5
q3,1,1,1e-3,2,0.5
q3,0,1,4,0.125,0.25
`

// answered is what Solr answers for the document of the table logged.
const (
	logged   = "query,doc,1,2,3,4,5\nq,a,1,1,1,1,1\n"
	answered = `{"response":{"docs":[{"id":"a","score":0.5,"[features]":"feature_1=1.0,feature_2=0.5"}]}}`
)

// kindsOfQueries assigns a group to each query.
const kindsOfQueries = "1\told\n2\tnew\n3\told\n4\t\n5\tnew\n"

// interleaved is a log of rankings of two models, and of one that was explored. clicked has clicks
// on them.
const (
	interleaved = `{"time":"2026-01-02T03:04:05Z","experiment":"mixed","kind":"interleave","user":"u1","query":"q","models":[{"model":"a","version":"1"},{"model":"b","version":"2"}],"ranking":[{"id":"d1","score":1.5,"team":0},{"id":"d2","score":2.5,"team":1}]}
{"time":"2026-01-02T03:04:06Z","experiment":"mixed","kind":"interleave","user":"u2","query":"q","models":[{"model":"a","version":"1"},{"model":"b","version":"2"}],"ranking":[{"id":"d1","score":1.5,"team":1},{"id":"d2","score":2.5,"team":0}]}
{"time":"2026-01-02T03:04:07Z","page":"0123456789abcdef","experiment":"x","kind":"explore","user":"u3","query":"q","models":[{"model":"a","version":"1"}],"swapped":[1,2],"swap":true,"ranking":[{"id":"d2","score":1.5,"team":0},{"id":"d1","score":2.5,"team":0}],"candidates":["d1","d2","d3"]}
`
	clicked = `{"user":"u1","query":"q","id":"d1","time":"2026-01-02T03:04:07Z"}
{"user":"u2","query":"q","id":"d1"}
{"page":"0123456789abcdef","id":"d1"}
`
)

// shuffled is a log of interleaved pages, divided is one of the arms of a split, and ordered has a column of its
// users.
const (
	shuffled = `{"time":"2026-01-02T03:04:05Z","user":"u1","query":"q","experiment":"mixed","arm":"a,b","docs":["x","y"],"clicks":[0,1],"team":[0,1]}
{"time":"2026-01-02T03:04:06Z","user":"u2","query":"q","experiment":"drawn","arm":"a,b","docs":["x","y"],"clicks":[1,0],"softmax":[[0.25,0.5],[1,0.125]]}
{"time":"2026-01-02T03:04:07Z","user":"u3","query":"q","experiment":"old","arm":"a,b","docs":["x","y"],"clicked":["y"],"balanced":[["x","y"],["y","x"]]}
`
	divided = `{"time":"2026-01-02T03:04:05Z","user":"u1","query":"q","experiment":"ab","arm":"a","docs":["x","y"],"clicks":[0,1]}
{"time":"2026-01-02T03:04:06Z","user":"u2","query":"q","experiment":"ab","arm":"b","docs":["x","y"],"clicks":[0,0]}
{"time":"2026-01-02T03:04:07Z","user":"u3","query":"q","experiment":"ab","arm":"a","docs":["x","y"],"clicks":[1,1]}
{"time":"2026-01-02T03:04:08Z","user":"u4","query":"q","experiment":"ab","arm":"b","docs":["x","y"],"clicks":[1,0]}
`
	ordered = "user,orders\nu1,3\nu2,0\nu3,1.5\nu4,-2\n"
)

// Pages of users with most members, in both kinds of text.
const (
	pages = `{"page":"p1","time":"2026-11-23T01:37:43Z","user":"u1","query":"red shoes","experiment":"ab","arm":"a","version":"1","docs":["b","a","c"],"slots":["1",2,"ad"],"clicks":[0,1,0],"order":[2],"team":[0,1,0],"propensity":0.5,"propensities":[0.5,1,1e-3]}
{"page":"p2","time":1763861863.5,"user":"u2","query":7,"docs":["a","b"],"clicked":["b","a","b"],"swapped":[1,2],"swap":true,"candidates":["a","b","c"],"orders":[[["a","b"],0.5],[["b","a"],0.5]],"weight":2}
{"page":"p3","query":"red shoes","docs":["a","b","c"],"clicks":[2,0,0],"pairs":1,"exchanged":[1],"shuffled":3}
`
	// exchanges tell propensities.
	exchanges = `{"query":"q","docs":["a","b"],"clicks":[1,0],"swapped":[1,2],"swap":false,"arm":"x","weight":40}
{"query":"q","docs":["a","b"],"clicks":[0,1],"swapped":[1,2],"swap":false,"arm":"y","weight":20}
{"query":"q","docs":["a","b"],"clicks":[0,0],"pairs":1,"exchanged":[],"arm":"x","weight":40}
{"query":"q","docs":["b","a"],"clicks":[1,0],"swapped":[1,2],"swap":true,"arm":"y","weight":40}
{"query":"q","docs":["b","a"],"clicks":[0,1],"pairs":1,"exchanged":[1],"arm":"x","weight":20}
{"query":"q","docs":["b","a"],"clicks":[0,1],"swapped":[1,2],"swap":true,"shuffled":2,"arm":"y","weight":40}
`
	pagesTable = `page,rank,query,docs,clicks,slots,orders
q1,1,q,a,1,1,"[[[""a"",""b""],1]]"
q1,2,q,b,0,2,"[[[""a"",""b""],1]]"
,1,"q, r",b,1,1,
,2,"q, r",c,0,2,
`
)

// Logs of User Behavior Insights and of metarank, and the examination of the user browsing model.
const (
	ubiQueries = `{"query_id":"1","query_response_id":"r1","client_id":"c","user_query":"shoes","timestamp":"2026-01-02T10:00:00.000+0000","query_response_hit_ids":["a","b"]}
{"_source":{"query_id":"2","client_id":"d","user_query":"hats","timestamp":1767348000000,"query_response_object_ids":["a",7]}}
`
	ubiEvents = `{"action_name":"click","query_id":"1","timestamp":"2026-01-02T10:00:09Z","event_attributes":{"object":{"object_id":"b"},"position":{"ordinal":2}}}
{"index":{}}
{"action_name":"click","query_id":"2","timestamp":"2026-01-02T10:00:09Z","event_attributes":{"position":{"ordinal":{"index":2}}}}
`
	metarankEvents = `{"event":"ranking","id":"1","timestamp":"1767348000000","user":"u","fields":[{"name":"query","value":"cat"}],"items":[{"id":"c"},{"id":"a"}]}
{"event":"interaction","id":"2","ranking":"1","timestamp":"2026-01-02T10:00:09Z","type":"click","item":"a"}
`
	browsing = "[[1], [0.7, 0.9], [0.5, 0.6, 0.8]]\n"
)

// extractors compute the features of mart.json.
const extractors = `[
  {"query_extractor": {"feature_name": "feature_1", "query": {"match": {"title": "{{query}}"}}, "default_score": 0.5}},
  {"query_extractor": {"feature_name": "feature_2", "query": {"match": {"body": "{{query}}"}}}},
  {"query_extractor": {"feature_name": "feature_3", "query": {"exists": {"field": "ctr"}}}},
  {"query_extractor": {"feature_name": "feature_4", "query": {"match_all": {}}}},
  {"query_extractor": {"feature_name": "feature_5", "query": {"match_all": {}}}}
]
`

// checkpointed is the command line of a training that is interrupted to get a checkpoint.
const checkpointed = "train --method expgain --set restarts=1000 --train data.txt --model from.json --checkpoint run.ckpt --no-record"

func newFixture(binary, dir string) (*fixture, error) {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return nil, err
	}
	f := &fixture{binary: binary, dir: dir, cpuLimit: 2 * time.Second}
	if err := os.MkdirAll(filepath.Join(dir, "parts"), 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "random.json"), []byte(randomModel), 0o600); err != nil {
		return nil, err
	}
	for name, text := range map[string]string{
		"weights.csv":     weighted,
		"log.jsonl":       interleaved,
		"logged.csv":      logged,
		"answers.json":    answered,
		"clicks.jsonl":    clicked,
		"queries.json":    extractors,
		"pages.jsonl":     pages,
		"pages.csv":       pagesTable,
		"queries.ndjson":  ubiQueries,
		"events.ndjson":   ubiEvents,
		"metarank.jsonl":  metarankEvents,
		"gamma.json":      browsing,
		"mixed.jsonl":     shuffled,
		"ab.jsonl":        divided,
		"users.csv":       ordered,
		"exchanges.jsonl": exchanges,
	} {
		if err := create(name, text)(dir); err != nil {
			return nil, err
		}
	}
	if err := create("kinds.tsv", kindsOfQueries)(dir); err != nil {
		return nil, err
	}
	for _, line := range recipe {
		if r := f.run(dir, nil, words(line)...); r.code != 0 {
			return nil, fmt.Errorf("making the unharmed files: listwise %s: %s", line, strings.TrimSpace(r.stderr))
		}
	}
	if err := f.judge(); err != nil {
		return nil, err
	}
	return f, f.interruptTraining()
}

// judge writes the grades of data.txt in forms that no command writes: as TREC's judgements a.qrels, compressed as
// a.qrels.gz, and as the judgement list a.csv. It writes the features as the answers of a search engine, answers.jsonl.
func (f *fixture) judge() error {
	text, err := os.ReadFile(filepath.Join(f.dir, "data.txt"))
	if err != nil {
		return err
	}
	var b, list, answers strings.Builder
	list.WriteString("query,docid,rating\n")
	before := ""
	for line := range strings.Lines(string(text)) {
		fields, last := words(line), strings.LastIndexByte(line, ' ')
		query, doc := strings.TrimPrefix(fields[1], "qid:"), strings.TrimSpace(line[last:])
		fmt.Fprintf(&b, "%s 0 %s %s\n", query, doc, fields[0])
		fmt.Fprintf(&list, "%s,%s,%s\n", query, doc, fields[0])
		if query != before && before != "" {
			answers.WriteString("]}}\n")
		}
		if query != before {
			fmt.Fprintf(&answers, `{"responseHeader":{"params":{"q":%q}},"response":{"docs":[`, query)
		} else {
			answers.WriteByte(',')
		}
		before = query
		features := strings.Fields(line[:strings.IndexByte(line, '#')])[2:]
		fmt.Fprintf(&answers, `{"id":%q,"[features]":"f%s"}`, doc, strings.ReplaceAll(strings.Join(features, ",f"), ":", "="))
	}
	answers.WriteString("]}}\n")
	for name, text := range map[string]string{"a.qrels": b.String(), "a.csv": list.String(), "answers.jsonl": answers.String()} {
		if err := os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{"a.qrels.gz": b.String(), "pages.jsonl.gz": pages} {
		var zipped bytes.Buffer
		z := gzip.NewWriter(&zipped)
		if _, err := z.Write([]byte(text)); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(f.dir, name), zipped.Bytes(), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// interruptTraining interrupts trainings until one leaves a checkpoint, run.ckpt.
func (f *fixture) interruptTraining() error {
	path := filepath.Join(f.dir, "run.ckpt")
	for attempt := range 50 {
		f.run(f.dir, func(p *os.Process) {
			time.Sleep(time.Duration(20+5*attempt) * time.Millisecond)
			_ = p.Signal(os.Interrupt)
		}, words(checkpointed)...)
		if _, err := os.Stat(path); err == nil {
			return os.RemoveAll(filepath.Join(f.dir, "from.json"))
		}
	}
	return fmt.Errorf("making the unharmed files: %s leaves no checkpoint when it is interrupted", checkpointed)
}

// expect runs a command on the undamaged files, in a separate folder, and returns its standard
// output.
func (f *fixture) expect(files []string, args ...string) (stdout string) {
	f.undisturbed(files, args, func(_ string, r *Result) {
		if r.code != 0 {
			panic(fmt.Sprintf("%s fails on unharmed files: %s", shown(args), r.stderr))
		}
		stdout = r.stdout
	})
	return stdout
}

// made returns the content of a file that a command writes when nothing disturbs it.
func (f *fixture) made(files []string, name string, args ...string) (text []byte) {
	f.undisturbed(files, args, func(dir string, r *Result) {
		var err error
		if text, err = os.ReadFile(filepath.Join(dir, name)); err != nil {
			panic(fmt.Sprintf("%s writes no %s: %s", shown(args), name, r.stderr))
		}
	})
	return text
}

// undisturbed runs a command in a folder with copies of files, and calls look with the folder and
// the result.
func (f *fixture) undisturbed(files, args []string, look func(dir string, r *Result)) {
	dir, err := os.MkdirTemp(filepath.Dir(f.dir), "undisturbed")
	if err != nil {
		panic(err) // the folder for temporary files was there before
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a leftover in the folder for such
	if err := f.prepare(Case{Files: files}, dir); err != nil {
		panic(err) // a mistake in a case
	}
	look(dir, f.run(dir, nil, args...))
}

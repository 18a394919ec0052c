package app

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/engine/enginetest"
	"github.com/listwise/listwise/internal/testing/long"
)

// slowExamples take minutes. They are stopped after seconds: that they were at work
// then shows that what they were called with fits.
var slowExamples = []string{"listwise auto --data", "listwise reproduce lambdarank-artificial", "listwise reproduce all", "listwise reproduce logrank-fig"}

// longExamples are run to their end with the long tests, and stopped otherwise.
var longExamples = []string{"listwise bench", "listwise demo", "listwise tune --method lambdamart"}

// endlessExamples go on until they are stopped. They get a free port, and end well.
var endlessExamples = []string{"listwise serve"}

// Every example of every command's help works, in a folder that has the files it names.
func TestExamples(t *testing.T) {
	long.Test(t)
	template := t.TempDir()
	t.Chdir(template)
	prepareExamples(t)
	for _, cmd := range allCommands(newRoot(&environment{})) {
		for line := range strings.Lines(cmd.Example) {
			t.Run(strings.TrimSpace(line), func(t *testing.T) {
				dir := t.TempDir()
				mustLink(t, dir, template)
				t.Chdir(dir)
				runExample(t, strings.TrimSpace(line))
			})
		}
	}
}

func allCommands(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, c := range cmd.Commands() {
		all = append(all, allCommands(c)...)
	}
	return all
}

// runExample runs a line of an Example: a command, with zcat before it and a file to
// write to behind it, if need be.
func runExample(t *testing.T, line string) {
	t.Helper()
	isOf := func(starts []string) bool {
		return slices.ContainsFunc(starts, func(start string) bool { return strings.HasPrefix(line, start) })
	}
	ctx, limit := context.Background(), 2*time.Second
	slow := isOf(slowExamples)
	if !long.Enabled() {
		slow, limit = slow || isOf(longExamples), time.Second/2
	}
	if testing.Short() && slow {
		t.Skip("takes seconds")
	}
	if isOf(endlessExamples) {
		line += " --addr 127.0.0.1:0"
		var stop func()
		ctx, stop = context.WithTimeout(ctx, time.Second/2)
		defer stop()
	}
	if strings.HasPrefix(line, "listwise engine") {
		line = withStandIn(t, line)
	}
	if slow {
		var stop func()
		ctx, stop = context.WithTimeout(ctx, limit)
		defer stop()
	}
	command, stdin := line, ""
	if source, rest, ok := strings.Cut(line, " | "); ok {
		path, isZcat := strings.CutPrefix(source, "zcat ")
		if !isZcat {
			t.Fatalf("found %q, expected zcat FILE", source)
		}
		command, stdin = rest, unzipped(t, path)
	}
	command, _, _ = strings.Cut(command, " > ")
	words := strings.Fields(command)
	if words[0] != "listwise" {
		t.Fatalf("found the command %q", words[0])
	}
	var out, errs bytes.Buffer
	code := Run(ctx, words[1:], strings.NewReader(stdin), &out, &errs)
	if slow && ctx.Err() != nil && strings.HasSuffix(errs.String(), interrupted+"\n") {
		return
	}
	if code != exitDone {
		t.Errorf("exits with %d: %s", code, errs.String())
	}
}

// withStandIn starts stand-ins for the search engines of an example, and puts their addresses there.
func withStandIn(t *testing.T, line string) string {
	t.Helper()
	solr, plugin := enginetest.Solr(), enginetest.Plugin()
	t.Cleanup(solr.Close)
	t.Cleanup(plugin.Close)
	var features []string
	for i := range 5 {
		features = append(features, fmt.Sprintf(`{"name":"feature_%d","params":{}}`, i+1))
	}
	solr.Stores["shop"] = "[" + strings.Join(features, ",") + "]"
	plugin.Stores["shop"] = strings.ReplaceAll(solr.Stores["shop"], "{}", "[]")
	if strings.Contains(line, " check ") || strings.Contains(line, " engine log ") {
		answer, err := os.ReadFile("answers.json")
		if err != nil {
			t.Fatal(err)
		}
		solr.Answer = string(answer)
		solr.Models["shop"] = []byte(`{"name":"shop","store":"shop"}`)
		plugin.Answer = `{"hits":{"hits":[{"_id":"a","_score":1,"fields":{"_ltrlog":[{"features":[{"name":"feature_1","value":1}]}]}}]}}`
	}
	return strings.NewReplacer("http://localhost:8983/solr/products", solr.URL, "http://localhost:9200", plugin.URL).Replace(line)
}

func unzipped(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(filepath.Clean(path))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// prepareExamples makes the files that examples name: data, folds, models, scores, what
// tune leaves, and a record of 16 runs.
func prepareExamples(t *testing.T) {
	t.Helper()
	synth := func(seed, queries int, out string) {
		mustCall(t, "data", "synth", "--seed", strconv.Itoa(seed), "--queries", strconv.Itoa(queries), "--docs", "10", "--relevant", "4", "--features", "5", "--out", out)
	}
	synth(1, 15, "all.txt.gz")
	for i, name := range []string{"train.txt", "train.txt.gz", "train.lwd", "vali.txt", "test.txt", "raw.txt", "new.txt.gz"} {
		synth(i, 6, name)
	}
	mustWrite(t, "clicks.csv", "session,rating,brand,bm25\na,1,acme,0.5\na,0,other,0.25\n")
	for i, day := range []string{"monday", "tuesday"} {
		mustWrite(t, day+".csv", fmt.Sprintf("page,rank,query,docs,clicks\n%s1,1,shoes,a,1\n%s1,2,shoes,b,0\n%s2,1,shoes,b,%d\n%s2,2,shoes,a,1\n", day, day, day, i, day))
	}
	mustWrite(t, "experiments.jsonl", `{"kind":"interleave","experiment":"mixed","user":"u","query":"q","models":[{"model":"a"},{"model":"b"}],"ranking":[{"id":"d1","team":1}]}`+"\n")
	mustWrite(t, "clicks.jsonl", `{"user":"u","query":"q","id":"d1"}`+"\n")
	mustWrite(t, "ubi_queries.ndjson", `{"query_id":"1","user_query":"shoes","query_response_hit_ids":["d1"]}`+"\n")
	mustWrite(t, "ubi_events.ndjson", `{"action_name":"click","query_id":"1","event_attributes":{"object":{"object_id":"d1"}}}`+"\n")
	mustWrite(t, "events.jsonl", `{"event":"ranking","id":"1","fields":[{"name":"query","value":"cat"}],"items":[{"id":"c"}]}`+"\n")
	var mixed, split, users strings.Builder
	users.WriteString("user,orders\n")
	for i := range 20 {
		const page = `{"time":"2026-01-01T00:00:%02dZ","user":"u%d","query":"q","docs":["a","b"],"clicks":[0,%d],"experiment":%q,"arm":%q%s}` + "\n"
		fmt.Fprintf(&mixed, page, i, i, i%2, "mixed", "web@1,web@2", `,"team":[0,1]`)
		fmt.Fprintf(&split, page, i, i, i%3, "ab", []string{"web@1", "web@2"}[i/15], "")
		fmt.Fprintf(&users, "u%d,%d\n", i, i%4)
	}
	mustWrite(t, "mixed.jsonl", mixed.String())
	mustWrite(t, "ab.jsonl", split.String())
	mustWrite(t, "users.csv", users.String())
	mustCall(t, "data", "convert", "all.txt.gz", "--out", "shop.csv")
	mustCall(t, "data", "fold", "all.txt.gz", "--folds", "3", "--out", "OHSUMED")
	synth(2, 300, "more.txt.gz")
	mustCall(t, "data", "fold", "more.txt.gz", "--folds", "3", "--out", "MQ2008")
	for _, dir := range []string{"LETOR3/OHSUMED", "SETS/OHSUMED"} {
		mustCopy(t, dir, "OHSUMED")
	}
	mustCopy(t, "Fold1", "OHSUMED/Fold1")
	all, err := os.ReadFile("OHSUMED/Fold1/test.txt")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 { // parts of one data set share no query
		text := strings.ReplaceAll(string(all), "qid:", fmt.Sprintf("qid:%d00", i+1))
		mustWrite(t, fmt.Sprintf("S%d.txt", i+1), text)
		mustCall(t, "data", "convert", fmt.Sprintf("S%d.txt", i+1), "--out", fmt.Sprintf("S%d.txt.gz", i+1))
	}
	methods := []string{"mle", "regression"}
	for i, name := range []string{"m", "a", "b", "c", "r", "run6", "run7", "run8", "run9", "run10", "run11", "run12", "run13", "run14"} {
		mustCall(t, "train", "--method", methods[i%2], "--train", "train.txt", "--model", name+".json", "--curve", name+".curve")
	}
	for _, set := range []string{"OHSUMED", "MQ2008"} { // runs 15 and 16
		mustCall(t, "tune", "--method", "mle,regression", "--grid", "C=1", "--data", set, "--out", "tuned/"+strings.ToLower(set))
	}
	mustCall(t, "tune", "--method", "mle,regression", "--grid", "C=1", "--data", "OHSUMED", "--seeds", "1,2", "--out", "runs/repeated")
	mustCall(t, "auto", "--data", "OHSUMED", "--trials", "2", "--out", "runs/auto")
	mustCall(t, "train", "--method", "ranknet", "--train", "OHSUMED/Fold1/train.txt", "--model", "ranknet.json")
	mustCall(t, "eval", "--data", "OHSUMED/Fold1/test.txt", "--model", "ranknet.json")
	mustWrite(t, "curve.svg", "<svg/>")
	ownResults(t, "OHSUMED", "runs/own")
	mustWrite(t, "main.go", "package main\n\nfunc main() {}\n")
	mustWrite(t, "go.mod", "module paper\n")
	for i, name := range []string{"pages.jsonl.gz", "held.jsonl.gz", "monday.csv", "tuesday.csv"} {
		mustCall(t, "clicks", "simulate", "--data", "train.txt", "--model", "m.json", "--order", "shuffle", "--from", strconv.Itoa(300*i), "--pages", "300", "--users", "50", "--out", name)
	}
	mustCall(t, "clicks", "propensities", "pages.jsonl.gz", "--method", "em", "--bootstrap", "0", "--out", "theta.json")
	mustCall(t, "data", "convert", "train.txt", "--out", "products.csv")
	mustCall(t, "clicks", "simulate", "--data", "train.txt", "--model", "m.json", "--order", "noise:1", "--pages", "3000", "--users", "300", "--out", "noise.jsonl.gz")
	mustCall(t, "train", "--no-record", "--method", "mle", "--train", "train.txt", "--model", "old.json")
	mustCall(t, "train", "--no-record", "--method", "regression", "--train", "train.txt", "--model", "new.json")
	for _, name := range []string{"a", "b", "c", "test"} {
		mustCall(t, "score", "--model", "m.json", "--data", "test.txt", "--out", name+".scores")
	}
	mustWrite(t, "secret.txt", "me:secret\n")
	mustWrite(t, "request.json", `{"q":"{query}"}`)
	mustWrite(t, "body.json", `{"query":{"match":{"title":"{query}"}}}`)
	var extractors []string
	for i := range 5 {
		extractors = append(extractors, fmt.Sprintf(`{"query_extractor":{"feature_name":"feature_%d","query":{"match_all":{}}}}`, i+1))
	}
	mustWrite(t, "queries.json", "["+strings.Join(extractors, ",")+"]")
	mustWrite(t, "logged.csv", "query,doc,1,2,3,4,5\nshoes,a,1,1,1,1,1\n")
	mustWrite(t, "answers.json", fmt.Sprintf(`{"response":{"docs":[{"id":"a","score":%s,"[features]":"feature_1=1.0"}]}}`,
		strings.TrimSpace(mustCall(t, "score", "--model", "m.json", "--data", "logged.csv"))))
	mustWrite(t, "features.txt", "0 qid:1 1:1 # docid = a\n0 qid:1 1:2 # docid = z\n")
	mustWrite(t, "features.csv", "query,doc,title\nred shoes,a,1\nred shoes,b,2\n")
	mustWrite(t, "quepid.csv", "query,docid,rating\nred shoes,a,3\n")
	mustWrite(t, "answers.jsonl", `{"query":"red shoes","response":{"docs":[{"id":"a","[features]":"title=2.5"},{"id":"b","[features]":"title=1.0"}]}}`+"\n")
	for i := range 2 {
		mustWrite(t, fmt.Sprintf("page%d.json", i+1), fmt.Sprintf(`{"hits":{"hits":[{"_id":"%c","matched_queries":{"title":%d}}]}}`, 'a'+i, i))
	}
	mustWrite(t, "queries.txt", "1\n1\n")
	mustWrite(t, "judged.qrels", "1 0 a 1\n1 0 b 0\n2 0 a 2\n")
	for i, system := range []string{"bm25", "dense"} {
		mustWrite(t, system+".run", fmt.Sprintf("1 Q0 a 1 %d %s\n1 Q0 b 2 1 %s\n2 Q0 c 1 3 %s\n", 2*i, system, system, system))
	}
	prepareShards(t)
	mustCall(t, "train", "--no-record", "--method", "lambdamart", "--set", "trees=3", "--train", "train.txt", "--model", "trees.json")
	mustCall(t, "export", "--model", "trees.json", "--to", "lightgbm", "--out", "lightgbm.txt")
	mustCall(t, "export", "--model", "trees.json", "--to", "ranklib", "--out", "ranklib.txt")
	for i, system := range []string{"mle", "ranknet", "listnet", "lambdarank", "coordascent"} {
		for k := range 3 {
			fold := fmt.Sprintf("Fold%d", k+1)
			mustWrite(t, filepath.Join("runs", system, "x"), "")
			mustCall(t, "train", "--no-record", "--method", methods[i%2], "--train", filepath.Join("OHSUMED", fold, "train.txt"), "--model", filepath.Join("runs", system, fold+".model.json"))
		}
	}
	for _, name := range []string{"r1", "r2", "r3", "hidden/hidden=5.seed1/Fold1", "hidden/hidden=5.seed2/Fold1", "hidden/hidden=40.seed1/Fold1"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		mustCall(t, "train", "--no-record", "--method", "ranknet", "--set", "epochs=2", "--train", "train.txt", "--valid", "vali.txt", "--model", "net.json", "--curve", name+".curve")
	}
	for _, system := range []string{"seeds/ranknet/seed-1", "seeds/ranknet/seed-2", "seeds/listnet/seed-1", "runs/MQ2008/mle", "runs/MQ2008/listnet",
		"runs/OHSUMED/mle", "runs/OHSUMED/listnet", "runs/mq/mle", "runs/mq/net", "runs/oh/mle", "runs/oh/net"} {
		mustCopy(t, system, "runs/"+map[bool]string{true: "mle", false: "listnet"}[filepath.Base(system) == "mle"])
	}
	for seed := range 5 {
		mustCopy(t, fmt.Sprintf("runs/%d/mle", seed+1), "runs/mle")
		mustCopy(t, fmt.Sprintf("runs/%d/lambdarank", seed+1), "runs/lambdarank")
	}
}

// prepareShards makes the folders of shards that examples name, and parts of an evaluation.
func prepareShards(t *testing.T) {
	t.Helper()
	mustCall(t, "data", "shard", "test.txt", "--shards", "4", "--out", "test-shards")
	for _, dir := range []string{"days", "scores", "parts"} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	mustCall(t, "data", "convert", "S1.txt", "--out", "days/mon.parquet")
	mustCall(t, "data", "convert", "S2.txt", "--out", "days/tue.parquet")
	for i := range 4 {
		mustCall(t, "eval", "--data", "test-shards", "--model", "m.json", "--shard", strconv.Itoa(i), "--part", fmt.Sprintf("parts/%d.json", i))
	}
}

func mustCopy(t *testing.T, to, from string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// mustLink copies a folder by hard links. No command changes a file in place.
func mustLink(t *testing.T, to, from string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(from), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, path), 0o777)
		}
		return os.Link(filepath.Join(from, path), filepath.Join(to, path))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func mustWrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

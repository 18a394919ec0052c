package job_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/memfs"

	"github.com/listwise/listwise/beam/job"
	"github.com/listwise/listwise/dataset/shards"
	"github.com/listwise/listwise/model"
)

// trainingChild, in the environment, is the folder of data over which this program trains in place of the tests.
const trainingChild = "LISTWISE_BEAM_TRAINING_CHILD"

// training is a job over the shards in the folder of data that prepare makes.
func training(dir, out string) job.Job {
	return job.Job{Command: "train", Data: filepath.Join(dir, "test"), Out: out, Experimental: true, Args: []string{"--method", "mle", "--set", "C=100"}}
}

func load(t *testing.T, path string) *model.Model {
	t.Helper()
	m, err := model.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestTrain: the objective of a training over shards is that of the command on all data, within the certified gap, for a
// loss without and with samples, per-query normalization, views and grades whose threshold no shard alone may know; the
// command reads the model; from the average and from 0 the minimum is the same.
func TestTrain(t *testing.T) {
	dir := prepare(t)
	for name, args := range map[string][]string{
		"mle":        {"--method", "mle", "--set", "C=100"},
		"ranknet":    {"--method", "ranknet", "--normalize", "minmax", "--views", "raw,rank"},
		"convexloss": {"--method", "convexloss", "--measure", "ndcg@5", "--set", "form=sampled", "--set", "C=10", "--seed", "3"},
		"listnet":    {"--method", "listnet", "--set", "C=1", "--threshold", "2"},
	} {
		one := filepath.Join(dir, name+".json")
		listwise(t, append([]string{"train", "--no-record", "--train", filepath.Join(dir, "test.txt"), "--model", one}, args...)...)
		want := load(t, one)
		for _, start := range []string{"average", "zero"} {
			j := training(dir, filepath.Join(dir, name+start))
			j.Start, j.Args = start, args
			if err := run(t, j); err != nil {
				t.Fatal(err)
			}
			got := load(t, filepath.Join(j.Out, job.ModelFile))
			a, b := got.Training, want.Training
			if math.Abs(a.Objective-b.Objective) > 1e-6*math.Abs(b.Objective) || a.Gap == nil || *a.Gap > 1e-6*math.Max(1, math.Abs(a.Objective)) {
				t.Errorf("%s from %s: found the objective %v, expected %v within 1e-6, and a gap", name, start, a.Objective, b.Objective)
			}
			if d := a.Divided; d == nil || d.Parts != 16 || d.Start != start || d.Rounds != a.Evaluations+1 {
				t.Errorf("%s from %s: found the record %+v of 16 shards and %d evaluations", name, start, d, a.Evaluations)
			}
			sameButForTheCourse(t, name, got, want)
			if n := bytes.Count(listwise(t, "score", "--model", filepath.Join(j.Out, job.ModelFile), "--data", j.Data), []byte("\n")); n != b.Documents {
				t.Errorf("%s: found %d scores, expected %d", name, n, b.Documents)
			}
		}
	}
}

// sameButForTheCourse checks that two models say the same of the data and of what was learned by.
func sameButForTheCourse(t *testing.T, name string, got, want *model.Model) {
	t.Helper()
	plain := func(m *model.Model) string {
		p := *m
		p.Params = make([]float64, len(p.Params))
		p.Training = model.Training{Queries: m.Training.Queries, Documents: m.Training.Documents, Used: m.Training.Used, Seen: m.Training.Seen, Status: m.Training.Status}
		var b bytes.Buffer
		if err := p.Write(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if a, b := plain(got), plain(want); a != b {
		t.Errorf("%s: the model says\n%s\nexpected\n%s", name, a, b)
	}
}

// TestTrainSameBytes: the model has the same bytes for any number of cores, from a store, in a rerun, which does nothing again,
// and after damage to the results of a round, which alone are made again.
func TestTrainSameBytes(t *testing.T) {
	dir := prepare(t)
	j := training(dir, filepath.Join(dir, "first"))
	if err := run(t, j); err != nil {
		t.Fatal(err)
	}
	want := read(t, filepath.Join(j.Out, job.ModelFile))
	cores := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(cores)
	for _, n := range []int{1, 7} {
		runtime.GOMAXPROCS(n)
		other := training(dir, filepath.Join(dir, fmt.Sprint("cores", n)))
		if err := run(t, other); err != nil {
			t.Fatal(err)
		}
		sameBytes(t, fmt.Sprint(n, " cores"), read(t, filepath.Join(other.Out, job.ModelFile)), want)
	}
	runtime.GOMAXPROCS(cores)
	rounds, err := filepath.Glob(filepath.Join(j.Out, "rounds", "round-*.json"))
	if err != nil || len(rounds) < 5 {
		t.Fatalf("found %d rounds (%v), expected several", len(rounds), err)
	}
	damaged := read(t, rounds[2])
	if err := os.WriteFile(rounds[2], bytes.Replace(damaged, []byte("A"), []byte("B"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	before := times(t, rounds)
	if err := run(t, j); err != nil {
		t.Fatal(err)
	}
	sameBytes(t, "a rerun", read(t, filepath.Join(j.Out, job.ModelFile)), want)
	sameBytes(t, "a round that was damaged", read(t, rounds[2]), damaged)
	for i, at := range times(t, rounds) {
		if again := !at.Equal(before[i]); again != (i == 2) {
			t.Errorf("round %d was done again: %v", i+1, again)
		}
	}
	for _, name := range append([]string{shards.FileName}, shardNames()...) {
		memfs.Write("memfs://data/"+name, read(t, filepath.Join(j.Data, name)))
	}
	store := j
	store.Data, store.Out = "memfs://data", "memfs://trained"
	if err := run(t, store); err != nil {
		t.Fatal(err)
	}
	r, err := memfs.New(t.Context()).OpenRead(t.Context(), "memfs://trained/"+job.ModelFile)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	sameBytes(t, "a store", text, want)
}

func shardNames() (names []string) {
	for i := range 16 {
		names = append(names, fmt.Sprintf("part-%05d.txt", i))
	}
	return names
}

func times(t *testing.T, files []string) (all []time.Time) {
	t.Helper()
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, info.ModTime())
	}
	return all
}

// TestTrainKilled kills the process of a training, workers and driver, between rounds: there are neither a model nor a
// manifest; a rerun leaves alone what was done, and comes to the bytes of a training that was not killed.
func TestTrainKilled(t *testing.T) {
	dir := prepare(t)
	whole, killed := training(dir, filepath.Join(dir, "whole")), training(dir, filepath.Join(dir, "killed"))
	if err := run(t, whole); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), trainingChild+"="+dir)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	third := filepath.Join(killed.Out, "rounds", "round-00003.json")
	for begun := time.Now(); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(third); err == nil {
			break
		}
		if time.Since(begun) > time.Minute {
			t.Fatal("found no third round after a minute")
		}
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err == nil || c.ProcessState.Exited() {
		t.Fatalf("ended by itself: %v", err)
	}
	for _, name := range []string{job.ModelFile, job.ResultsFile} {
		if _, err := os.Stat(filepath.Join(killed.Out, name)); !os.IsNotExist(err) {
			t.Fatalf("there is %s of a training that was killed (%v)", name, err)
		}
	}
	before := times(t, []string{third, filepath.Join(killed.Out, "part-00004.json")})
	if err := run(t, killed); err != nil {
		t.Fatal(err)
	}
	if after := times(t, []string{third, filepath.Join(killed.Out, "part-00004.json")}); after[0] != before[0] || after[1] != before[1] {
		t.Error("what was done before was done again")
	}
	sameBytes(t, "after a rerun", read(t, filepath.Join(killed.Out, job.ModelFile)), read(t, filepath.Join(whole.Out, job.ModelFile)))
	var manifest struct {
		Command string
		Parts   []struct{ Name, SHA256 string }
	}
	if err := json.Unmarshal(read(t, filepath.Join(killed.Out, job.ResultsFile)), &manifest); err != nil {
		t.Fatal(err)
	}
	_, sum, err := shards.Checksum(filepath.Join(killed.Out, job.ModelFile))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(manifest.Parts); n != 17 || manifest.Parts[16].Name != job.ModelFile || manifest.Parts[16].SHA256 != sum {
		t.Errorf("found %d parts in the manifest, expected 16 and the model with its checksum", n)
	}
}

// TestTrainCorruptShard: a shard that is not what the manifest says fails the first round or, if the first stands, another one, with
// its name once; there are neither a model nor a manifest.
func TestTrainCorruptShard(t *testing.T) {
	dir := prepare(t)
	j := training(dir, filepath.Join(dir, "out"))
	shard := filepath.Join(j.Data, "part-00005.txt")
	good := read(t, shard)
	fails := func() {
		t.Helper()
		if err := os.WriteFile(shard, append(good, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
		err := run(t, j)
		if err == nil || strings.Count(err.Error(), "part-00005.txt: found") != 1 {
			t.Fatalf("found %v, expected an error that names the shard once", err)
		}
		for _, name := range []string{job.ModelFile, job.ResultsFile} {
			if _, err := os.Stat(filepath.Join(j.Out, name)); !os.IsNotExist(err) {
				t.Fatalf("there is %s of a training that failed (%v)", name, err)
			}
		}
		if err := os.WriteFile(shard, good, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fails()
	if err := run(t, j); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.RemoveAll(filepath.Join(j.Out, "rounds")), os.Remove(filepath.Join(j.Out, job.ModelFile))); err != nil {
		t.Fatal(err)
	}
	fails()
}

// TestTrainRefuses: what cannot be divided is refused before anything is written.
func TestTrainRefuses(t *testing.T) {
	dir := prepare(t)
	for _, c := range []struct{ args, want string }{
		{"", "expected --method"},
		{"--method nothing", `method "nothing": expected one of`},
		{"--method mle --set C=2 --set C=3", "each name once"},
		{"--method mle --valid v.txt", "flag provided but not defined: -valid, expected of the flags"},
		{"--method mle more", `found the argument "more"`},
		{"--method lambdarank", "lambdarank: found the learner"},
		{"--method lambdamart", "lambdamart: found the learner"},
		{"--method ranksvm", "ranksvm: found the learner"},
		{"--method ranksvm --set optimizer=lbfgs --set hinge=l1", "which is not smooth"},
		{"--method ranksvm --set optimizer=lbfgs --set c_scale=svmrank", "depends on the number of queries"},
		{"--method svmmap --set optimizer=lbfgs", "which is not smooth"},
		{"--method mle --scorer net --set optimizer=lbfgs", "a scorer that is not linear"},
		{"--method mle --transform standard", "found the transform standard"},
		{"--method mle --missing mean", "found the transform fill=mean"},
		{"--method regression", "found the learner"},
	} {
		j := training(dir, filepath.Join(dir, "none"))
		j.Args = strings.Fields(c.args)
		if err := run(t, j); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: found %v, expected an error with %q", c.args, err, c.want)
		}
		if _, err := os.Stat(j.Out); !os.IsNotExist(err) {
			t.Errorf("%s: something was written (%v)", c.args, err)
		}
	}
}

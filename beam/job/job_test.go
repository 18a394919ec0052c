package job_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/memfs"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"github.com/listwise/listwise/app"
	"github.com/listwise/listwise/beam/job"
	"github.com/listwise/listwise/dataset/shards"
)

// child, in the environment, is the folder of a job that this program runs in place of the tests.
const child = "LISTWISE_BEAM_CHILD"

func TestMain(m *testing.M) {
	flag.Parse()
	beam.Init()
	filesystem.Register("stall", func(context.Context) filesystem.Interface { return stalling{} })
	if dir := os.Getenv(trainingChild); dir != "" {
		err := job.Run(context.Background(), training(dir, filepath.Join(dir, "killed")), beamx.Run)
		fmt.Fprintln(os.Stderr, "ended:", err)
		os.Exit(1)
	}
	if dir := os.Getenv(child); dir != "" {
		err := job.Run(context.Background(), job.Job{Command: "score", Data: "stall://" + filepath.Join(dir, "test"), Model: filepath.Join(dir, "m.json"), Out: filepath.Join(dir, "out")}, beamx.Run)
		fmt.Fprintln(os.Stderr, "ended:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// stalling is a filesystem of local files in which reading shard 8 takes for ever.
type stalling struct{}

func (stalling) Close() error { return nil }

func (stalling) List(context.Context, string) ([]string, error) { return nil, errors.ErrUnsupported }

func (stalling) OpenRead(ctx context.Context, name string) (io.ReadCloser, error) {
	if strings.Contains(name, "part-00008") {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return os.Open(strings.TrimPrefix(name, "stall://"))
}

func (stalling) OpenWrite(context.Context, string) (io.WriteCloser, error) {
	return nil, errors.ErrUnsupported
}

func (stalling) Size(context.Context, string) (int64, error) { return 0, errors.ErrUnsupported }

// listwise runs a command line of the program, which must do well.
func listwise(t *testing.T, args ...string) []byte {
	t.Helper()
	var out, errs bytes.Buffer
	if code := app.Run(t.Context(), append(args, "--quiet"), strings.NewReader(""), &out, &errs); code != 0 {
		t.Fatalf("listwise %s: %s", strings.Join(args, " "), errs.String())
	}
	return out.Bytes()
}

// prepare makes data in 16 shards, a model, folds, and what the command line makes of them.
func prepare(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	listwise(t, "data", "synth", "--shape", "mq2008", "--queries", "50", "--docs", "9", "--features", "8", "--out", at("test.txt"))
	listwise(t, "data", "shard", at("test.txt"), "--shards", "16", "--as", ".txt", "--out", at("test"))
	listwise(t, "train", "--no-record", "--method", "mle", "--train", at("test.txt"), "--model", at("m.json"))
	listwise(t, "score", "--model", at("m.json"), "--data", at("test.txt"), "--out", at("want.scores"))
	return dir
}

func run(t *testing.T, j job.Job) error {
	t.Helper()
	return job.Run(t.Context(), j, beamx.Run)
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// scores returns all parts, one behind the other.
func scores(t *testing.T, dir string) []byte {
	t.Helper()
	var all []byte
	for i := range 16 {
		all = append(all, read(t, filepath.Join(dir, fmt.Sprintf("part-%05d.scores", i)))...)
	}
	return all
}

func sameBytes(t *testing.T, what string, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Errorf("%s: found %d bytes, expected the %d of the command line, and the same", what, len(got), len(want))
	}
}

// TestSameBytes: score, eval and convert over 16 shards write what the command line writes.
func TestSameBytes(t *testing.T) {
	dir := prepare(t)
	data, model := filepath.Join(dir, "test"), filepath.Join(dir, "m.json")
	if err := run(t, job.Job{Command: "score", Data: data, Model: model, Out: filepath.Join(dir, "s")}); err != nil {
		t.Fatal(err)
	}
	sameBytes(t, "score", scores(t, filepath.Join(dir, "s")), read(t, filepath.Join(dir, "want.scores")))
	measures := []string{"--measures", "map,ndcg@7,mrr", "--convention", "standard-skip"}
	if err := run(t, job.Job{Command: "eval", Data: data, Model: model, Out: filepath.Join(dir, "e"), Args: measures}); err != nil {
		t.Fatal(err)
	}
	want := listwise(t, append([]string{"eval", "--no-record", "--format", "json", "--data", data + ".txt", "--model", model}, measures...)...)
	sameBytes(t, "eval", read(t, filepath.Join(dir, "e", job.EvalFile)), want)
	if err := run(t, job.Job{Command: "convert", Data: data, As: ".parquet", Out: filepath.Join(dir, "c")}); err != nil {
		t.Fatal(err)
	}
	listwise(t, "data", "convert", filepath.Join(data, "part-00003.txt"), "--out", filepath.Join(dir, "3.parquet"))
	sameBytes(t, "convert", read(t, filepath.Join(dir, "c", "part-00003.parquet")), read(t, filepath.Join(dir, "3.parquet")))
	sameBytes(t, "the scores of what was converted", listwise(t, "score", "--data", filepath.Join(dir, "c"), "--model", model), read(t, filepath.Join(dir, "want.scores")))
}

// TestTune: every training by itself, and the results of the command.
func TestTune(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"train.txt", "vali.txt", "test.txt"} {
		listwise(t, "data", "synth", "--shape", "mq2008", "--queries", "20", "--docs", "8", "--features", "5", "--seed", strconv.Itoa(i), "--out", filepath.Join(dir, name))
	}
	args := []string{"--method", "mle,ranknet", "--grid", "C=0.1,1", "--grid", "epochs=2"}
	data := filepath.Join(t.TempDir(), "folds")
	if err := os.CopyFS(filepath.Join(data, "Fold1"), os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := run(t, job.Job{Command: "tune", Data: data, Out: filepath.Join(dir, "out"), Args: args}); err != nil {
		t.Fatal(err)
	}
	listwise(t, append([]string{"tune", "--no-record", "--data", data, "--out", filepath.Join(dir, "want")}, args...)...)
	files := 0
	err := filepath.WalkDir(filepath.Join(dir, "want"), func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		inside, err := filepath.Rel(filepath.Join(dir, "want"), path)
		if err != nil {
			return err
		}
		files++
		sameBytes(t, inside, read(t, filepath.Join(dir, "out", job.TuneFolder, inside)), read(t, path))
		return nil
	})
	if err != nil || files < 8 {
		t.Fatalf("compared %d files: %v", files, err)
	}
}

// TestRerun: parts that stand are left alone; those that are missing, changed or of other inputs
// are done again.
func TestRerun(t *testing.T) {
	dir := prepare(t)
	j := job.Job{Command: "score", Data: filepath.Join(dir, "test"), Model: filepath.Join(dir, "m.json"), Out: filepath.Join(dir, "out")}
	part := func(i int) string { return filepath.Join(j.Out, fmt.Sprintf("part-%05d.scores", i)) }
	times := func() (all [16]time.Time) {
		for i := range all {
			info, err := os.Stat(part(i))
			if err != nil {
				t.Fatal(err)
			}
			all[i] = info.ModTime()
		}
		return all
	}
	if err := run(t, j); err != nil {
		t.Fatal(err)
	}
	before := times()
	if err := os.Remove(part(3)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(part(7), []byte("half a res"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(t, j); err != nil {
		t.Fatal(err)
	}
	for i, at := range times() {
		if again := !at.Equal(before[i]); again != (i == 3 || i == 7) {
			t.Errorf("part %d was done again: %v", i, again)
		}
	}
	sameBytes(t, "after a rerun", scores(t, j.Out), read(t, filepath.Join(dir, "want.scores")))
	listwise(t, "train", "--no-record", "--method", "regression", "--train", filepath.Join(dir, "test.txt"), "--model", j.Model)
	if err := run(t, j); err != nil {
		t.Fatal(err)
	}
	sameBytes(t, "with another model", scores(t, j.Out), listwise(t, "score", "--data", j.Data, "--model", j.Model))
}

// TestCorruptShard: the job fails with the shard and, where the file is what the manifest says, the
// line; there is no manifest, that of earlier results included, and a rerun completes.
func TestCorruptShard(t *testing.T) {
	dir := prepare(t)
	j := job.Job{Command: "score", Data: filepath.Join(dir, "test"), Model: filepath.Join(dir, "m.json"), Out: filepath.Join(dir, "out")}
	if err := run(t, j); err != nil {
		t.Fatal(err)
	}
	shard, manifest := filepath.Join(j.Data, "part-00005.txt"), filepath.Join(j.Data, shards.FileName)
	good, whole := read(t, shard), read(t, manifest)
	bad := bytes.Replace(good, []byte("\n"), []byte("\nx"), 1)
	if err := os.WriteFile(shard, bad, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(j.Out, "records")); err != nil {
		t.Fatal(err)
	}
	fails := func(want string) {
		t.Helper()
		err := run(t, j)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("found %v, expected an error with %q", err, want)
		}
		if _, err := os.Stat(filepath.Join(j.Out, job.ResultsFile)); !os.IsNotExist(err) {
			t.Fatalf("there is a manifest of a job that failed (%v)", err)
		}
	}
	fails("part-00005.txt: found")
	size, sum, err := shards.Checksum(shard)
	if err != nil {
		t.Fatal(err)
	}
	m, err := shards.Load(manifest)
	if err != nil {
		t.Fatal(err)
	}
	m.Shards[5].Bytes, m.Shards[5].SHA256 = size, sum
	if err := m.Save(manifest); err != nil {
		t.Fatal(err)
	}
	fails("part-00005.txt:2: ")
	if err := errors.Join(os.WriteFile(shard, good, 0o600), os.WriteFile(manifest, whole, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := run(t, j); err != nil {
		t.Fatal(err)
	}
	sameBytes(t, "after a rerun", scores(t, j.Out), read(t, filepath.Join(dir, "want.scores")))
}

// TestKilled kills the process of a job, worker and runner, while a shard is read: there is no
// manifest, and a rerun leaves what was done alone and completes.
func TestKilled(t *testing.T) {
	dir := prepare(t)
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), child+"="+dir)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	record := filepath.Join(dir, "out", "records")
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if len(records(t, record)) > 0 {
			break
		}
		if time.Since(begun) > time.Minute {
			t.Fatal("found no part after a minute, expected one")
		}
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err == nil || c.ProcessState.Exited() {
		t.Fatalf("ended by itself: %v", err)
	}
	out := filepath.Join(dir, "out")
	if _, err := os.Stat(filepath.Join(out, job.ResultsFile)); !os.IsNotExist(err) {
		t.Fatalf("there is a manifest of a job that was killed (%v)", err)
	}
	first := records(t, record)[0]
	name := filepath.Join(out, strings.TrimSuffix(filepath.Base(first), ".json")+".scores")
	before, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	j := job.Job{Command: "score", Data: filepath.Join(dir, "test"), Model: filepath.Join(dir, "m.json"), Out: out}
	if err := run(t, j); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(name)
	if err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("%s was done again (%v)", name, err)
	}
	sameBytes(t, "after a rerun", scores(t, out), read(t, filepath.Join(dir, "want.scores")))
}

// records returns the paths of the records of shards that are done, without files that are being
// written, whose names begin with a dot.
func records(t *testing.T, folder string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "[^.]*.json"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestOtherFilesystem has data, model and results where only Beam's filesystems reach.
func TestOtherFilesystem(t *testing.T) {
	dir := prepare(t)
	put := func(name string) {
		memfs.Write("memfs://in/"+name, read(t, filepath.Join(dir, filepath.FromSlash(name))))
	}
	put("m.json")
	put("test/" + shards.FileName)
	for i := range 16 {
		put(fmt.Sprintf("test/part-%05d.txt", i))
	}
	for _, command := range []string{"score", "eval"} {
		if err := run(t, job.Job{Command: command, Data: "memfs://in/test", Model: "memfs://in/m.json", Out: "memfs://out/" + command}); err != nil {
			t.Fatal(err)
		}
	}
	fs := memfs.New(t.Context())
	from := func(name string) []byte {
		t.Helper()
		r, err := fs.OpenRead(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	var all []byte
	for i := range 16 {
		all = append(all, from(fmt.Sprintf("memfs://out/score/part-%05d.scores", i))...)
	}
	sameBytes(t, "score", all, read(t, filepath.Join(dir, "want.scores")))
	want := listwise(t, "eval", "--no-record", "--format", "json", "--data", filepath.Join(dir, "test.txt"), "--model", filepath.Join(dir, "m.json"))
	sameBytes(t, "eval", from("memfs://out/eval/"+job.EvalFile), want)
	from("memfs://out/eval/" + job.ResultsFile)
}

// TestJobIsChecked has jobs without what they need.
func TestJobIsChecked(t *testing.T) {
	for _, c := range []struct {
		job  job.Job
		want string
	}{
		{job.Job{Command: "learn", Data: "d", Out: "o"}, `found the command "learn", expected one of convert, eval, score, train, tune`},
		{job.Job{Command: "train", Data: "d", Out: "o"}, "found no --experimental, expected it: a training over several machines waits"},
		{job.Job{Command: "train", Data: "d", Out: "o", Experimental: true, Start: "best"}, `--start: found "best", expected average or zero`},
		{job.Job{Command: "train", Data: "d", Out: "o", Experimental: true, Model: "m"}, "found --model"},
		{job.Job{Command: "score", Data: "d", Out: "o", Model: "m", Experimental: true}, "--experimental and --start are for train"},
		{job.Job{Command: "score", Out: "o", Model: "m"}, "--data and --out"},
		{job.Job{Command: "score", Data: "d", Out: "o"}, "--model"},
		{job.Job{Command: "convert", Data: "d", Out: "o"}, "--as"},
		{job.Job{Command: "score", Data: t.TempDir(), Out: "o", Model: "m"}, "manifest of a folder of shards"},
	} {
		if err := run(t, c.job); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: found %v, expected an error with %q", c.job, err, c.want)
		}
	}
}

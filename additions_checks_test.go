package listwise

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/listwise/listwise/internal/testing/sessions"
)

// The checks of TestAdditions: each runs the program that has the addition, and compares
// what it prints or writes with a computation that shares no code with it.

// near compares results that are printed or stored in full precision.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// checkMeasure takes the measure of one system, as the mean over the queries of the grade of
// the document with the highest score (the first of equals, as --ties input has it) over the
// highest grade. A query with grades of 0 alone counts 0.
func checkMeasure(t *testing.T, b *built) {
	var result struct{ Measures map[string]float64 }
	decode(t, b.run(t, "eval", "--data", b.data, "--scores", b.systems[0], "--measures", "map,first", "--format", "json"), &result)
	want, row := 0.0, 0
	for _, q := range b.queries {
		best := 0
		for i := range q.grades {
			if number(t, b.scores[0][row+i], 64) > number(t, b.scores[0][row+best], 64) {
				best = i
			}
		}
		if highest := slices.Max(q.grades); highest > 0 {
			want += q.grades[best] / highest / float64(len(b.queries))
		}
		row += len(q.grades)
	}
	got, ok := result.Measures["first"]
	if !ok || want == 0 {
		t.Fatalf("the measures are %v, and the mean of first is %v", result.Measures, want)
	}
	near(t, "the mean of first", got, want, 1e-12)
}

// checkLoss runs the loss's own test and trains with the loss: at the minimum of
// ½ Σ (l_i − l_j) max(0, 1 − w·(x_i − x_j))² + ‖w‖²/C over pairs of l_i > l_j the gradient is 0.
func checkLoss(t *testing.T, b *built) {
	if out := b.tool(t, "test", "-v", "-run", "^TestMargin$", "./learn/loss"); !strings.Contains(out, "--- PASS: TestMargin/margin/") {
		t.Errorf("the test of the loss prints\n%s", out)
	}
	if listed := b.run(t, "methods"); !strings.Contains(listed, "margin") {
		t.Errorf("methods lists\n%s", listed)
	}
	const c = 5
	model := filepath.Join(b.dir, "margin.json")
	b.run(t, "train", "--method", "margin", "--train", b.data, "--model", model, "--set", "C="+strconv.Itoa(c), "--set", "tolerance=1e-12")
	w := weights(t, model)
	gradient, size := make([]float64, len(w)), 0.0
	for _, q := range b.queries {
		for i, better := range q.grades {
			for j, worse := range q.grades {
				short := 1 - dot(w, q.x[i]) + dot(w, q.x[j])
				if better <= worse || short <= 0 {
					continue
				}
				for k := range w {
					d := (better - worse) * short * (q.x[i][k] - q.x[j][k])
					gradient[k] -= d
					size += math.Abs(d)
				}
			}
		}
	}
	for j := range w {
		near(t, "the derivative by weight "+strconv.Itoa(j+1), gradient[j]+2*w[j]/c, 0, 1e-8*size)
	}
	t.Run("guide", func(t *testing.T) { checkGuide(t, b) })
}

// checkGuide holds docs/guide/researcher.md to the loss: the files that it shows are those of the
// addition, and its commands print what it says.
func checkGuide(t *testing.T, b *built) {
	path, err := filepath.Abs("docs/guide/researcher.md")
	if err != nil {
		t.Fatal(err)
	}
	page := read(t, path)
	for _, name := range []string{"learn/loss/margin.go", "learn/loss/margin_test.go", "learn/method/margin.go"} {
		if !strings.Contains(page, "```go\n"+read(t, filepath.Join(additions, name+".txt"))+"```\n") {
			t.Errorf("%s does not have %s as it is", path, name)
		}
	}
	t.Chdir(b.sources) // for "go run"
	t.Setenv("PATH", filepath.Dir(b.program)+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("GOPROXY", "off")
	sessions.CheckShell(t, path, strings.NewReplacer())
}

// checkLearner trains with the learner, whose weights are means.
func checkLearner(t *testing.T, b *built) {
	model := filepath.Join(b.dir, "means.json")
	b.run(t, "train", "--method", "means", "--train", b.data, "--model", model)
	w := weights(t, model)
	want, docs := make([]float64, len(w)), 0.0
	for _, q := range b.queries {
		for i, grade := range q.grades {
			docs++
			for j, x := range q.x[i] {
				want[j] += grade * x
			}
		}
	}
	for j := range w {
		near(t, "weight "+strconv.Itoa(j+1), w[j], want[j]/docs, 1e-12)
	}
}

// checkFusionRule fuses two systems: a document's score is the sum over them of the mean of
// 1/rank² over the ranks of the documents with its score.
func checkFusionRule(t *testing.T, b *built) {
	out := filepath.Join(b.dir, "fused.scores")
	b.run(t, "fuse", "--data", b.data, "--rule", "isr", "--weights", "equal", "--out", out, b.systems[0], b.systems[1])
	fused := strings.Fields(read(t, out))
	row := 0
	for _, q := range b.queries {
		want := make([]float64, len(q.grades))
		for s := range b.systems {
			for i := range want {
				above, equal := 0, 0
				own := number(t, b.scores[s][row+i], 64)
				for k := range want {
					switch other := number(t, b.scores[s][row+k], 64); {
					case other > own:
						above++
					case other == own:
						equal++
					}
				}
				for rank := above + 1; rank <= above+equal; rank++ {
					want[i] += 1 / float64(rank*rank) / float64(equal)
				}
			}
		}
		for i, v := range want {
			near(t, "a fused score", 2*number(t, fused[row+i], 64), v, 1e-9)
		}
		row += len(want)
	}
}

// checkScorer trains the scorer and scores by the model file: |w·x|.
func checkScorer(t *testing.T, b *built) {
	model, out := filepath.Join(b.dir, "absolute.json"), filepath.Join(b.dir, "absolute.scores")
	b.run(t, "train", "--method", "ranknet", "--scorer", "absolute", "--set", "epochs=3", "--train", b.data, "--model", model)
	b.run(t, "score", "--model", model, "--data", b.data, "--out", out)
	w, got, row := weights(t, model), strings.Fields(read(t, out)), 0
	negative := 0
	for _, q := range b.queries {
		for _, x := range q.x {
			if dot(w, x) < 0 {
				negative++
			}
			near(t, "a score", number(t, got[row], 64), math.Abs(dot(w, x)), 1e-12)
			row++
		}
	}
	if negative == 0 && slices.Min(w) > 0 {
		t.Error("no weight is negative, so that the scores could be w·x")
	}
}

// checkFormat converts data in the format to LETOR text.
func checkFormat(t *testing.T, b *built) {
	in, out := filepath.Join(b.dir, "in.numbers"), filepath.Join(b.dir, "out.txt")
	write(t, in, "#numbers\na 2 0.5 1\na 0 0.25 0\nb 1 0 0.75\n")
	b.run(t, "data", "convert", in, "--out", out)
	want := "2 qid:a 1:0.5 2:1\n0 qid:a 1:0.25 2:0\n1 qid:b 1:0 2:0.75\n"
	if got := read(t, out); got != want {
		t.Errorf("the data are\n%s want\n%s", got, want)
	}
}

// checkModelFormat imports a model in the format, scores with the file itself and with the
// model, and exports it.
func checkModelFormat(t *testing.T, b *built) {
	in, imported, out := filepath.Join(b.dir, "in.words"), filepath.Join(b.dir, "words.json"), filepath.Join(b.dir, "out.words")
	text := "#words\n1 -0.5 0 2\n"
	write(t, in, text)
	b.run(t, "import", in, "--model", imported)
	for _, path := range []string{in, imported} {
		scores := strings.Fields(b.run(t, "score", "--model", path, "--data", b.data))
		for _, q := range b.queries {
			for _, x := range q.x {
				near(t, "a score of "+path, number(t, scores[0], 64), x[0]-0.5*x[1]+2*x[3], 1e-12)
				scores = scores[1:]
			}
		}
	}
	b.run(t, "export", "--model", imported, "--to", "words", "--out", out)
	if got := read(t, out); got != text {
		t.Errorf("the file is\n%s want\n%s", got, text)
	}
}

// checkExperiment runs the experiment and reads its sheet.
func checkExperiment(t *testing.T, b *built) {
	dir := filepath.Join(b.dir, "results")
	b.run(t, "reproduce", "dice", "--out", dir)
	sheet, err := csv.NewReader(strings.NewReader(read(t, filepath.Join(dir, "dice.csv")))).ReadAll()
	if err != nil || len(sheet) != 2 {
		t.Fatalf("the sheet is %v, %v", sheet, err)
	}
	near(t, "the mean", number(t, sheet[1][0], 64), 3.5, 5*math.Sqrt(35.0/12/1000))
}

// checkCommand runs the command.
func checkCommand(t *testing.T, b *built) {
	if got := b.run(t, "echo", "one", "two"); got != "one two\n" {
		t.Errorf("it prints %q", got)
	}
}

func dot(w, x []float64) (sum float64) {
	for j, v := range x {
		sum += w[j] * v
	}
	return sum
}

// weights returns those of a linear model file.
func weights(t *testing.T, path string) []float64 {
	t.Helper()
	var file struct{ Scorer struct{ Weights []float64 } }
	decode(t, read(t, path), &file)
	return file.Scorer.Weights
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

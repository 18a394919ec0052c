package interchange

import (
	"bytes"
	"fmt"
	gofmt "go/format"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/testing/long"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// hasExponentials reports whether a model's scores need those of the standard library.
func hasExponentials(m *model.Model) bool {
	layers, err := bareNetworkOf(m)
	if err != nil {
		return false
	}
	for _, l := range layers {
		switch l.activation {
		case scorer.Tanh, scorer.Sigmoid, scorer.Softplus, scorer.ELU:
			return true
		}
	}
	return false
}

// Claim: Go source compiles without dependencies, is formatted, and gives scores of the same bits,
// but for exponentials, where the last digits may differ. One program has the packages of all
// models, since linking takes long.
func TestGoSource(t *testing.T) {
	models := 60
	if long.Enabled() {
		models = 1000
	}
	dir := t.TempDir()
	put := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var imports, calls, documents strings.Builder
	var drawn []*model.Model
	var sets []*dataset.Dataset
	for seed := range models {
		m, d := drawAny(t, uint64(seed), 15)
		if seed%3 == 0 {
			rng := rand.New(rand.NewPCG(uint64(seed), 16))
			m, d = drawTransformed(t, rng, seed/3%drawnKinds, true, everyActivation...)
		}
		source := written(t, m, "go", WriteOptions{Name: "My model " + strconv.Itoa(seed)})
		if formatted, err := gofmt.Source([]byte(source)); err != nil || string(formatted) != source {
			t.Fatalf("the source is not formatted: %v\n%s", err, source)
		}
		put(fmt.Sprintf("m%d/m.go", seed), source)
		fmt.Fprintf(&imports, "m%d \"example/m%d\"\n", seed, seed)
		fmt.Fprintf(&calls, "m%d.Score,\n", seed)
		for _, v := range d.Queries[0].X {
			fmt.Fprintf(&documents, "%d %d %d\n", seed, d.Features, math.Float32bits(v))
		}
		drawn, sets = append(drawn, m), append(sets, d)
	}
	put("go.mod", "module example\n\ngo 1.21\n")
	put("main.go", "package main\n\nimport (\n\"fmt\"\n\"math\"\n\"os\"\n\"bufio\"\n"+imports.String()+`)

var scores = []func([]float32) float64{
`+calls.String()+`}

func main() {
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	defer out.Flush()
	var x []float32
	for {
		var model, features int
		var bits uint32
		if _, err := fmt.Fscan(in, &model, &features, &bits); err != nil {
			return
		}
		if x = append(x, math.Float32frombits(bits)); len(x) == features {
			fmt.Fprintln(out, math.Float64bits(scores[model](x)))
			x = x[:0]
		}
	}
}
`)
	cmd := exec.Command("go", "run", "-gcflags=-l", ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	cmd.Stdin = strings.NewReader(documents.String())
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	lines := strings.Fields(stdout.String())
	for i, m := range drawn {
		tolerance := 0.0
		if hasExponentials(m) {
			tolerance = 1e-13
		}
		checkScores(t, m, sets[i], tolerance, func([]float32) float64 {
			bits, err := strconv.ParseUint(lines[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			lines = lines[1:]
			return math.Float64frombits(bits)
		})
	}
	if len(lines) != 0 {
		t.Errorf("%d scores are left", len(lines))
	}
}

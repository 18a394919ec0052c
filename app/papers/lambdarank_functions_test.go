package papers

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/learn/loss"
)

// quickFunctions is trained in no time.
func quickFunctions() study {
	return quickly(lambdaFunctions{artificial: smallArtificial, springRates: smallArtificial.rates}.study())
}

// Every λ function is trained with each net, beside RankNet, and the paper's is held against
// all others; springs differ in their rates alone.
func TestFunctionRows(t *testing.T) {
	s := burges2006Functions.study()
	if want := len(artificialNets) * (len(loss.Lambdas()) + 1); len(s.rows) != want {
		t.Errorf("%d rows, expected %d", len(s.rows), want)
	}
	for i := range s.rows {
		r := &s.rows[i]
		spring := strings.HasPrefix(r.name, "spring")
		if len(r.grid["rate"]) != len(burges2006Functions.rates) || spring == slices.Equal(r.grid["rate"], burges2006Functions.rates) {
			t.Errorf("%s is tried at %v", r.name, r.grid["rate"])
		}
		if _, err := r.entry(s.convention); err != nil {
			t.Errorf("%s: %v", r.name, err)
		}
	}
}

// The validation values are the means of what was chosen, in the table and in the note that
// says which λ function validation would take.
func TestFunctionsByValidation(t *testing.T) {
	dir := t.TempDir()
	writeFolds(t, filepath.Join(dir, "MQ2008"), 60, 1)
	r := reportOf(t, quickFunctions(), Options{Data: dir, Seed: 2, Scale: 0.5})
	chosen := make(map[string][]float64) // by data and method
	for _, sheet := range r.Sheets {
		if sheet.Name == "chosen" {
			for _, row := range sheet.Rows {
				key := row[0].(string) + "|" + row[1].(string)
				chosen[key] = append(chosen[key], row[5].(float64))
			}
		}
	}
	if n := len(chosen["MQ2008|step, linear"]); n != 2*3 || len(chosen["artificial|RankNet, two-layer"]) != 2 {
		t.Fatalf("%d choices of a row on MQ2008, expected one a fold and seed", n)
	}
	best := ""
	most := 0.0
	for _, line := range r.Tables[0].Rows {
		v := mean(chosen[line[0]+"|"+line[1]])
		if d := v - parse(line[2]); d > 5.1e-5 || d < -5.1e-5 {
			t.Errorf("%s, %s: validation %s, chosen %v", line[0], line[1], line[2], v)
		}
		name, net, _ := strings.Cut(line[1], ", ")
		if line[0] == "MQ2008" && net == "linear" && name != "RankNet" && v > most {
			best, most = name, v
		}
	}
	first := 0 // how often the notes have logistic first
	for _, n := range r.Notes {
		if strings.Contains(n, "the best by validation is logistic (") {
			first++
		}
	}
	if f := r.Findings; len(f) != 1 || !strings.HasPrefix(f[0].Figure, fmt.Sprintf("first of seven in %d of 4 ", first)) {
		t.Errorf("findings %+v, the notes have logistic first %d times", f, first)
	}
	note := ""
	for _, n := range r.Notes {
		if strings.HasPrefix(n, "MQ2008, linear nets: ") {
			note = n
		}
	}
	if !strings.Contains(note, "the best by validation is "+best+" (") {
		t.Errorf("the note says %q, the best is %s", note, best)
	}
}

// Without the set, and in a folder of other sets, the made data remain, and the report says
// what was not found; from records and with several jobs it is the same.
func TestFunctionsWithoutSet(t *testing.T) {
	o := Options{Seed: 1, Jobs: 1, Records: t.TempDir()}
	r := reportOf(t, quickFunctions(), o)
	text := everything(t, r)
	if !slices.ContainsFunc(r.Facts, func(f Fact) bool { return f == Fact{"not found", functionsSet} }) {
		t.Error("nothing tells that MQ2008 is not there")
	}
	again := reportOf(t, quickFunctions(), o)
	o.Jobs, o.Records = 3, ""
	if text != everything(t, again) || text != everything(t, reportOf(t, quickFunctions(), o)) {
		t.Error("three jobs, or a run from records, give another report")
	}
	dir := t.TempDir()
	writeFolds(t, filepath.Join(dir, "OHSUMED"), 12, 1)
	sources, missing, err := burges2006Functions.sources(Options{Data: dir, Scale: 0.01})
	if err != nil || len(sources) != 1 || !slices.Equal(missing, []string{"MQ2008"}) {
		t.Errorf("%d sources, missing %v, error %v", len(sources), missing, err)
	}
	if _, _, err := burges2006Functions.sources(Options{Data: filepath.Join(dir, "none"), Scale: 0.01}); err == nil {
		t.Error("a folder that is not there is no error")
	}
}

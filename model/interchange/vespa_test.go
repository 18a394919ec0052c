package interchange

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"testing"
)

// ranking evaluates the part of Vespa's ranking expressions that is written: numbers, rank
// features, arithmetic, comparisons, in, ||, if and functions.
type ranking struct {
	t        *testing.T
	text     string
	features map[string]float64
}

func (r *ranking) take(token string) bool {
	r.text = strings.TrimLeft(r.text, " \n")
	rest, ok := strings.CutPrefix(r.text, token)
	if ok {
		r.text = rest
	}
	return ok
}

func (r *ranking) must(token string) {
	if !r.take(token) {
		r.t.Fatalf("found %.60q, expected %q", r.text, token)
	}
}

func (r *ranking) or() float64 {
	v := r.comparison()
	for r.take("||") {
		if w := r.comparison(); w != 0 {
			v = 1
		}
	}
	return v
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func (r *ranking) comparison() float64 {
	v := r.sum()
	if r.take("<=") {
		return truth(v <= r.sum())
	}
	if r.take("in [") {
		found := false
		for {
			found = r.sum() == v || found
			if !r.take(",") {
				r.must("]")
				return truth(found)
			}
		}
	}
	return v
}

func (r *ranking) sum() float64 {
	v := r.product()
	for {
		switch {
		case r.take("+"):
			v += r.product()
		case r.take("- "):
			v -= r.product()
		default:
			return v
		}
	}
}

func (r *ranking) product() float64 {
	v := r.part()
	for {
		switch {
		case r.take("*"):
			v *= r.part()
		case r.take("/"):
			v /= r.part()
		default:
			return v
		}
	}
}

func (r *ranking) part() float64 {
	if r.take("(") {
		v := r.or()
		r.must(")")
		return v
	}
	if r.take("-") {
		return -r.part()
	}
	r.take("")
	for name, v := range r.features {
		if r.take(name) {
			return v
		}
	}
	if end := strings.IndexAny(r.text, "( "); end > 0 && r.text[0] > '9' {
		name := r.text[:end]
		r.text = r.text[end:]
		return r.call(name)
	}
	end := 0
	for end < len(r.text) && (strings.IndexByte("0123456789.e", r.text[end]) >= 0 || strings.IndexByte("+-", r.text[end]) >= 0 && r.text[end-1] == 'e') {
		end++
	}
	v, err := strconv.ParseFloat(r.text[:end], 64)
	if err != nil {
		r.t.Fatalf("found %.60q, expected a number", r.text)
	}
	r.text = r.text[end:]
	return v
}

func (r *ranking) call(name string) float64 {
	r.must("(")
	v := r.or()
	if name == "min" || name == "max" {
		r.must(",")
		w := r.or()
		r.must(")")
		if name == "min" {
			return min(v, w)
		}
		return max(v, w)
	}
	if name == "if" {
		r.must(",")
		yes := r.or()
		r.must(",")
		no := r.or()
		r.must(")")
		if v != 0 {
			return yes
		}
		return no
	}
	r.must(")")
	switch name {
	case "isNan":
		return truth(v != v)
	case "exp":
		return math.Exp(v)
	case "log":
		return math.Log(v)
	case "fabs":
		return math.Abs(v)
	}
	return unitOf(name, v)
}

// Claim: the expression, evaluated by Vespa's rules, gives the model's scores; names that are no
// attributes' are refused.
func TestVespa(t *testing.T) {
	layers := 0
	for seed := range uint64(1000) {
		m, d := drawAny(t, seed, 14)
		names := []string{"bm25(title)", "ctr", "fieldMatch(body).proximity", "_x", "query(age)", "x6"}[:m.Scorer.NumFeatures()]
		var b bytes.Buffer
		if _, err := Write(&b, m, "vespa", WriteOptions{Names: names}); err != nil {
			if !strings.Contains(err.Error(), "layers, expected at most 2") {
				t.Fatal(err)
			}
			layers++
			continue
		}
		checkScores(t, m, d, 1e-13, func(x []float32) float64 {
			r := ranking{t: t, text: b.String(), features: map[string]float64{}}
			for j, name := range names {
				if !strings.Contains(name, "(") {
					name = "attribute(" + name + ")"
				}
				r.features[name] = float64(x[j])
			}
			v := r.or()
			if r.take(""); r.text != "" {
				t.Fatalf("found %.60q after the expression", r.text)
			}
			return v
		})
	}
	if layers == 0 || layers > 160 {
		t.Errorf("%d networks were refused, expected those of three layers and more", layers)
	}
}

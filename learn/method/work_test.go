package method

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
)

// longQuery is a query of n documents of two features and three grades.
func longQuery(t testing.TB, n int) *dataset.Dataset {
	t.Helper()
	grades, x := make([]float64, n), make([]float32, 2*n)
	for i := range grades {
		grades[i] = float64(i * 7 % 3)
		x[2*i], x[2*i+1] = float32(i*31%n)/float32(n), float32(grades[i])+float32(i%5)
	}
	var b dataset.Builder
	if err := b.Add("long", grades, x, nil); err != nil {
		t.Fatal(err)
	}
	return b.Dataset()
}

// A query that would take minutes a pass, or gigabytes, is refused before the work,
// in words that name it and what helps; methods that are linear in documents take it.
func TestHugeQueriesAreRefused(t *testing.T) {
	const docs = 200_000
	d := longQuery(t, docs)
	for _, c := range []struct {
		method   string
		settings []string
		measure  string
		want     string // of the error, "" for a training
	}{
		{"mle", nil, "", "s, a work of"},
		{"ranknet", nil, "", "of 200000 documents"},
		{"approxndcg", nil, "", "s, a work of"},
		{"softrank", nil, "", "of 200000 documents"},
		{"lambdaloss", nil, "", "s, a work of"},
		{"lambdarank", nil, "map", "s, a work of"},
		{"boltzrank2", nil, "", "s, a work of"},
		{"expgain", nil, "", "GB of memory"},
		{"svmmap", nil, "ndcg@10", "s, a work of"},
		{"listnet", []string{"iterations", "1"}, "", ""},
		{"xendcg", []string{"iterations", "1"}, "", ""},
		{"frank", []string{"rounds", "1"}, "", "s, a work of"},
		{"frank", []string{"rounds", "1", "search", "loss", "cuts", "10"}, "", "s, a work of"},
		{"svmmap", []string{"iterations", "1"}, "map", ""},
		{"ranksvm", []string{"iterations", "1"}, "", ""},
	} {
		m := lookup(t, c.method)
		p := newProblem(t, m, c.settings...)
		p.Data = d
		if c.measure != "" {
			p.Measure = measure.MustParse(c.measure, measure.LETOR3)
		}
		began := time.Now()
		_, err := m.Train(context.Background(), p)
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", c.method, err)
			}
			continue
		}
		var problem *ProblemError
		if !errors.As(err, &problem) {
			t.Errorf("%s: error %v, expected a *ProblemError", c.method, err)
			continue
		}
		for _, want := range []string{c.want, `query "long"`, "listnet", "fewer documents", "largest_work"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %q does not say %q", c.method, err, want)
			}
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: refused after %v", c.method, took)
		}
	}
}

// The limit is a hyperparameter, and holds for scorers on validation data too.
func TestLargestWork(t *testing.T) {
	m := lookup(t, "ranknet")
	for limit, want := range map[string]bool{"1e10": true, "1e4": false, "3e4": true} {
		p := newProblem(t, m, "iterations", "1", "largest_work", limit)
		p.Data = longQuery(t, 200) // 13,333 pairs
		if _, err := m.Train(context.Background(), p); (err == nil) != want {
			t.Errorf("limit %s: error %v", limit, err)
		}
	}
	pairs := lookup(t, "boltzrank2")
	p := newProblem(t, pairs, "epochs", "1")
	p.Valid = longQuery(t, 30_000)
	if _, err := pairs.Train(context.Background(), p); err == nil || !strings.Contains(err.Error(), "30000 documents") {
		t.Errorf("long validation query: error %v", err)
	}
}

// FRank's limit follows its options: a query for which the default search takes milliseconds
// a round is refused for the searches that would take seconds and minutes, until the limit
// is raised to that. The estimates are those of the sizes in newFidelityCost, by hand.
func TestFRankWork(t *testing.T) {
	const docs, pairs = 300, 30_000
	d := longQuery(t, docs)
	thresholds := docs - 1 + 6 // longQuery's first feature has docs different values, its second 7
	m := lookup(t, "frank")
	for settings, splits := range map[string]int{
		"search gradient alpha formula":    2,
		"search gradient alpha minimum":    38,
		"search features alpha formula":    2 * (1 + 2),
		"search loss alpha formula cuts 3": 2 * (1 + 3 + 3),
		"search loss alpha formula":        2 * (1 + thresholds),
		"search loss alpha minimum":        38 * (1 + thresholds),
	} {
		for share, want := range map[float64]bool{0.99: false, 1.01: true} {
			limit := share * float64(6+4*splits) * pairs
			p := newProblem(t, m, append(strings.Fields(settings), "rounds", "1", "largest_work", fmt.Sprint(limit))...)
			p.Data = d
			if _, err := m.Train(context.Background(), p); (err == nil) != want {
				t.Errorf("%s, limit %v: error %v", settings, limit, err)
			}
		}
	}
}

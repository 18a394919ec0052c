package report

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/tune/ensemble"
)

// retrieved is a scenario without features, in which systems leave documents out and
// documents lack judgements, as runs and judgements of TREC do.
func retrieved() *scenario {
	rng := rand.New(rand.NewPCG(51, 52))
	var b dataset.Blocks
	for q := range 12 {
		b.IDs, b.Counts = append(b.IDs, fmt.Sprintf("topic-%d", q)), append(b.Counts, 30)
		for i := range 30 {
			grade := float64(max(0, rng.IntN(6)-3))
			if rng.IntN(3) == 0 {
				grade = dataset.Unjudged
			}
			b.Grades = append(b.Grades, grade)
			b.Docs.Text += fmt.Sprintf("D%02d", 29-i)
			b.Docs.End = append(b.Docs.End, uint32(len(b.Docs.Text)))
		}
	}
	d := dataset.FromBlocks(b)
	division := ensemble.Division{Test: d}
	for _, name := range []string{"first", "second", "nothing for topic-0"} {
		s := ensemble.System{Name: name, Test: make([]float64, d.Docs())}
		for i := range s.Test {
			s.Test[i] = float64(rng.IntN(40))
			if rng.IntN(3) > 0 || name[0] == 'n' && i < 30 {
				s.Test[i] = dataset.NotRetrieved
			}
		}
		division.Systems = append(division.Systems, s)
	}
	return &scenario{config: Config{Title: "runs", Permutations: 10, Resamples: 10, Seed: 1}, divisions: []ensemble.Division{division}}
}

// Claim: of systems that leave documents out, the page lists what they retrieved alone, and
// its scripts measure as Go does.
func TestScriptsMeasureRuns(t *testing.T) {
	s := retrieved()
	s.config.Measures = mustMeasures(t, "map,mrr,p@5,r@5,ndcg,ndcg@10,dcg@10", "trec")
	_, page := s.build(t)
	if strings.Contains(string(page), "0 features") {
		t.Error("the page counts features, of which there are none")
	}
	b := open(t, page, 1200)
	worst := eval[float64](b, `(() => {
		let worst = 0, n = 0;
		for (const q of detailsOf.keys()) report.systems.forEach((_, s) => report.measures.forEach((m, i) => {
			const got = measured(m, rankingsOf(q), d => d.rank[s], report.queries.docs[q]);
			n++;
			worst = Math.max(worst, got === undefined ? 1e9 : Math.abs(got - valuesOf(s, i)[q]));
		}));
		return n < 200 ? 1e9 : worst;
	})()`)
	if !(worst <= unit*0.51) {
		t.Errorf("the scripts' measures differ from Go's by %v", worst)
	}
	b.choose("explorer-right", "2")
	if n := eval[int](b, `document.querySelectorAll('#explorer-lists ol')[1].children.length`); n != 0 {
		t.Errorf("a system that retrieved nothing lists %d documents", n)
	}
	want := 0 // of the first 10 of the first system
	for _, score := range s.divisions[0].Systems[0].Test[:30] {
		if score != dataset.NotRetrieved {
			want++
		}
	}
	if n := eval[int](b, `document.querySelectorAll('#explorer-lists ol')[0].children.length`); n != min(want, 10) {
		t.Errorf("%d documents of %d retrieved are listed", n, want)
	}
	if text := eval[string](b, `document.querySelector('#explorer-lists').textContent + document.querySelector('#explorer-swaps').textContent`); strings.Contains(text, "Infinity") || strings.Contains(text, "NaN") {
		t.Errorf("the page shows %q", text)
	}
	if grades := eval[string](b, `JSON.stringify(report.grades)`); grades != "[0,1,2]" {
		t.Errorf("grades %s", grades)
	}
	b.Quiet()
}

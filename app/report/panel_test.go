package report

import (
	"strconv"
	"testing"

	"github.com/listwise/listwise/internal/testing/long"
	"github.com/listwise/listwise/tune/ensemble"
)

// Claim: what the panel leaves over is called rounding where that is all it can be, and never where more is left.
func TestPanelNamesTheRest(t *testing.T) {
	long.Test(t)
	_, page := small(t).build(t)
	b := open(t, page, 1200)
	type rest struct {
		Called     string
		Units, Row float64 // of what is left, in last decimals, and features listed
	}
	var seen []rest
	for query := range 12 {
		b.choose("explorer-query", strconv.Itoa(query))
		seen = append(seen, eval[[]rest](b, `[...document.querySelectorAll('#explorer-lists ol li')].map(li => li.dataset.doc).flatMap(d => {
			document.querySelector('#explorer-lists [data-doc="' + d + '"] button').click();
			const all = [...document.querySelectorAll('#why .columns > div')].filter(side => side.querySelector('.sum')).map(side => {
				const sum = [...side.querySelector('.sum').children].map(e => e.textContent), left = sum[3].replace('−', '-'), rows = side.querySelectorAll('.bars:not(.head):not(.sum) > *').length / 4;
				return { Called: sum[0], Units: Math.abs(Number(left)) * 10 ** (left.split('.')[1] || '').length, Row: rows };
			});
			document.querySelector('#explorer-lists [data-doc="' + d + '"] button').click();
			return all;
		})`)...)
	}
	count := map[string]int{}
	for _, r := range seen {
		count[r.Called]++
		if rounding := r.Units <= (r.Row+2)/2+1e-6; r.Called == "rounding" && !rounding || r.Called == "all others" && rounding {
			t.Errorf("%v units beside %v features are called %q", r.Units, r.Row, r.Called)
		}
	}
	if count["rounding"] == 0 {
		t.Errorf("found %v, want some rounding", count)
	}
}

// Claim: what has nothing to choose from is not shown: neither folds where there are none, nor differences
// at each k of a system alone.
func TestHiddenIsNotShown(t *testing.T) {
	s := *small(t)
	one := s.divisions[0]
	one.Systems = one.Systems[:1]
	s.divisions = []ensemble.Division{one}
	_, alone := s.build(t)
	_, several := small(t).build(t)
	for what, page := range map[string][]byte{"one system": alone, "several": several} {
		b := open(t, page, 1200)
		if got := eval[string](b, `[...document.querySelectorAll('[hidden]')].filter(e => getComputedStyle(e).display !== 'none').map(e => e.id || e.className).join(' ')`); got != "" {
			t.Errorf("%s: hidden, but shown: %s", what, got)
		}
		if got := eval[string](b, `[...document.querySelectorAll('select')].filter(e => e.options.length === 0 && e.offsetHeight > 0).map(e => e.id).join(' ')`); got != "" {
			t.Errorf("%s: choices of nothing: %s", what, got)
		}
		b.Quiet()
	}
}

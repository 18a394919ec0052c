package report

import (
	"strconv"
	"testing"
)

// Claim: what the panel leaves over is called rounding where that is all it can be, and never where more is left.
func TestPanelNamesTheRest(t *testing.T) {
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

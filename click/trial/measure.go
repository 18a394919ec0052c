package trial

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/listwise/listwise/click"
)

// Measure is a number of a user: the sum or the mean of a value over the user's pages.
type Measure struct {
	Name string
	Mean bool // over pages
	of   func(p *click.Page) float64
}

// MeasureNames describes the names that ParseMeasure accepts.
const MeasureNames = "clicks, clicked-pages, clicks@K, rr or abandonment"

// ParseMeasure returns a measure by its name. The names are
//
//   - clicks: the number of clicked documents
//   - clicked-pages: the number of pages with a click
//   - clicks@K: the number of clicked documents on the first K ranks
//   - rr: the reciprocal rank of the first click, or 0 without clicks, as the mean over pages
//   - abandonment: the share of pages without clicks
func ParseMeasure(name string) (Measure, error) {
	m := Measure{Name: name}
	switch name {
	case "clicks":
		m.of = func(p *click.Page) float64 { return clicksTo(p, len(p.Docs)) }
	case "clicked-pages":
		m.of = func(p *click.Page) float64 { return min(1, clicksTo(p, len(p.Docs))) }
	case "rr":
		m.Mean = true
		m.of = func(p *click.Page) float64 {
			for r := range p.Docs {
				if p.Clicked(r) {
					return 1 / float64(r+1)
				}
			}
			return 0
		}
	case "abandonment":
		m.Mean = true
		m.of = func(p *click.Page) float64 { return 1 - min(1, clicksTo(p, len(p.Docs))) }
	default:
		depth, ok := strings.CutPrefix(name, "clicks@")
		k, err := strconv.Atoi(depth)
		if !ok || err != nil || k < 1 || depth != strconv.Itoa(k) {
			return m, fmt.Errorf("found the measure %q, expected %s", name, MeasureNames)
		}
		m.of = func(p *click.Page) float64 { return clicksTo(p, min(k, len(p.Docs))) }
	}
	return m, nil
}

// clicksTo returns the number of clicked documents on the first ranks.
func clicksTo(p *click.Page, ranks int) float64 {
	n := 0
	for r := range ranks {
		if p.Clicked(r) {
			n++
		}
	}
	return float64(n)
}

package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// Finding is a sentence about what a page describes.
type Finding struct {
	Level string `json:"level"` // problem, look or note
	Text  string `json:"text"`
}

// The levels of findings.
const (
	Problem = "problem" // what the page describes is probably wrong
	Look    = "look"    // the user should decide before the next step
	Note    = "note"    // for information
)

// Findings are the sentences at the beginning of a page.
type Findings []Finding

// Say adds a finding.
func (f *Findings) Say(level, text string, args ...any) {
	*f = append(*f, Finding{level, fmt.Sprintf(text, args...)})
}

// Sort puts the most important findings first.
func (f Findings) Sort() {
	order := []string{Problem, Look, Note}
	slices.SortStableFunc(f, func(a, b Finding) int { return slices.Index(order, a.Level) - slices.Index(order, b.Level) })
}

// MostNames is the largest number of names that Names lists.
const MostNames = 8

// Names joins names for a sentence. It lists at most MostNames of them.
func Names(list []string) string {
	if len(list) <= MostNames {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:MostNames], ", "), len(list)-MostNames)
}

// Label cuts a long name.
func Label(name string) string {
	const most = 80
	if r := []rune(name); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return name
}

// Fit returns a page within a size limit. It halves the number n of things of a kind until the page fits.
func Fit(limit, n int, things string, write func(b *bytes.Buffer, n int) error) ([]byte, error) {
	for ; ; n /= 2 {
		var b bytes.Buffer
		if err := write(&b, n); err != nil {
			return nil, err
		}
		switch {
		case b.Len() <= limit:
			return b.Bytes(), nil
		case n == 0:
			return nil, fmt.Errorf("the page takes %d bytes without any %s, more than its limit of %d", b.Len(), things, limit)
		}
	}
}

// FindingsStyle is the style of findings and of wide tables.
const FindingsStyle = `.finding { display: flex; gap: .6rem; margin: .45rem 0; max-width: 52rem; overflow-wrap: anywhere; } .finding .tag { align-self: start; flex: none; min-width: 4.4rem; text-align: center; }
.finding.is-problem .tag { color: var(--worse); border-color: var(--worse); } .finding.is-look .tag { color: var(--link); border-color: var(--link); }
.scroll { background: linear-gradient(to right, var(--back) 30%, transparent) 0 0 / 2.5rem 100% no-repeat local, linear-gradient(to left, var(--back) 30%, transparent) 100% 0 / 2.5rem 100% no-repeat local,
  linear-gradient(to right, var(--soft), transparent) 0 0 / .7rem 100% no-repeat scroll, linear-gradient(to left, var(--soft), transparent) 100% 0 / .7rem 100% no-repeat scroll; }
@media print { .scroll { background: none; } .scroll table { font-size: 7.5pt; } }
.share { width: 160px; height: 10px; } .share path { fill: var(--c0); }
`

package letor

import (
	"bytes"
	"fmt"
	"math"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/ingest"
	"github.com/listwise/listwise/internal/decimal"
	"github.com/listwise/listwise/internal/suggest"
)

// features parses the pairs INDEX:VALUE from p on, after the query id. It returns the position of the comment
// or the line feed.
//
// In dense rows, a blank and the index of the next column follow, which one comparison recognises. A value in
// one of three common forms is then parsed at once. pair parses everything else.
func (z *parser) features(b []byte, p int, row []float32) (next int, err error) {
	column := 0 // index of the next column
	for {
		if column < len(z.expect) && column < len(row) {
			if e := &z.expect[column]; decimal.Load8(b, p)&e.mask == e.text {
				at := p + e.length
				w := decimal.Load8(b, at)
				if v, ok := decimal.Unit(w); ok && b[at+8] == ' ' {
					row[column] = v
					column++
					p = at + 8
					continue
				}
				if uint16(w) == '0'|' '<<8 { // the row is zero already
					column++
					p = at + 1
					continue
				}
				if v, end := decimal.Short(b, at); end > at && b[end] == ' ' {
					if end-at >= ingest.LongNumber && z.Watches(column, v) {
						z.WatchText(column, v, b, at, end)
					}
					row[column] = v
					column++
					p = end
					continue
				}
			}
		}
		p = skipBlanks(b, p)
		if b[p] == '\n' || b[p] == '#' {
			break
		}
		before := column
		if column, p, err = z.pair(b, p, column, row); err == nil && column <= len(row) && before < column-1 {
			err = z.absent(row, before, column-1)
		}
		if err != nil {
			return p, err
		}
	}
	switch {
	case z.checkOnly:
	case column > len(row):
		return p, dataset.ErrChanged // the file changed after its features were counted
	case column < len(row):
		err = z.absent(row, column, len(row))
	}
	return p, err
}

// unsorted does the work of features for lines whose indices may have any order.
func (z *parser) unsorted(b []byte, p int, row []float32) (next int, err error) {
	z.row++
	given := 0
	for p = skipBlanks(b, p); b[p] != '\n' && b[p] != '#'; p = skipBlanks(b, p) {
		column, end, err := z.pair(b, p, 0, row)
		if err != nil {
			return end, err
		}
		for len(z.seen) < column {
			z.seen = append(z.seen, 0)
		}
		if z.seen[column-1] == z.row {
			return p, &dataset.SyntaxError{Found: quoteToken(b, p) + " behind another value of that feature", Expected: "every feature index once in a line"}
		}
		p, z.seen[column-1] = end, z.row
		given++
		if column > len(row) && !z.checkOnly {
			return p, dataset.ErrChanged // the file changed after its features were counted
		}
	}
	switch {
	case z.checkOnly || given == len(row):
	case !z.absentMissing:
		z.Absent(len(row) - given)
	default:
		for k := range row {
			if k >= len(z.seen) || z.seen[k] != z.row {
				if err := z.absent(row, k, k+1); err != nil {
					return p, err
				}
			}
		}
	}
	return p, nil
}

// absent handles columns that a line omits, from one index up to another. They stay 0 or, by the options, are
// missing.
func (z *parser) absent(row []float32, from, to int) error {
	switch {
	case !z.absentMissing:
		z.Absent(to - from)
		return nil
	case z.missing == dataset.MissingError:
		return &dataset.SyntaxError{Found: fmt.Sprintf("no feature %d", from+z.first), Expected: "all features, as those left out are missing (or an option that says what missing ones become)"}
	}
	for k := from; k < to; k++ {
		row[k] = float32(math.NaN()) // FillMissing replaces it later
	}
	z.nMissing += to - from
	return nil
}

// pair parses the pair INDEX:VALUE at p. column is the number of columns passed, and the index must be larger.
// pair returns the new number of columns passed and the position after the pair.
func (z *parser) pair(b []byte, p, column int, row []float32) (passed, next int, err error) {
	index, i := 0, p
	for ; b[i]-'0' <= 9; i++ {
		index = min(index*10+int(b[i]-'0'), hugeFeature)
	}
	index += 1 - z.first
	if i == p || b[i] != ':' || index <= column || index > z.limit {
		return 0, p, z.badIndex(b, p, i, index, column)
	}
	v, next := decimal.Short(b, i+1)
	if next == i+1 || !delimiter[b[next]] || z.StandIns() {
		if v, next, err = z.value(b, p, i+1); err != nil {
			return 0, p, err
		}
		if v >= dataset.ExactWhole || v <= -dataset.ExactWhole {
			d, _ := decimal.Scan(b, i+1)
			z.Rounded(index-1, d.Float64(b[i+1:next]))
		}
	}
	if next-i > ingest.LongNumber && z.Watches(index-1, v) && v == v {
		z.WatchText(index-1, v, b, i+1, next)
	}
	if index <= len(row) { // otherwise the line has an error, which is found later
		row[index-1] = v
	}
	return index, next, nil
}

// badIndex returns the error about the index b[p:end] of a pair.
func (z *parser) badIndex(b []byte, p, end, index, column int) error {
	e := &dataset.SyntaxError{Found: quoteToken(b, p)}
	switch {
	case end == p || b[end] != ':':
		e.Expected = "INDEX:VALUE"
	case index == 0:
		e.Expected = "a feature index of at least 1 (or --first-feature 0 for data that count features from 0, as scikit-learn and LightGBM do)"
	case index > z.limit && z.exact:
		e.Expected = fmt.Sprintf("one of the %d features", z.limit)
	case index > z.limit:
		e.Expected = fmt.Sprintf("a feature index of at most %d (this feature index is huge; or --max-feature)", z.limit-1+z.first)
	case index == column:
		e.Expected = fmt.Sprintf("a feature index above %d (every index stands once)", column-1+z.first)
	default:
		e.Expected = fmt.Sprintf("a feature index above %d (indices ascend; or --unsorted for any order)", column-1+z.first)
	}
	return e
}

// standsIn ends an error about a number that may represent a missing value.
const standsIn = " (or --missing-value for one that stands for a missing value)"

// value parses a value of any form at p. Errors quote the pair, which begins at pair.
func (z *parser) value(b []byte, pair, p int) (v float32, next int, err error) {
	d, next := decimal.Scan(b, p)
	end := tokenEnd(b, p)
	number := next == end && next > p
	if number && z.StandIns() && z.StandsIn(d.Float64(b[p:end])) {
		return z.noValue(b, pair, end)
	}
	if number {
		if v = d.Float32(b[p:end]); math.Abs(float64(v)) <= math.MaxFloat32 {
			return v, end, nil
		}
		return 0, p, &dataset.SyntaxError{Found: quoteToken(b, pair), Expected: "a value within the range of float32, ±3.4e38" + standsIn}
	}
	expected := "INDEX:VALUE with a decimal number"
	name := bytes.ToLower(bytes.TrimLeft(b[p:end], "+-"))
	switch string(name) {
	case "nan", "null":
		return z.noValue(b, pair, end)
	case "inf", "infinity":
		if sign := 1 - 2*bytes.Count(b[p:end], []byte("-")); z.StandsIn(math.Inf(sign)) {
			return z.noValue(b, pair, end)
		}
		expected = "a finite value" + standsIn
	}
	return 0, p, &dataset.SyntaxError{Found: quoteToken(b, pair), Expected: expected}
}

// noValue returns the results of value for a missing value, which ends at end. The pair begins at pair.
func (z *parser) noValue(b []byte, pair, end int) (v float32, next int, err error) {
	if z.missing == dataset.MissingError {
		return 0, pair, &dataset.SyntaxError{Found: quoteToken(b, pair), Expected: "a finite value (or an option that says what missing ones become)"}
	}
	z.nMissing++
	return float32(math.NaN()), end, nil // FillMissing replaces it later
}

// comment parses the comment that begins at p, and returns the position of the line feed. A comment "docid = X
// …" has the identifier of the document.
func (z *parser) comment(b []byte, p int) (next int, err error) {
	next = find(b, p, '\n')
	p = skipBlanks(b, p+1)
	if !bytes.HasPrefix(b[p:next], []byte("docid")) {
		return next, nil
	}
	p = skipBlanks(b, p+len("docid"))
	if b[p] != '=' {
		return next, nil
	}
	start := skipBlanks(b, p+1)
	end := start
	for b[end] != '\n' && (b[end] == '#' || !delimiter[b[end]]) {
		end++
	}
	if fault := ingest.Identifier(b[start:end]); fault != "" {
		return p, &dataset.SyntaxError{Found: suggest.Quote(b[start:end]), Expected: "a document id " + fault}
	}
	z.Doc(b[start:end])
	return next, nil
}

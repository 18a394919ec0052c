package click

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/listwise/listwise/dataset/compress"
	"github.com/listwise/listwise/dataset/flat"
	"github.com/listwise/listwise/internal/atomicfile"
)

// Write writes pages to a file, which appears when it is complete. The ending of the name selects the format:
// .csv, .tsv or .parquet, otherwise JSON lines. After the ending of text, .gz or .zst selects compression. fill calls
// add for each page.
func Write(name string, fill func(add func(*Page) error) error) error {
	return atomicfile.Write(name, func(w io.Writer) error { return WriteTo(w, name, fill) })
}

// WriteTo does the work of [Write] for a stream.
func WriteTo(w io.Writer, name string, fill func(add func(*Page) error) error) error {
	kind := compress.ByName(name)
	ending := strings.ToLower(path.Ext(name))
	if kind != compress.Plain {
		ending = strings.ToLower(path.Ext(strings.TrimSuffix(name, path.Ext(name))))
		if ending == ".parquet" {
			return fmt.Errorf("%s: found a name that asks for compression, expected one that ends in .parquet: that is compressed within", name)
		}
		z, err := compress.Writer(w, kind)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return errors.Join(writeText(z, ending, fill), z.Close())
	}
	if ending == ".parquet" {
		return writeParquet(w, fill)
	}
	return writeText(w, ending, fill)
}

func writeText(w io.Writer, ending string, fill func(add func(*Page) error) error) error {
	switch ending {
	case ".csv":
		return writeDelimited(w, ',', fill)
	case ".tsv", ".tab":
		return writeDelimited(w, '\t', fill)
	}
	const most = 1 << 16
	buf := make([]byte, 0, 2*most)
	err := fill(func(p *Page) error {
		if err := checkText(p); err != nil {
			return err
		}
		if buf = appendPage(buf, p); len(buf) < most {
			return nil
		}
		_, err := w.Write(buf)
		buf = buf[:0]
		return err
	})
	if err != nil {
		return err
	}
	_, err = w.Write(buf)
	return err
}

// writeDelimited writes CSV or TSV.
func writeDelimited(w io.Writer, delimiter rune, fill func(add func(*Page) error) error) error {
	z := csv.NewWriter(w)
	z.Comma = delimiter
	row := make([]string, len(columns))
	for i, c := range columns {
		row[i] = c.name
	}
	if err := z.Write(row); err != nil {
		return err
	}
	err := fill(func(p *Page) error {
		if err := checkText(p); err != nil {
			return err
		}
		for r := range p.Docs {
			for i, c := range columns {
				v := c.cell(p, r)
				if row[i] = v.text; c.kind != flat.Text && !v.none {
					row[i] = string(appendNumber(nil, v.number))
				}
			}
			if err := z.Write(row); err != nil {
				return err
			}
		}
		return nil
	})
	z.Flush()
	return errors.Join(err, z.Error())
}

func writeParquet(w io.Writer, fill func(add func(*Page) error) error) error {
	all := make([]flat.Column, len(columns))
	for i, c := range columns {
		all[i] = flat.Column{Name: c.name, Kind: c.kind}
	}
	z := flat.NewWriter(w, all)
	err := fill(func(p *Page) error {
		if err := checkText(p); err != nil {
			return err
		}
		for r := range p.Docs {
			for i, c := range columns {
				v := c.cell(p, r)
				if v.none {
					continue
				}
				switch c.kind {
				case flat.Text:
					if err := z.Text(i, v.text); err != nil {
						return err
					}
				case flat.Whole:
					z.Whole(i, int64(v.number))
				case flat.Real:
					z.Real(i, v.number)
				}
			}
			if err := z.End(); err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(err, z.Close())
}

// checkText returns an error if a page breaks a rule of the format, or has text that is not UTF-8.
func checkText(p *Page) error {
	if err := p.Check(); err != nil {
		return err
	}
	for _, list := range [][]string{{p.ID, p.User, p.Query, p.Experiment, p.Arm, p.Version}, p.Docs, p.Slots, p.Candidates} {
		for _, text := range list {
			if !utf8.ValidString(text) {
				return bad("text "+strconv.Quote(text), "UTF-8")
			}
		}
	}
	return nil
}

// appendPage appends a page as a line of JSON.
func appendPage(b []byte, p *Page) []byte {
	b = append(b, '{')
	text := func(name, text string) {
		if text != "" {
			b = appendString(appendKey(b, name), text)
		}
	}
	text("page", p.ID)
	text("time", timeText(p.Time))
	text("user", p.User)
	text("query", p.Query)
	text("experiment", p.Experiment)
	text("arm", p.Arm)
	text("version", p.Version)
	b = appendStrings(appendKey(b, "docs"), p.Docs)
	if p.Slots != nil {
		b = appendStrings(appendKey(b, "slots"), p.Slots)
	}
	if p.Clicks != nil {
		b = appendList(appendKey(b, "clicks"), p.Clicks, appendInt)
	}
	if p.Order != nil {
		b = appendRanks(appendKey(b, "order"), p.Order)
	}
	if p.Team != nil {
		b = appendList(appendKey(b, "team"), p.Team, appendInt)
	}
	if p.Propensity != 0 {
		b = appendNumber(appendKey(b, "propensity"), p.Propensity)
	}
	if p.Propensities != nil {
		b = appendList(appendKey(b, "propensities"), p.Propensities, appendNumber)
	}
	if p.Swapped != [2]int{} {
		b = appendRanks(appendKey(b, "swapped"), p.Swapped[:])
		b = strconv.AppendBool(appendKey(b, "swap"), p.Swap)
	}
	if p.Shuffled != 0 {
		b = appendInt(appendKey(b, "shuffled"), p.Shuffled)
	}
	if p.Candidates != nil {
		b = appendStrings(appendKey(b, "candidates"), p.Candidates)
	}
	if p.Orders != nil {
		b = appendOrders(appendKey(b, "orders"), p.Orders)
	}
	if p.Weight != 1 {
		b = appendNumber(appendKey(b, "weight"), p.Weight)
	}
	return append(b, "}\n"...)
}

func appendKey(b []byte, name string) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	return append(append(append(b, '"'), name...), `":`...)
}

func appendList[T any](b []byte, list []T, one func(b []byte, v T) []byte) []byte {
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = one(b, v)
	}
	return append(b, ']')
}

func appendStrings(b []byte, list []string) []byte { return appendList(b, list, appendString) }

func appendInt(b []byte, v int) []byte { return strconv.AppendInt(b, int64(v), 10) }

func appendNumber(b []byte, v float64) []byte { return strconv.AppendFloat(b, v, 'g', -1, 64) }

// appendRanks appends ranks, counted from 1.
func appendRanks(b []byte, ranks []int) []byte {
	return appendList(b, ranks, func(b []byte, r int) []byte { return appendInt(b, r+1) })
}

func appendOrders(b []byte, orders []Order) []byte {
	return appendList(b, orders, func(b []byte, o Order) []byte {
		b = appendStrings(append(b, '['), o.Docs)
		return append(appendNumber(append(b, ','), o.Probability), ']')
	})
}

// appendString appends a JSON string.
func appendString(b []byte, text string) []byte {
	b = append(b, '"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ':
			b = fmt.Appendf(b, `\u%04x`, c)
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// timeText returns a time as RFC 3339 in UTC, "" if it is unknown.
func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

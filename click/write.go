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
func WriteTo(w io.Writer, name string, unchecked func(add func(*Page) error) error) error {
	fill := func(add func(*Page) error) error {
		return unchecked(func(p *Page) error {
			if err := checkText(p); err != nil {
				return err
			}
			return add(p)
		})
	}
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
		if buf = AppendJSON(buf, p); len(buf) < most {
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
		for r := range p.Docs {
			for i, c := range columns {
				v := c.cell(p, r)
				if row[i] = v.text; c.kind != flat.Text && !v.none {
					row[i] = string(appendFloat(nil, v.number))
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

// timeText returns a time as RFC 3339 in UTC, "" if it is unknown.
func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

package click

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/listwise/listwise/dataset/memory"
)

// Read calls use for each page of a file in order. The page and its slices are valid until use returns; its
// strings stay valid. An error names the file and the line.
func Read(ctx context.Context, path string, o Options, use func(*Page) error) error {
	r := o.Stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // the file was only read
		r = f
	}
	if strings.HasSuffix(path, ".gz") {
		var err error
		if r, err = gzip.NewReader(r); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	lines := bufio.NewReaderSize(r, 1<<20)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF { // a line without an end is still being written
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		var in struct {
			ID, User, Query string
			Docs            []string
			Clicks          []int
		}
		p := Page{Weight: 1, Line: n}
		err = json.Unmarshal(line, &in)
		if err == nil {
			p.ID, p.User, p.Query, p.Docs, p.Clicks = in.ID, in.User, in.Query, in.Docs, in.Clicks
			err = errors.Join(p.Check(), ctx.Err())
		}
		if err == nil && o.Tally != nil {
			o.Tally.Pages++
			o.Tally.Weight += p.Weight
			err = o.Tally.Users.add(&p, memory.Unlimited())
		}
		if err == nil {
			err = use(&p)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", path, n, err)
		}
	}
}

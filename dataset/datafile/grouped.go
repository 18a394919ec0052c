package datafile

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/compress"
	"github.com/listwise/listwise/dataset/internal/input"
)

// LightGBM and XGBoost read text without qid:ID. A second file, of the same name with .query or .group
// appended, has the number of documents of each query, one per line. The text is read as if each line had a
// query id. The id consists of the name of the file and the number of the query, so ids of two files differ.

// withFile does the work of input.WithParts for judged documents, whose queries may be in a second file.
func withFile(path string, opts dataset.Options, look input.Look, use func(in *input.Input) error) error {
	return input.WithParts(path, opts, look, func(in *input.Input) error {
		groups, err := groupsOf(in, opts)
		switch {
		case err != nil:
			return err
		case groups == "":
			return use(in)
		}
		if weights := path + ".weight"; exists(weights) && opts.Note != nil {
			opts.Note(weights + ": ignored, because weights are not read from a separate file")
		}
		text, err := grouped(in, groups)
		if err != nil {
			return err
		}
		defer text.close()
		return input.Stream(text, in.Name, opts, nil, use)
	})
}

// groupsOf returns the name of the file with the queries of a text, or "" if the text has them.
func groupsOf(in *input.Input, opts dataset.Options) (string, error) {
	if in.Parts != nil {
		return "", nil
	}
	name := in.Name
	if compress.ByName(name) != compress.Plain {
		name = strings.TrimSuffix(name, filepath.Ext(name))
	}
	groups := ""
	for _, ending := range []string{".query", ".group"} {
		if groups == "" && exists(name+ending) {
			groups = name + ending
		}
	}
	if groups == "" {
		return "", nil
	}
	head, err := in.Head(headSize)
	if err != nil {
		return "", err
	}
	if kind := compress.Detect(head, in.Name); kind != compress.Plain {
		head = beginningOf(in, kind)
	}
	if f, err := formatOf(head, in.Name, opts); err != nil || f.name != "letor" {
		return "", err
	}
	for line := range bytes.Lines(head) {
		if fields := bytes.Fields(line); len(fields) > 1 && fields[0][0] != '#' {
			if bytes.HasPrefix(fields[1], []byte("qid:")) {
				return "", nil
			}
			return groups, nil
		}
	}
	return "", nil
}

// exists reports whether there is a file of that name.
func exists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// groupedText is text with query ids inserted in its lines. The queries come from a second file.
type groupedText struct {
	text   *bufio.Reader
	groups *bufio.Scanner
	close  func()

	name, groupsName string
	prefix           string // beginning of the query ids
	query, left      int    // number of the current query, and of its documents not yet read
	docs             int
	line             int // current line of groups

	out   []byte // bytes that Read has not returned yet
	begun bool   // the last piece of text ended within a line, because the buffer was full
	err   error
}

// grouped returns the text of an input with query ids from the file groups.
func grouped(in *input.Input, groups string) (*groupedText, error) {
	head, err := in.Head(compress.HeadSize)
	if err != nil {
		return nil, err
	}
	text, err := compress.Reader(io.NewSectionReader(in.R, 0, in.Size), compress.Detect(head, in.Name), in.Mem.Limit())
	if err != nil {
		return nil, err
	}
	file, err := os.Open(groups)
	if err != nil {
		return nil, errors.Join(err, text.Close())
	}
	g := &groupedText{text: bufio.NewReader(text), groups: bufio.NewScanner(file), name: in.Name, groupsName: groups}
	g.close = func() { _, _ = text.Close(), file.Close() } // they were only read
	g.prefix = strings.Map(func(r rune) rune {
		if r == '#' || r == unicode.ReplacementChar || unicode.IsSpace(r) || unicode.IsControl(r) {
			return '_'
		}
		return r
	}, strings.TrimSuffix(filepath.Base(groups), filepath.Ext(groups))) + ":"
	return g, nil
}

// Read implements io.Reader.
func (g *groupedText) Read(p []byte) (int, error) {
	for len(g.out) == 0 && g.err == nil {
		piece, err := g.text.ReadSlice('\n')
		if g.out = piece; !g.begun && len(piece) > 0 {
			g.out, g.err = g.withQuery(piece)
		}
		g.begun = errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !g.begun && g.err == nil {
			if g.err = err; errors.Is(err, io.EOF) {
				g.err = cmp.Or(g.rest(), err)
			}
		}
	}
	n := copy(p, g.out)
	if g.out = g.out[n:]; n > 0 {
		return n, nil
	}
	return 0, g.err
}

// withQuery inserts the query id after the grade in the beginning of a line.
func (g *groupedText) withQuery(line []byte) ([]byte, error) {
	trimmed := bytes.TrimLeft(line, " \t\r")
	if len(trimmed) == 0 || trimmed[0] == '\n' || trimmed[0] == '#' {
		return line, nil
	}
	for g.left == 0 {
		more, err := g.next()
		if err != nil {
			return nil, err
		}
		if !more {
			return nil, &dataset.SyntaxError{File: g.groupsName, Found: fmt.Sprintf("%d documents of %d queries", g.docs, g.query), Expected: "as many documents as " + g.name + " has, which are more"}
		}
	}
	g.left--
	g.docs++
	end := bytes.IndexAny(trimmed, " \t\r\n")
	if end < 0 {
		end = len(trimmed)
	}
	out := append([]byte(nil), trimmed[:end]...)
	out = append(out, " qid:"+g.prefix+strconv.Itoa(g.query)...)
	return append(out, trimmed[end:]...), nil
}

// next begins the next query. more is false if there is none.
func (g *groupedText) next() (more bool, err error) {
	for g.groups.Scan() {
		g.line++
		text := strings.TrimSpace(g.groups.Text())
		if text == "" {
			continue
		}
		if g.left, err = strconv.Atoi(text); err != nil || g.left < 0 {
			return false, &dataset.SyntaxError{File: g.groupsName, Line: g.line, Found: strconv.Quote(text), Expected: "the number of documents of a query"}
		}
		g.query++
		return true, nil
	}
	return false, g.groups.Err()
}

// rest returns an error if the queries have more documents than the text.
func (g *groupedText) rest() error {
	left := g.left
	for {
		more, err := g.next()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		left += g.left
	}
	if left == 0 {
		return nil
	}
	return &dataset.SyntaxError{File: g.groupsName, Found: fmt.Sprintf("%d documents of %d queries", g.docs+left, g.query), Expected: fmt.Sprintf("the %d documents of %s", g.docs, g.name)}
}

package app

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/listwise/listwise/dataset/shards"
	"github.com/listwise/listwise/dataset/trec"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/interchange"
)

// content describes the content of a file in messages. It is "" for unrecognized content.
type content string

const (
	aModel   content = "a model"
	aSummary content = "a summary of results"
	someData content = "judged queries"
	scores   content = "scores"
	aTable   content = "a table"
	aRun     content = "a run"
	fiveEach content = "judgements with five fields a line"
)

// contentOf recognizes the content of a file by its first bytes. It does not decompress files.
func contentOf(path string) content {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "" // reading a pipe would consume its data
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close() //nolint:errcheck // only read
	start := make([]byte, 1<<13)
	n, _ := io.ReadFull(f, start)
	return contentFrom(start[:n], n == len(start))
}

// contentFrom recognizes the content of a file by its first bytes. more states that the file is
// longer.
func contentFrom(start []byte, more bool) content {
	text := bytes.TrimSpace(start)
	if interchange.Recognise(start) != "" {
		return aModel
	}
	if len(text) > 0 && interchange.CheckForeign(start) != nil {
		return "" // reading the file will report its format
	}
	switch {
	case bytes.HasPrefix(start, []byte("SQLite format 3")):
		return "a record of runs"
	case bytes.HasPrefix(start, []byte("\x89LWDATA\n")), bytes.HasPrefix(start, []byte("PAR1")):
		return someData
	case bytes.HasPrefix(text, []byte("{")):
		return jsonContent(text)
	case bytes.HasPrefix(bytes.ToLower(text), []byte("<!doctype html")):
		return "a web page"
	}
	switch {
	case trec.IsFiveFields(start):
		return fiveEach
	case trec.IsRun(start):
		return aRun
	case trec.IsQrels(start):
		return someData
	}
	lines := bytes.Split(text, []byte("\n"))
	if more && len(lines) > 1 {
		lines = lines[:len(lines)-1] // the last line may be cut off
	}
	numbers := 0
	for _, line := range lines {
		words := bytes.Fields(line)
		switch {
		case len(words) == 0 || words[0][0] == '#':
			continue
		case len(words) > 1 && bytes.HasPrefix(words[1], []byte("qid:")):
			return someData
		case len(words) == 1 && isNumber(string(words[0])):
			numbers++
		case bytes.Count(line, []byte(",")) > 1 && numbers == 0:
			return aTable
		default:
			return ""
		}
	}
	if numbers == 0 {
		return ""
	}
	return scores
}

func isNumber(word string) bool {
	var v float64
	n, err := fmt.Sscan(word, &v)
	return n == 1 && err == nil
}

func jsonContent(text []byte) content {
	squeezed := bytes.ReplaceAll(text, []byte(" "), nil)
	switch {
	case bytes.Contains(squeezed, []byte(`"format":"`+model.FormatName+`"`)):
		return aModel
	case bytes.HasPrefix(squeezed, []byte(`{"epoch":`)):
		return "a learning curve"
	case bytes.Contains(squeezed, []byte(`"methods":[`)), bytes.Contains(squeezed, []byte(`"systems":[`)):
		return aSummary
	}
	return ""
}

// inputFault returns the error to report for err, the error of reading path. It is a usage error if path
// is a folder, cannot be opened, or has content that is recognisably not the wanted one. Otherwise it is
// err. flag names the flag of the file, and is empty for an argument.
func inputFault(flag, path string, wanted content, err error) error {
	if err == nil {
		return nil
	}
	if flag != "" {
		flag = "--" + flag + ": "
	}
	if isFolder(path) {
		or := ""
		if wanted == someData {
			or = ", or a folder of shards with " + shards.FileName + " or of Parquet parts"
		}
		return usageErrorf("%s%s is a folder, expected a file with %s%s", flag, path, wanted, or)
	}
	if has[*fs.PathError](err) {
		return usageErrorf("%s%w", flag, err)
	}
	if _, sharded := shards.Find(path); sharded {
		return err
	}
	if found := contentOf(path); path != "-" && found != "" && found != wanted && (found != aTable || wanted != someData) && (found != aRun || wanted != scores) {
		hint := hintOf(wanted)
		switch {
		case wanted == someData && found == fiveEach:
			return usageErrorf("%s%s: found judgements with five fields a line, expected four: QUERY ITERATION DOCUMENT GRADE", flag, path)
		case wanted == someData && found == aRun:
			hint = " (judgements are lines of QUERY ITERATION DOCUMENT GRADE)"
		}
		return usageErrorf("%s%s is %s, expected %s%s", flag, path, withArticle(found), wanted, hint)
	}
	return err
}

func withArticle(c content) string {
	switch c {
	case someData, scores, fiveEach:
		return "a file of " + string(c)
	}
	return string(c)
}

func hintOf(wanted content) string {
	switch wanted {
	case aModel:
		return ` (as "listwise train" writes it)`
	case scores:
		return " (one number a line), or a run"
	case someData:
		return " (lines of GRADE qid:QUERY 1:VALUE …)"
	}
	return ""
}

// loadModel reads the model named by a flag. It may be a model of another system.
func (env *environment) loadModel(flag, path string) (*model.Model, error) {
	return env.loadModelAs(flag, path, interchange.ReadOptions{})
}

// loadModelAs reads a model. For a file of another system it prints the assumptions as notes. flag
// names the flag of the file, and is empty for an argument.
func (env *environment) loadModelAs(flag, path string, o interchange.ReadOptions) (*model.Model, error) {
	m, notes, err := interchange.Load(path, o)
	if err == nil {
		env.notesOn(path, notes)
		return m, nil
	}
	if has[*interchange.RefusalError](err) {
		return nil, usageErrorf("--from: %w", err)
	}
	if err = inputFault(flag, path, aModel, err); has[*usageError](err) {
		return nil, err
	}
	if flag != "" {
		return nil, usageErrorf("--%s: %w", flag, err)
	}
	return nil, usageErrorf("%w", err)
}

func (env *environment) notesOn(path string, notes []string) {
	for _, n := range notes {
		env.note("note: %s: %s", path, n)
	}
}

// plainMessage returns the text of an error without the names of system calls. It turns "open x: no
// such file or directory" into "x: no such file or folder".
func plainMessage(err error) string {
	text := err.Error()
	for e := err; e != nil; {
		if path, ok := errors.AsType[*fs.PathError](e); ok {
			text = strings.Replace(text, path.Error(), path.Path+": "+plainCause(path.Err), 1)
			e = path.Err
		} else if link, ok := errors.AsType[*os.LinkError](e); ok {
			text = strings.Replace(text, link.Error(), link.New+": "+plainCause(link.Err), 1)
			e = link.Err
		} else {
			e = nil
		}
	}
	return text
}

func plainCause(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "no such file or folder"
	}
	return strings.ReplaceAll(err.Error(), "directory", "folder")
}

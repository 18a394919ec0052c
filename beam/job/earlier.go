package job

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	"github.com/listwise/listwise/dataset/shards"
)

// partName matches the names of the files and records of parts.
var partName = regexp.MustCompile(`^part-\d{5,}(\.[a-z.]+)?$`)

// discardOthers removes results of other jobs from the output folder: parts with other numbers or endings, and
// their records. Otherwise they could be mistaken for results of this job. A folder without records does not
// belong to a job and stays unchanged.
func (j *Job) discardOthers(ctx context.Context) error {
	records, err := list(ctx, under(j.Out, "records"))
	if err != nil || len(records) == 0 {
		return err
	}
	parts, err := list(ctx, j.Out)
	if err != nil {
		return err
	}
	mine, recorded := make(map[string]bool), make(map[string]bool)
	for part := range j.Inputs {
		mine[j.nameOf(part)], recorded[filepath.Base(j.recordAt(part))] = true, true
	}
	for _, name := range records {
		if !recorded[name] {
			if err := discard(ctx, under(j.Out, "records", name)); err != nil {
				return err
			}
		}
	}
	for _, name := range parts {
		if !mine[name] {
			if err := discard(ctx, under(j.Out, name)); err != nil {
				return err
			}
		}
	}
	for _, name := range []string{EvalFile, ResultsFile, shards.FileName} { // this job writes its own, last
		if err := discard(ctx, under(j.Out, name)); err != nil {
			return err
		}
	}
	return nil
}

// list returns the names of parts in a folder of any filesystem. It returns none if there is no folder.
func list(ctx context.Context, dir string) (names []string, err error) {
	if !remote(dir) {
		files, err := os.ReadDir(dir)
		if err != nil && !absent(err) {
			return nil, err
		}
		for _, f := range files {
			if f.Type().IsRegular() && partName.MatchString(f.Name()) {
				names = append(names, f.Name())
			}
		}
		return names, nil
	}
	fs, err := filesystem.New(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = fs.Close() }() // it is only read
	files, err := fs.List(ctx, under(dir, "part-*"))
	for _, f := range files {
		if name := f[strings.LastIndex(f, "/")+1:]; partName.MatchString(name) {
			names = append(names, name)
		}
	}
	return names, err
}

// oneFolder reports whether two paths refer to the same folder.
func oneFolder(a, b string) bool {
	if remote(a) || remote(b) {
		return strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/")
	}
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

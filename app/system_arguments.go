package app

import (
	"fmt"
	"github.com/listwise/listwise/dataset/datafile"
	"os"
	"path/filepath"
	"strings"
)

// The arguments of compare, report and fuse are systems: models, files of scores or runs or,
// for data in folds, folders of them. A shell's pattern such as runs/* also names what
// is none, which is left out.

// systemsFor returns the systems that can be measured on the data. Arguments that are no
// systems are left out with a note, but are an error if they have names or if fewer than
// least systems remain.
func (env *environment) systemsFor(data string, systems []*contestant, least int) ([]*contestant, error) {
	inFolds := isFolder(data)
	var kept []*contestant
	var left []string
	var first error
	for _, s := range systems {
		problem, err := s.misfit(data, inFolds)
		if err != nil {
			return nil, err
		}
		switch {
		case problem == nil:
			kept = append(kept, s)
		case s.given:
			return nil, problem
		default:
			left = append(left, s.runs[0].path)
			if first == nil {
				first = problem
			}
		}
	}
	if first != nil && len(kept) < least {
		return nil, first
	}
	if left != nil {
		env.note("note: ignored, not systems that can be evaluated on %s: %s", data, strings.Join(left, ", "))
	}
	return kept, nil
}

// misfit returns the reason why a system's files cannot be measured on the data, nil if
// they can, and puts the file of a folder with one fold in its place where the data are a
// file.
func (s *contestant) misfit(data string, inFolds bool) (problem, err error) {
	for i := range s.runs {
		path := &s.runs[i].path
		file, _, _ := strings.Cut(*path, ":") // of fuse: test scores, then validation scores
		if exists(*path) {
			file = *path
		}
		info, err := os.Stat(file)
		if err != nil {
			return nil, usageErrorf("system %w", err)
		}
		if info.IsDir() && !inFolds {
			if one := onlyFold(file); one != "" {
				*path = one
				continue
			}
		}
		if problem := misfitOf(file, info.IsDir(), data, inFolds); problem != nil {
			return problem, nil
		}
	}
	return nil, nil
}

func misfitOf(path string, isDir bool, data string, inFolds bool) error {
	switch {
	case inFolds && !isDir:
		if k := foldMeans(path); k > 0 {
			return usageErrorf("%s: found the means of %d folds, expected a folder with Fold1.model.json or Fold1.scores and so on; %s", path, k, noFoldTests)
		}
		return usageErrorf("%s is a file: with --data %s, a folder, expected one with Fold1.model.json or Fold1.scores and so on", path, data)
	case inFolds && !exists(filepath.Join(path, "Fold1.model.json")) && !exists(filepath.Join(path, "Fold1.scores")):
		return usageErrorf("%s: found neither Fold1.model.json nor Fold1.scores", path)
	case inFolds:
		return nil
	case isDir:
		return usageErrorf("%s is a folder: with --data %s, a file, expected a model, a file of scores or a run", path, data)
	}
	if k := foldMeans(path); k > 0 {
		return usageErrorf("%s: found the means of %d folds, expected a model or scores; %s", path, k, noFoldTests)
	}
	switch found := contentOf(path); found {
	case "", aModel, scores, aRun:
		return nil
	default:
		return usageErrorf("%s is %s, expected a model, a file of scores or a run", path, withArticle(found))
	}
}

// onlyFold returns the model or scores of the one fold that a folder of tune's output
// has, "" if it has none or several.
func onlyFold(dir string) string {
	for _, ending := range []string{".model.json", ".scores"} {
		path := func(fold int) string { return filepath.Join(dir, fmt.Sprintf("Fold%d%s", fold, ending)) }
		if exists(path(1)) && !exists(path(2)) {
			return path(1)
		}
	}
	return ""
}

// isFolder reports whether a path is a folder, unless that is one of shards or of parts, which is
// read as a file is.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir() && !datafile.IsSharded(path)
}

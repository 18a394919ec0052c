package app

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/eval/measure"
)

// contestant is a system of compare: one model or score file, or several runs of
// one learner.
type contestant struct {
	name  string
	given bool // the name, by the user
	runs  []run
}

// run is what one file or folder holds, and its values on all queries.
type run struct {
	path   string
	result *measure.Result
}

// seedMark stands for a seed in a path.
const seedMark = "{seed}"

// noFoldTests is why tests over the means of folds are refused.
const noFoldTests = "a test over the means of folds is refused: folds share training data, so their means are not independent of each other, " +
	"as a t-test needs, and a handful of them says next to nothing about their own spread; " +
	"the queries of all test folds are tested instead, each once, by --data DIR with the folders of the systems' scores (OUT/METHOD of tune)"

func namesOf(systems []*contestant) []string {
	return mapped(systems, func(s *contestant) string { return s.name })
}

// systems reads the arguments: [NAME=]PATH[,PATH…], with the seeds in place of
// their mark.
func (f *compareFlags) systems(args []string) ([]*contestant, error) {
	seeds, err := parseSeeds(f.seeds)
	if err != nil {
		return nil, usageErrorf("--seeds %s: %w", f.seeds, err)
	}
	var systems []*contestant
	for _, arg := range args {
		s, err := newContestant(arg, seeds)
		if err != nil {
			return nil, err
		}
		systems = append(systems, s)
	}
	if seeds != nil && !slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, seedMark) }) {
		return nil, usageErrorf("--seeds %s: no system has %s in its path", f.seeds, seedMark)
	}
	return systems, nameSystems(systems)
}

func newContestant(arg string, seeds []string) (*contestant, error) {
	s := &contestant{}
	rest := arg
	if name, path, ok := strings.Cut(arg, "="); ok && !exists(arg) && !strings.ContainsRune(name, filepath.Separator) {
		if name == "" || path == "" {
			return nil, usageErrorf("system %q: expected NAME=PATH", arg)
		}
		s.name, s.given, rest = name, true, path
	}
	paths := []string{rest}
	if !exists(rest) {
		paths = strings.Split(rest, ",")
	}
	if len(paths) > 1 && s.name == "" {
		return nil, usageErrorf("system %q: found several runs without a name, expected NAME=A,B,…", arg)
	}
	for _, p := range paths {
		switch {
		case p == "":
			return nil, usageErrorf("system %q: found the empty name of a file, expected NAME=A,B,…", arg)
		case !strings.Contains(p, seedMark):
			s.runs = append(s.runs, run{path: p})
		case seeds == nil:
			return nil, usageErrorf("system %q: found %s, expected --seeds", arg, seedMark)
		default:
			for _, seed := range seeds {
				s.runs = append(s.runs, run{path: strings.ReplaceAll(p, seedMark, seed)})
			}
		}
	}
	if s.name == "" {
		s.name = shortName(rest)
	}
	return s, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// shortName is the last part of a path that distinguishes systems: without the endings of
// models and scores, and without a seed's mark.
func shortName(path string) string {
	path = filepath.Clean(path)
	for dir := path; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		name := bareName(dir)
		if !strings.Contains(name, seedMark) {
			return name
		}
		name = strings.Trim(strings.ReplaceAll(name, seedMark, ""), "-_.")
		if name != "" && name != "seed" {
			return name
		}
	}
	return bareName(path)
}

// bareName is the last part of a path without the endings of models and scores.
func bareName(path string) string {
	name := filepath.Base(path)
	for _, ending := range []string{".gz", ".zst", ".json", ".scores", ".run", ".model"} {
		if stem := strings.TrimSuffix(name, ending); stem != "" {
			name = stem
		}
	}
	return name
}

// nameSystems gives systems of equal names those of their paths, and refuses names
// that are still equal.
func nameSystems(systems []*contestant) error {
	count := make(map[string]int)
	for _, s := range systems {
		count[s.name]++
	}
	seen := make(map[string]bool)
	for _, s := range systems {
		if count[s.name] > 1 {
			s.name = filepath.Clean(s.runs[0].path)
		}
		if seen[s.name] {
			return usageErrorf("system %s is named twice; NAME=PATH tells them apart", s.name)
		}
		seen[s.name] = true
	}
	return nil
}

// parseSeeds reads whole numbers, or ranges of them, separated by commas.
func parseSeeds(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	var seeds []string
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		first, err := strconv.ParseUint(from, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("found %q, expected whole numbers such as 1,2,3 or 1-5", part)
		}
		last := first
		if isRange {
			if last, err = strconv.ParseUint(to, 10, 64); err != nil || last < first || last-first >= 10_000 {
				return nil, fmt.Errorf("found %q, expected a range such as 1-5", part)
			}
		}
		for k := first; ; k++ {
			s := strconv.FormatUint(k, 10)
			if slices.Contains(seeds, s) {
				return nil, fmt.Errorf("%s is named twice", s)
			}
			if seeds = append(seeds, s); k == last {
				break
			}
		}
	}
	return seeds, nil
}

// foldMeans returns the number of folds whose means a summary of tune or fuse
// holds, 0 for any other file.
func foldMeans(path string) int {
	const enough = 1 << 24 // bytes; no summary is as long
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > enough || contentOf(path) != aSummary {
		return 0
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return 0 // who reads it next meets the same error
	}
	type row struct {
		Measures map[string]struct {
			Folds []any `json:"folds"`
		} `json:"measures"`
	}
	var summary struct{ Methods, Systems, Fusions []row }
	if json.Unmarshal(data, &summary) != nil {
		return 0
	}
	for _, r := range slices.Concat(summary.Methods, summary.Systems, summary.Fusions) {
		for _, m := range r.Measures {
			if len(m.Folds) > 0 {
				return len(m.Folds)
			}
		}
	}
	return 0
}

package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/listwise/listwise/tune"
)

// tunedFolder is what an output folder holds of methods that are not tuned now.
type tunedFolder struct {
	methods []tuneMethodJSON
	refit   *tuneRefitJSON
	lines   []tunedJSON // of tuning.jsonl
}

// otherMethods reads what a folder has of other methods, which stays. Results of other data, or
// chosen or measured in another way, are an error: no table may mix them.
func (f *tuneFlags) otherMethods(c *tune.Config) (o tunedFolder, err error) {
	path := filepath.Join(f.out, "results.json")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return o, nil
	} else if err != nil {
		return o, usageErrorf("--out: %w", err)
	}
	earlier, ok := tuned(text)
	if !ok {
		return o, usageErrorf("--out %s: found results.json of another command, expected a folder of tune, or an empty one", f.out)
	}
	now := func(name string) bool {
		return slices.ContainsFunc(c.Entries, func(e tune.Entry) bool { return e.Name == name })
	}
	var names []string
	for _, m := range earlier.Methods {
		if !now(m.Method) {
			o.methods, names = append(o.methods, m), append(names, m.Method)
		}
	}
	if names == nil {
		return o, nil
	}
	head := tuneHead(c)
	for _, what := range []struct {
		name  string
		equal bool
	}{
		{"other data", earlier.Data == head.Data && earlier.Queries == head.Queries && earlier.MeasuredOn == head.MeasuredOn},
		{"convention " + earlier.Convention, earlier.Convention == head.Convention && earlier.Threshold == head.Threshold},
		{"--select " + earlier.Select, earlier.Select == head.Select},
		{"another seed", earlier.Seed == head.Seed},
	} {
		if !what.equal {
			return o, usageErrorf("--out %s: found results of %s with %s, expected the same data, convention, --select and --seed, or another folder", f.out, strings.Join(names, ", "), what.name)
		}
	}
	if earlier.Refit != nil && !now(earlier.Refit.Method) {
		o.refit = earlier.Refit
	}
	text, err = os.ReadFile(filepath.Join(f.out, "tuning.jsonl"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return o, usageErrorf("--out: %w", err)
	}
	for line := range bytes.Lines(text) {
		var l tunedJSON
		if json.Unmarshal(line, &l) == nil && slices.Contains(names, l.Method) {
			o.lines = append(o.lines, l)
		}
	}
	return o, nil
}

// tuned reads results.json of tune; ok is false if the text is of another command.
func tuned(text []byte) (summary tuneJSON, ok bool) {
	err := json.Unmarshal(text, &summary)
	return summary, err == nil && len(summary.Methods) > 0
}

// notTuned returns an error if a folder holds results of tune, which another command would replace.
func notTuned(out string) error {
	text, err := os.ReadFile(filepath.Join(out, "results.json"))
	if err != nil {
		return nil //nolint:nilerr // there are none; what else is wrong with the folder shows when it is written to
	}
	if _, ok := tuned(text); ok {
		return usageErrorf("--out %s: found results.json of tune, expected another folder", out)
	}
	return nil
}

package app

import (
	"strings"

	"github.com/listwise/listwise/learn/method"
)

// parseScorers reads --scorer: a kind for all methods, or METHOD=KIND separated by commas.
func (f *tuneFlags) parseScorers() error {
	f.scorers = make(map[string]string)
	if !strings.Contains(f.scorer, "=") {
		return nil
	}
	for part := range strings.SplitSeq(f.scorer, ",") {
		name, kind, _ := strings.Cut(part, "=")
		m, err := method.Lookup(strings.TrimSpace(name))
		if err != nil {
			return usageErrorf("--scorer %s: %w", f.scorer, err)
		}
		if _, twice := f.scorers[m.Name]; twice || kind == "" {
			return usageErrorf("--scorer %s: found %q, expected METHOD=KIND, each method once", f.scorer, part)
		}
		f.scorers[m.Name] = strings.TrimSpace(kind)
	}
	return nil
}

// method returns the method of a name as it trains its scorer.
func (f *tuneFlags) method(name string) (*method.Method, error) {
	m, err := new(method.Recipe).Lookup(name)
	if err != nil {
		return nil, err
	}
	if f.scorer != "" && !strings.Contains(f.scorer, "=") {
		f.scorers[m.Name] = f.scorer
	}
	return method.ForScorer(m, f.scorers[m.Name])
}

package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/tune"
)

// tuneRefitJSON is the one model of tune --refit.
type tuneRefitJSON struct {
	Model      string         `json:"model"`
	Method     string         `json:"method"`
	Settings   map[string]any `json:"settings"`   // that trained it
	Validation float64        `json:"validation"` // of the setting that was chosen, the mean over folds
	Command    string         `json:"command"`
}

// bestSetting returns the row and the setting that are best by the mean over the folds' validation data, of
// those that successive halving left in the most folds.
func bestSetting(r *tune.Result) (row, setting int, mean float64) {
	most := 0
	for i := range r.Rows {
		for s := range r.Rows[i].Entry.Settings {
			sum, folds := 0.0, 0
			for _, f := range r.Rows[i].Folds {
				if v := f.Tried[s]; !math.IsNaN(v) {
					sum += v
					folds++
				}
			}
			if m := sum / float64(folds); folds > most || folds == most && m > mean {
				row, setting, mean, most = i, s, m, folds
			}
		}
	}
	return row, setting, mean
}

// refitBest trains the best setting on all data.
func (f *tuneFlags) refitBest(ctx context.Context, env *environment, c *tune.Config, r *tune.Result, whole *dataset.Dataset) (*tuneRefitJSON, error) {
	i, s, mean := bestSetting(r)
	row := &r.Rows[i]
	var models []*model.Model
	for _, fold := range row.Folds {
		if m := fold.Models[s]; m != nil {
			models = append(models, m)
		}
	}
	v, err := tune.Refitted(row.Entry.Method, row.Entry.Settings[s].(method.Values), models)
	if err != nil {
		return nil, err
	}
	how, err := newRetraining(f.cmd, &f.source, f.transform, c.Convention)
	if err != nil {
		return nil, err
	}
	if whole == nil {
		if whole, err = tune.Whole(c.Folds); err != nil {
			return nil, usageErrorf("--refit: %w", err)
		}
	}
	own := *c
	own.Entries = []tune.Entry{row.Entry}
	session, err := tune.Open(own)
	if err != nil {
		return nil, err
	}
	var trained *model.Model
	err = env.during("training on all data", func() (err error) {
		trained, err = session.Refit(ctx, 0, "all.refit", whole, v)
		return err
	})
	if err != nil {
		return nil, err
	}
	path := filepath.Join(f.out, modelName)
	if err := trained.Save(path); err != nil {
		return nil, err
	}
	var kind []string
	if s := f.scorers[row.Entry.Name]; s != "" {
		kind = []string{"--scorer", s}
	}
	command := commandLine(how.train(row.Entry.Method, kind, v, f.seed, material{how.whole(), []*dataset.Dataset{whole}}, path)...)
	return &tuneRefitJSON{path, row.Entry.Name, v.Typed(), mean, command}, nil
}

// note describes the one model.
func (r *tuneRefitJSON) note(selectBy string) string {
	return fmt.Sprintf("%s is %s, the best by mean validation %s, %.4f, trained on all data by:\n%s", r.Model, r.Method, selectBy, r.Validation, r.Command)
}

// observeSettings shows how many trainings are done and the best setting so far.
func (p *progress) observeSettings(measure string, t tune.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done, p.total = int64(t.Done), int64(t.Total)
	if p.detail = p.steps(true); t.Name != "" {
		p.detail += fmt.Sprintf(", best %s on validation %.4f by %s", measure, t.Best, t.Name)
	}
}

// tunedJSON is a line of tuning.jsonl.
type tunedJSON struct {
	Method     string         `json:"method"`
	Settings   map[string]any `json:"settings"`
	Validation []any          `json:"validation"` // of the folds; null where successive halving dropped it
	Best       any            `json:"best"`       // mean over the folds so far
}

// tunedOf returns the tuning curve of a run: a line a setting, in the order of the grids.
func tunedOf(r *tune.Result) (lines []tunedJSON) {
	for i := range r.Rows {
		row := &r.Rows[i]
		for s, setting := range row.Entry.Settings {
			line := tunedJSON{Method: row.Entry.Name, Settings: setting.Typed()}
			for _, f := range row.Folds {
				line.Validation = append(line.Validation, number(f.Tried[s]))
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// writeTuning writes a tuning curve as lines of JSON.
func writeTuning(path string, lines []tunedJSON) error {
	var b bytes.Buffer
	best := math.NaN()
	for _, line := range lines {
		sum := 0.0
		for _, v := range line.Validation {
			value, ok := v.(float64)
			if !ok {
				value = math.NaN() // dropped
			}
			sum += value
		}
		if mean := sum / float64(len(line.Validation)); !(mean <= best) && !math.IsNaN(mean) {
			best = mean
		}
		line.Best = number(best)
		text, err := json.Marshal(line)
		if err != nil {
			return err
		}
		b.Write(append(text, '\n'))
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := w.Write(b.Bytes())
		return err
	})
}

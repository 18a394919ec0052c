package bridge

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/interchange"
)

// models are the models that the caller holds, by number.
var models struct {
	sync.RWMutex
	last uint64
	by   map[uint64]*model.Model
}

// keep returns the number of a model, which [Release] gives back.
func keep(m *model.Model) uint64 {
	models.Lock()
	defer models.Unlock()
	if models.by == nil {
		models.by = make(map[uint64]*model.Model)
	}
	models.last++
	models.by[models.last] = m
	return models.last
}

func held(number uint64) (*model.Model, error) {
	models.RLock()
	defer models.RUnlock()
	m := models.by[number]
	if m == nil {
		return nil, fmt.Errorf("found no model %d", number)
	}
	return m, nil
}

// Release forgets a model.
func Release(number uint64) {
	models.Lock()
	defer models.Unlock()
	delete(models.by, number)
}

// about describes a model to the caller.
type about struct {
	Number   uint64   `json:"number"`
	Method   string   `json:"method"`
	Measure  string   `json:"measure"`
	Features int      `json:"features"`
	Names    []string `json:"names"`
	// Categories maps the texts of features with categories to numbers in a matrix. It is null for a
	// feature that the model does not use.
	Categories map[string]map[string]float32 `json:"categories,omitempty"`
	Pointwise  bool                          `json:"pointwise"`
	Training   *model.Training               `json:"training"`
	Settings   map[string]any                `json:"settings"`
	Scorer     string                        `json:"scorer"`
	Seed       uint64                        `json:"seed"`

	// Recipe has the arguments of a ranker that learns so again.
	Recipe map[string]string `json:"recipe"`
}

func describeModel(number uint64, m *model.Model) *about {
	return &about{
		Number: number, Method: m.Method, Measure: m.Measure, Features: m.NumFeatures(), Names: m.FeatureNames, Pointwise: m.Pointwise(),
		Training: &m.Training, Settings: m.Hyperparameters, Scorer: m.Scorer.Kind(), Seed: m.Seed, Recipe: recipeOf(m), Categories: categoriesOf(m),
	}
}

// categoriesOf returns the values of texts in the named features of a model.
func categoriesOf(m *model.Model) map[string]map[string]float32 {
	all := make(map[string]map[string]float32)
	for j, c := range m.InputCategories() {
		if c == nil || m.FeatureNames == nil {
			continue
		}
		var values map[string]float32
		if !c.Unused() {
			values = make(map[string]float32, len(c.Texts))
		}
		for _, text := range c.Texts {
			values[text], _ = c.TextValue([]byte(text))
		}
		all[m.FeatureNames[j]] = values
	}
	return all
}

// recipeOf returns the training settings stored in a model, by the names of arguments.
func recipeOf(m *model.Model) map[string]string {
	r := map[string]string{"normalize": m.Normalization.String(), "missing": m.Missing.String(), "views": m.Views.String()}
	if m.Convention != "" {
		r["convention"] = m.Convention
	}
	return r
}

// loadRequest is a request to read a model file, whose bytes are the first array.
type loadRequest struct {
	Name string // of the file, for messages
}

// load keeps the model of a file, of listwise or another system, and answers with its description.
// For another system's model, the array is the file in listwise's own format.
func (j *job) load(_ context.Context, r loadRequest, arrays Arrays) (any, error) {
	first := 0
	file, err := array[byte](arrays, &first, "file")
	if err != nil {
		return nil, err
	}
	m, notes, err := interchange.Decode(file, interchange.ReadOptions{File: r.Name})
	if err != nil {
		return nil, err
	}
	if interchange.Recognise(file) != "" {
		var own bytes.Buffer
		if err := m.Write(&own); err != nil {
			return nil, err
		}
		j.arrays = []any{own.Bytes()}
	}
	a := describeModel(keep(m), m)
	return map[string]any{"model": a, "warnings": notes}, nil
}

// ScoreQuery sets dst to the scores of one query's documents, the rows of x.
func ScoreQuery(number uint64, dst []float64, x []float32) error {
	m, err := held(number)
	if err != nil {
		return err
	}
	return m.ScoreQuery(dst, x)
}

// scoreRequest is a request for scores, in the order of the documents.
type scoreRequest struct {
	Model  uint64
	Data   rows
	Others bool // features that the model does not know are left out
}

// score answers with an array of scores.
func (j *job) score(_ context.Context, r scoreRequest, arrays Arrays) (any, error) {
	m, err := held(r.Model)
	if err != nil {
		return nil, err
	}
	d, err := r.Data.dataset(arrays, dataset.MissingKeep)
	if err != nil {
		return nil, err
	}
	d.IgnoreOthers = r.Others
	rows, err := m.Score(d)
	if err != nil {
		return nil, err
	}
	scores := make([]float64, len(rows))
	d.ToInputOrder(scores, rows)
	j.arrays = []any{scores}
	return map[string]any{"warnings": d.Warnings}, nil
}

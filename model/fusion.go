package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/listwise/listwise/fuse"
	"github.com/listwise/listwise/scorer"
)

// fusionKind is the name of a fusion in model files.
const fusionKind = "fusion"

// Fusion is a scorer made of models: the weighted sum of their votes. Its parameters
// are the weights. Every member applies its own normalization, so that a model whose
// scorer is a Fusion has none.
type Fusion struct {
	Rule    fuse.Rule
	Members []*Model

	features int
	pool     sync.Pool // of *fusionMemory
}

var _ scorer.Scorer = (*Fusion)(nil)

// fusionMemory is what Score and Backward need for one query.
type fusionMemory struct {
	votes  [][]float64
	x      []float32
	spaces []scorer.Workspace
}

// NewFusion returns the fusion of models; without any, or with a rule that makes no
// sense, that is an error.
func NewFusion(r fuse.Rule, members []*Model) (*Fusion, error) {
	if len(members) == 0 {
		return nil, errors.New("found no models to fuse, expected at least one")
	}
	if err := r.Check(); err != nil {
		return nil, err
	}
	f := &Fusion{Rule: r, Members: slices.Clone(members)}
	for _, m := range members {
		f.features = max(f.features, m.Scorer.NumFeatures())
	}
	f.pool.New = func() any {
		return &fusionMemory{votes: make([][]float64, len(members)), spaces: make([]scorer.Workspace, len(members))}
	}
	return f, nil
}

// Kind returns "fusion".
func (*Fusion) Kind() string { return fusionKind }

// NumFeatures returns the number of features of the widest member.
func (f *Fusion) NumFeatures() int { return f.features }

// NumParams returns the number of members.
func (f *Fusion) NumParams() int { return len(f.Members) }

// Init sets equal weights.
func (f *Fusion) Init(params []float64, _ *rand.Rand) { copy(params, fuse.Equal(len(f.Members))) }

// Score sets dst to the weighted sums of the members' votes. The workspace may be
// nil.
func (f *Fusion) Score(dst, params []float64, x []float32, _ *scorer.Workspace) {
	m := f.vote(x, len(dst))
	defer f.pool.Put(m)
	fuse.Add(dst, m.votes, params)
}

// Backward adds Σ_i lambda[i]·vote to the gradient of each weight. It needs no Score
// before it, and the members do not change.
func (f *Fusion) Backward(grad, _ []float64, x []float32, lambda []float64, _ *scorer.Workspace) {
	m := f.vote(x, len(lambda))
	defer f.pool.Put(m)
	for s, votes := range m.votes {
		for i, v := range votes {
			grad[s] += float64(lambda[i] * v)
		}
	}
}

// vote returns the votes of all members on one query.
func (f *Fusion) vote(x []float32, docs int) *fusionMemory {
	if len(x) != docs*f.features {
		panic(fmt.Sprintf("model: %d features of %d documents, want %d", len(x), docs, docs*f.features))
	}
	m := f.pool.Get().(*fusionMemory)
	for s, member := range f.Members {
		width := member.Scorer.NumFeatures()
		m.x = m.x[:0]
		for i := range docs {
			m.x = append(m.x, x[i*f.features:i*f.features+width]...)
		}
		member.Normalization.Apply(m.x, width)
		m.votes[s] = slices.Grow(m.votes[s][:0], docs)[:docs]
		member.Scorer.Score(m.votes[s], member.Params, m.x, &m.spaces[s])
	}
	f.Rule.Votes(m.votes)
	return m
}

// NewFused returns the model of a fusion with the given weights, one a member.
func NewFused(r fuse.Rule, members []*Model, weights []float64) (*Model, error) {
	f, err := NewFusion(r, members)
	if err != nil {
		return nil, err
	}
	if len(weights) != len(members) {
		return nil, fmt.Errorf("found %d weights, expected one for each of %d models", len(weights), len(members))
	}
	fused := &Model{Method: fusionKind, Scorer: f, Params: slices.Clone(weights), Training: Training{Status: "fused"}}
	for _, m := range members {
		if m.Scorer.NumFeatures() == f.features && m.FeatureNames != nil {
			fused.FeatureNames = m.FeatureNames
			break
		}
	}
	fused.Hyperparameters = map[string]any{"rule": r.Kind.String()}
	switch r.Kind {
	case fuse.RRF:
		fused.Hyperparameters["k"] = r.K
	case fuse.CombSUM, fuse.CombMNZ:
		fused.Hyperparameters["scale"] = r.Scale.String()
	case fuse.Borda:
	}
	return fused, nil
}

// fusionFile is a fusion in a model file; its members are whole model files.
type fusionFile struct {
	Type    string            `json:"type"`
	Rule    string            `json:"rule"`
	Scale   string            `json:"scale,omitempty"`
	K       *float64          `json:"k,omitempty"`
	Weights []*float64        `json:"weights"` // null is told from 0
	Members []json.RawMessage `json:"members"`
}

// encodeScorer returns the JSON object of a scorer and its parameters.
func encodeScorer(s scorer.Scorer, params []float64) (json.RawMessage, error) {
	f, ok := s.(*Fusion)
	if !ok {
		return scorer.Encode(s, params)
	}
	if len(params) != len(f.Members) {
		return nil, fmt.Errorf("fusion: %d weights of %d members", len(params), len(f.Members))
	}
	out := fusionFile{Type: fusionKind, Rule: f.Rule.Kind.String()}
	for i := range params {
		if math.IsNaN(params[i]) || math.IsInf(params[i], 0) {
			return nil, fmt.Errorf("fusion: weight %d is %v, expected a finite number", i+1, params[i])
		}
		out.Weights = append(out.Weights, &params[i])
	}
	switch f.Rule.Kind {
	case fuse.RRF:
		out.K = &f.Rule.K
	case fuse.CombSUM, fuse.CombMNZ:
		out.Scale = f.Rule.Scale.String()
	case fuse.Borda:
	}
	for _, m := range f.Members {
		file, err := m.file()
		if err != nil {
			return nil, err
		}
		raw, err := json.Marshal(file)
		if err != nil {
			return nil, err
		}
		out.Members = append(out.Members, raw)
	}
	return json.Marshal(out)
}

// decodeScorer is the inverse of encodeScorer.
func decodeScorer(raw json.RawMessage) (scorer.Scorer, []float64, error) {
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &head); err != nil || head.Type != fusionKind {
		return scorer.Decode(raw)
	}
	f, weights, err := decodeFusion(raw)
	if err != nil {
		return nil, nil, fmt.Errorf("fusion: %w", err)
	}
	return f, weights, nil
}

func decodeFusion(raw json.RawMessage) (*Fusion, []float64, error) {
	var f fusionFile
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, nil, err
	}
	r, err := f.rule()
	if err != nil {
		return nil, nil, err
	}
	if len(f.Weights) != len(f.Members) {
		return nil, nil, fmt.Errorf("found %d weights, expected one for each of %d members", len(f.Weights), len(f.Members))
	}
	members, weights := make([]*Model, len(f.Members)), make([]float64, len(f.Members))
	for i, text := range f.Members {
		if f.Weights[i] == nil {
			return nil, nil, fmt.Errorf("found null as weight %d, expected a number", i+1)
		}
		weights[i] = *f.Weights[i]
		if members[i], err = decode(text); err != nil {
			return nil, nil, fmt.Errorf("member %d: %w", i+1, err)
		}
	}
	fusion, err := NewFusion(r, members)
	return fusion, weights, err
}

func (f *fusionFile) rule() (fuse.Rule, error) {
	var r fuse.Rule
	var err error
	if r.Kind, err = fuse.ParseKind(f.Rule); err != nil {
		return r, err
	}
	if f.Scale != "" {
		if r.Scale, err = fuse.ParseScale(f.Scale); err != nil {
			return r, err
		}
	}
	if f.K != nil {
		r.K = *f.K
	} else if r.Kind == fuse.RRF {
		return r, errors.New(`found no "k", expected a number`)
	}
	return r, nil
}

package model

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/strictjson"
	"github.com/listwise/listwise/model/fuse"
	"github.com/listwise/listwise/model/scorer"
)

// fusionKind is the name of a fusion in model files.
const fusionKind = "fusion"

// maxMembers is the largest number of members of a fusion.
const maxMembers = 10_000

// Fusion is a scorer that computes the weighted sum of its members' votes. Its parameters are the
// weights, one per member. Its features are the union of the members' features. Each member
// transforms the features itself, so a model whose scorer is a Fusion has no transforms of its own.
type Fusion struct {
	Rule    fuse.Rule // turns a member's scores of a query into votes
	Members []*Model  // one for each parameter, in the same order

	features   int
	names      []string              // of the features; nil if they have none
	columns    [][]int               // for each member, its columns among the features; nil: each member uses the first ones
	categories []*dataset.Categories // of the features, as in Model; nil: none
	pool       sync.Pool             // of *fusionMemory
}

var _ scorer.Scorer = (*Fusion)(nil)

// fusionMemory is the memory that Score and Backward need for one query.
type fusionMemory struct {
	votes  [][]float64
	x      []float32 // for a member that uses only the first features
	spaces []space   // one per member
}

// NewFusion returns the fusion of the members. If all members name their features, each one finds
// its features by name. Otherwise features are matched by position. NewFusion returns an error for
// an empty list, an invalid rule, or names that do not match the positions in a member without
// names.
func NewFusion(r fuse.Rule, members []*Model) (*Fusion, error) {
	if len(members) == 0 {
		return nil, errors.New("found no models to fuse, expected at least one")
	}
	if err := checkMembers(len(members)); err != nil {
		return nil, err
	}
	if err := r.Check(); err != nil {
		return nil, err
	}
	f := &Fusion{Rule: r, Members: slices.Clone(members)}
	if err := f.arrange(); err != nil {
		return nil, err
	}
	if err := f.gatherCategories(); err != nil {
		return nil, err
	}
	f.pool.New = func() any {
		return &fusionMemory{votes: make([][]float64, len(members)), spaces: make([]space, len(members))}
	}
	return f, nil
}

// checkMembers returns an error if n is more than maxMembers.
func checkMembers(n int) error {
	if n > maxMembers {
		return fmt.Errorf("found %d models to fuse, expected at most %d", n, maxMembers)
	}
	return nil
}

// Kind returns "fusion".
func (*Fusion) Kind() string { return fusionKind }

// NumFeatures returns the number of features of the union of all members' features. If features are
// matched by position, it is the largest number of features of a member.
func (f *Fusion) NumFeatures() int { return f.features }

// NumParams returns the number of members.
func (f *Fusion) NumParams() int { return len(f.Members) }

// Init sets equal weights.
func (f *Fusion) Init(params []float64, _ *rand.Rand) { copy(params, fuse.Equal(len(f.Members))) }

// Prepare builds the members' data structures for faster scoring. See [scorer.Preparer].
func (f *Fusion) Prepare() {
	for _, member := range f.Members {
		member.Prepare()
	}
}

// Score sets dst to the weighted sums of the members' votes. The workspace may be
// nil.
func (f *Fusion) Score(dst, params []float64, x []float32, _ *scorer.Workspace) {
	m := f.vote(x, len(dst))
	defer f.pool.Put(m)
	fuse.Add(dst, m.votes, params)
}

// Backward adds Σ_i lambda[i]·vote_i to the gradient of each weight. It does not change the
// members, and needs no call of Score before.
func (f *Fusion) Backward(grad, _ []float64, x []float32, lambda []float64, _ *scorer.Workspace) {
	m := f.vote(x, len(lambda))
	defer f.pool.Put(m)
	for s, votes := range m.votes {
		for i, v := range votes {
			grad[s] += float64(lambda[i] * v)
		}
	}
}

// vote computes the votes of all members on one query. The caller returns the memory to f.pool.
func (f *Fusion) vote(x []float32, docs int) *fusionMemory {
	if len(x) != docs*f.features {
		panic(fmt.Sprintf("model: %d features of %d documents, want %d", len(x), docs, docs*f.features))
	}
	m := f.pool.Get().(*fusionMemory)
	for s, member := range f.Members {
		width, rows, features := member.NumFeatures(), x, f.features
		own := &m.spaces[s]
		own.missing, own.columns = true, f.Columns(s)
		if own.columns == nil && width < features {
			m.x, features = m.x[:0], width
			for i := range docs {
				m.x = append(m.x, x[i*f.features:i*f.features+width]...)
			}
			rows = m.x
		}
		m.votes[s] = slices.Grow(m.votes[s][:0], docs)[:docs]
		member.scoreQuery(m.votes[s], rows, features, own)
	}
	f.Rule.Votes(m.votes)
	return m
}

// Votes returns the votes of every member for the documents of a query. The rows of x are documents
// with the fusion's features. Score returns the weighted sums of these votes.
func (f *Fusion) Votes(x []float32, docs int) [][]float64 {
	m := f.vote(x, docs)
	defer f.pool.Put(m)
	votes := make([][]float64, len(m.votes))
	for s, v := range m.votes {
		votes[s] = slices.Clone(v)
	}
	return votes
}

// NewFused returns the model of a fusion with the given weights, one per member.
func NewFused(r fuse.Rule, members []*Model, weights []float64) (*Model, error) {
	f, err := NewFusion(r, members)
	if err != nil {
		return nil, err
	}
	if len(weights) != len(members) {
		return nil, fmt.Errorf("found %d weights, expected one for each of %d models", len(weights), len(members))
	}
	fused := &Model{Method: fusionKind, Scorer: f, Params: slices.Clone(weights), Training: Training{Status: "fused"}}
	fused.FeatureNames = f.names
	fused.Hyperparameters = map[string]any{"rule": r.Kind.String()}
	if r.Kind.UsesK() {
		fused.Hyperparameters["k"] = r.K
	}
	if r.Kind.UsesScale() {
		fused.Hyperparameters["scale"] = r.Scale.String()
	}
	return fused, nil
}

// fusionFile contains the first keys of a fusion in a model file. The keys "weights" and "members"
// follow; each member is a whole model file.
type fusionFile struct {
	Type  string   `json:"type"`
	Rule  string   `json:"rule"`
	Scale string   `json:"scale,omitempty"`
	K     *float64 `json:"k,omitempty"`
}

// encodeScorer returns the JSON object of a scorer and its parameters.
func encodeScorer(s scorer.Scorer, params []float64) ([]byte, error) {
	f, ok := s.(*Fusion)
	if !ok {
		return scorer.Encode(s, params)
	}
	if len(params) != len(f.Members) {
		return nil, fmt.Errorf("fusion: %d weights of %d members", len(params), len(f.Members))
	}
	for i, w := range params {
		if math.IsNaN(w) || math.IsInf(w, 0) {
			return nil, fmt.Errorf("fusion: weight %d is %v, expected a finite number", i+1, w)
		}
	}
	out := fusionFile{Type: fusionKind, Rule: f.Rule.Kind.String()}
	if f.Rule.Kind.UsesK() {
		out.K = &f.Rule.K
	}
	if f.Rule.Kind.UsesScale() {
		out.Scale = f.Rule.Scale.String()
	}
	text, err := strictjson.Marshal(out)
	if err != nil {
		return nil, err
	}
	members := []byte{'['}
	for i, m := range f.Members {
		member, err := m.encode()
		if err != nil {
			return nil, fmt.Errorf("member %d: %w", i+1, err)
		}
		if i > 0 {
			members = append(members, ',')
		}
		members = append(members, member...)
	}
	text = strictjson.AppendNumbers(text, "weights", params)
	return strictjson.AppendMember(text, "members", append(members, ']')), nil
}

// decodeScorer reads the JSON object that encodeScorer writes.
func decodeScorer(v strictjson.Value) (scorer.Scorer, []float64, error) {
	o, err := strictjson.Members(v)
	if err != nil {
		return nil, nil, err
	}
	var head struct {
		Type string `json:"type"`
	}
	if err := o.Decode(&head); err != nil || head.Type != fusionKind {
		return scorer.DecodeObject(o)
	}
	f, weights, err := decodeFusion(o)
	if err != nil {
		return nil, nil, fmt.Errorf("fusion: %w", err)
	}
	return f, weights, nil
}

func decodeFusion(o strictjson.Object) (*Fusion, []float64, error) {
	var f fusionFile
	var parts struct {
		Weights strictjson.Numbers `json:"weights"`
		Members strictjson.Value   `json:"members"`
	}
	if err := o.Decode(&f); err != nil {
		return nil, nil, err
	}
	if err := o.Decode(&parts); err != nil {
		return nil, nil, err
	}
	r, err := f.rule()
	if err != nil {
		return nil, nil, err
	}
	members, err := decodeMembers(parts.Members, len(parts.Weights))
	if err != nil {
		return nil, nil, err
	}
	fusion, err := NewFusion(r, members)
	return fusion, parts.Weights, err
}

// decodeMembers reads a list of models, which must be as long as the list of weights.
func decodeMembers(v strictjson.Value, weights int) ([]*Model, error) {
	var list []strictjson.Value
	var err error
	if v.Text != nil {
		list, err = strictjson.Elements(v)
	}
	switch {
	case err != nil:
		return nil, err
	case weights != len(list):
		return nil, fmt.Errorf("found %d weights, expected one for each of %d members", weights, len(list))
	}
	if err := checkMembers(len(list)); err != nil {
		return nil, err
	}
	members := make([]*Model, len(list))
	for i, member := range list {
		if members[i], err = decodeModel(member); err != nil {
			return nil, inPart(member, fmt.Errorf("member %d: %w", i+1, err))
		}
	}
	return members, nil
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
	} else if r.Kind.UsesK() {
		return r, errors.New(`found no "k", expected a number`)
	}
	return r, nil
}

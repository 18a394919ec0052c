package interchange

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"sort"
	"strconv"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/strictjson"
	"github.com/listwise/listwise/model"
)

// cbWriter writes a model as trees of the nested form, which CatBoost reads like its own.
type cbWriter struct {
	borders [][]float32 // of each feature, ascending and different
	first   []int       // number of each feature's first border among all
	text    []byte
}

// writeCatBoost writes a model for load_model with format="json".
func writeCatBoost(w io.Writer, m *model.Model, o WriteOptions) ([]string, error) {
	e, err := treesOf(m)
	if err != nil {
		return nil, err
	}
	switch o.Scores {
	case ShiftedScores:
		e.shiftLeaves()
	case LogisticScores:
		return nil, fmt.Errorf("found --scores %s, expected raw or shift: the file has no link; use prediction_type=\"Probability\"", o.Scores)
	case RawScores:
	}
	if len(e.trees) == 0 {
		e.spreadConstant()
	}
	missing, err := e.cbMissing(m.Missing != dataset.MissingError)
	if err != nil {
		return nil, err
	}
	b := newCBWriter(e)
	if err := b.features(e, missing); err != nil {
		return nil, err
	}
	b.text = append(b.text, `,"trees":[`...)
	for k, t := range e.trees {
		if k > 0 {
			b.text = append(b.text, ",\n"...)
		}
		root := 0
		if len(t.nodes) == 0 {
			root = -1
		}
		b.node(t, root)
	}
	b.text = append(b.text, `],"scale_and_bias":[1,[`...)
	b.text = append(strconv.AppendFloat(b.text, e.constant, 'g', -1, 64), "]]}\n"...)
	out := bufio.NewWriter(w)
	_, _ = out.Write(b.text) // Flush returns the error
	return nil, out.Flush()
}

// cbMissing returns how each feature treats missing values: CatBoost has one way a feature, not one
// a node. Where they do not matter, any will do.
func (e *ensemble) cbMissing(matter bool) ([]string, error) {
	ways := slices.Repeat([]string{""}, e.features)
	for k, t := range e.trees {
		for _, n := range t.nodes {
			if n.Categories != nil {
				return nil, fmt.Errorf("tree %d: found categories of feature %d, expected thresholds alone: CatBoost's categories are hashes of texts", k+1, n.Feature+1)
			}
			way := "AsTrue"
			if n.MissingLeft {
				way = "AsFalse"
			}
			if own := &ways[n.Feature]; *own == "" || !matter {
				*own = way
			} else if *own != way {
				return nil, fmt.Errorf("tree %d: found that missing values of feature %d go right where those of other nodes go left, or the reverse, expected one way: CatBoost has one a feature; train with --missing error",
					k+1, n.Feature+1)
			}
		}
	}
	for j := range ways {
		if ways[j] == "" {
			ways[j] = "AsIs"
		}
	}
	return ways, nil
}

func newCBWriter(e *ensemble) *cbWriter {
	b := &cbWriter{borders: make([][]float32, e.features), first: make([]int, e.features)}
	for _, t := range e.trees {
		for i := range t.nodes {
			n := &t.nodes[i]
			b.borders[n.Feature] = append(b.borders[n.Feature], n.Threshold+0) // −0 becomes 0
		}
	}
	number := 0
	for j := range b.borders {
		slices.Sort(b.borders[j])
		b.borders[j] = slices.Compact(b.borders[j])
		b.first[j] = number
		number += len(b.borders[j])
	}
	return b
}

func (b *cbWriter) features(e *ensemble, missing []string) error {
	b.text = append(b.text, `{"features_info":{"float_features":[`...)
	for j, borders := range b.borders {
		name := ""
		if e.names != nil {
			name = e.names[j]
		}
		quoted, err := strictjson.Marshal(name)
		if err != nil {
			return err
		}
		if j > 0 {
			b.text = append(b.text, ",\n"...)
		}
		b.text = append(b.text, `{"borders":[`...)
		for i, border := range borders {
			if i > 0 {
				b.text = append(b.text, ',')
			}
			b.text = strconv.AppendFloat(b.text, float64(border), 'g', -1, 64)
		}
		b.text = fmt.Appendf(b.text, `],"feature_id":%s,"feature_index":%d,"flat_feature_index":%d,"has_nans":%t,"nan_value_treatment":%q}`,
			quoted, j, j, missing[j] != "AsIs", missing[j])
	}
	b.text = append(b.text, "]}"...)
	return nil
}

func (b *cbWriter) node(t tree, at int) {
	if at < 0 {
		b.text = append(strconv.AppendFloat(append(b.text, `{"value":`...), t.values[-1-at], 'g', -1, 64), `,"weight":0}`...)
		return
	}
	n := &t.nodes[at]
	borders := b.borders[n.Feature]
	place := sort.Search(len(borders), func(i int) bool { return borders[i] >= n.Threshold })
	b.text = append(b.text, `{"left":`...)
	b.node(t, n.Left)
	b.text = append(b.text, `,"right":`...)
	b.node(t, n.Right)
	b.text = fmt.Appendf(b.text, `,"split":{"border":%s,"float_feature_index":%d,"split_index":%d,"split_type":"FloatFeature"}}`,
		strconv.FormatFloat(float64(borders[place]), 'g', -1, 64), n.Feature, b.first[n.Feature]+place)
}

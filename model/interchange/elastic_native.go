package interchange

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/strictjson"
	"github.com/listwise/listwise/internal/suggest"
	"github.com/listwise/listwise/model"
)

// elasticNative is the body of the request PUT _ml/trained_models/ID to Elasticsearch's own learning to
// rank, which needs no plugin. It computes in double. A feature is the score of a query; a document that
// the query does not match lacks the feature. The definition is compressed, as eland writes it.
var elasticNative = format{name: "elasticsearch-native", title: "Elasticsearch without a plugin, _ml/trained_models", write: writeElasticNative}

// NeedsExtractors reports whether a format needs WriteOptions.Extractors.
func NeedsExtractors(format string) bool { return format == elasticNative.name }

// Extractor computes a feature in Elasticsearch.
type Extractor struct {
	Name string           // of the feature
	text strictjson.Value // {"query_extractor": {…}}
}

// ReadExtractors reads a JSON list of extractors, or an object that has the list, such as eland's
// LTRModelConfig.to_dict() returns. file is the name of the file in errors. If the content is invalid,
// the error is a *model.FileError.
func ReadExtractors(file string, data []byte) ([]Extractor, error) {
	list, err := readExtractors(data)
	if err != nil {
		return nil, located(file, data, err)
	}
	return list, nil
}

func readExtractors(data []byte) (_ []Extractor, err error) {
	defer catch(&err)
	if err := strictjson.Check(data); err != nil {
		if at, plain := strictjson.Plain(err); at >= 0 {
			err = &strictjson.Error{At: at, Err: errors.New(plain.Error() + ", expected a JSON list of extractors")}
		}
		return nil, err
	}
	v := strictjson.Whole(data)
	for _, key := range []string{"learning_to_rank", "feature_extractors"} {
		if v.Text[0] == '{' {
			o := must(objectOf(v, "the extractors"))
			if inner := member(o, key); inner.Text != nil {
				v = inner
			}
		}
	}
	list := must(elementsOf(v, "the extractors"))
	var extractors []Extractor
	for i, e := range list {
		name := must(extractorName(e, fmt.Sprintf("extractor %d", i+1)))
		if slices.ContainsFunc(extractors, func(e Extractor) bool { return e.Name == name }) {
			return nil, wrong(e, "found a second extractor of the feature %q", name)
		}
		extractors = append(extractors, Extractor{name, e})
	}
	return extractors, nil
}

// extractorName checks an extractor as Elasticsearch does, and returns the name of its feature.
func extractorName(v strictjson.Value, what string) (_ string, err error) {
	defer catch(&err)
	o := must(objectOf(v, what))
	if len(o) != 1 || o[0].Key != "query_extractor" {
		return "", wrong(v, `found %s as %s, expected {"query_extractor": {"feature_name": …, "query": {…}}}`, shown(v), what)
	}
	inner := must(objectOf(o[0].Value, "the query_extractor of "+what))
	known := []string{"feature_name", "query", "default_score"}
	for _, m := range inner {
		if !slices.Contains(known, m.Key) {
			return "", wrong(m.Value, "found %q in %s%s", m.Key, what, suggest.Or(m.Key, known, ", expected "+strings.Join(known, ", ")))
		}
	}
	_ = must(objectOf(member(inner, "query"), "the query of "+what))
	if score := member(inner, "default_score"); score.Text != nil {
		if s := must(numberOf(score, "the default_score of "+what)); s < 0 {
			return "", wrong(score, "found %s as the default_score of %s, expected at least 0", shown(score), what)
		}
	}
	return textOf(member(inner, "feature_name"), "the feature_name of "+what)
}

func writeElasticNative(w io.Writer, m *model.Model, o WriteOptions) (_ []string, err error) {
	defer catch(&err)
	if o.Scores == LogisticScores {
		return nil, errors.New("found logistic scores, expected raw or shifted ones: Elasticsearch's logistic_regression returns a class and no score")
	}
	e, err := treesOf(m)
	if err != nil {
		return nil, fmt.Errorf("%w; train trees, such as lambdamart, or use the plugin: --to elasticsearch", err)
	}
	check(e.needThresholds())
	if o.Scores == ShiftedScores {
		e.shift()
	}
	names := must(engineNames(m, o))
	listed, notes := o.listed(e.used())
	extractors := must(extractorsOf(names, listed, o.Extractors))
	definition := nativeDefinition(e, names, listed)
	var text bytes.Buffer
	text.WriteString(`{"inference_config":{"learning_to_rank":{"feature_extractors":[`)
	for i, x := range extractors {
		if i > 0 {
			text.WriteByte(',')
		}
		strictjson.Compact(&text, x.text)
	}
	fmt.Fprintf(&text, `]}},"compressed_definition":"%s"}`, must(compressed(definition)))
	if e.constant+e.least() < 0 {
		notes = append(notes, "scores may be negative; Elasticsearch from 8.19 on adds a constant to prevent it, older versions need --scores shift")
	}
	if m.Missing != dataset.MissingKeep {
		notes = append(notes, "a document that the query of a feature does not match counts as 0 in that feature, as in training")
	}
	return notes, strictjson.Indent(w, text.Bytes())
}

// extractorsOf returns the extractors of the listed features, in order. It returns an error if a listed
// feature has no extractor, or an extractor no feature.
func extractorsOf(names []string, listed []bool, extractors []Extractor) ([]Extractor, error) {
	if extractors == nil {
		return nil, errors.New(`found no extractors, expected those of the features (--extractors FILE, a list of {"query_extractor": {"feature_name": …, "query": {…}}})`)
	}
	var have []string
	for _, x := range extractors {
		have = append(have, x.Name)
	}
	var list []Extractor
	for _, name := range only(names, listed) {
		i := slices.Index(have, name)
		if i < 0 {
			return nil, fmt.Errorf("found no extractor of the feature %q%s", name, suggest.Or(name, have, ", expected one of each feature that the model uses"))
		}
		list = append(list, extractors[i])
	}
	for _, name := range have {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("found an extractor of %q, which is no feature of the model%s", name, suggest.Or(name, names, ""))
		}
	}
	return list, nil
}

// nativeDefinition returns the JSON of an ensemble of trees. x ≤ threshold goes left.
func nativeDefinition(e *ensemble, names []string, listed []bool) []byte {
	at, features := make([]int, len(names)), []byte{'['} // at: the index among the listed features
	n := 0
	for j, name := range names {
		if at[j] = n; listed[j] {
			features = append(separate(features, n), quoted(name)...)
			n++
		}
	}
	features = append(features, ']')
	trees := e.trees
	if e.constant != 0 || len(trees) == 0 {
		trees = slices.Insert(slices.Clone(trees), 0, tree{values: []float64{e.constant}})
	}
	text := fmt.Appendf(nil, `{"trained_model":{"ensemble":{"feature_names":%s,"trained_models":[`, features)
	for k, t := range trees {
		text = fmt.Appendf(separate(text, k), `{"tree":{"feature_names":%s,"tree_structure":[`, features)
		text = append(nativeNodes(text, t, at), `],"target_type":"regression"}}`...)
	}
	return append(text, `],"aggregate_output":{"weighted_sum":{}},"target_type":"regression"}}}`...)
}

// nativeNodes appends the nodes of a tree. The index of a node is its place in the list.
func nativeNodes(text []byte, t tree, at []int) []byte {
	queue := []int{t.root()}
	for i := 0; i < len(queue); i++ {
		text = separate(text, i)
		if queue[i] < 0 {
			text = fmt.Appendf(text, `{"node_index":%d,"leaf_value":%s}`, i, decimal(t.values[-1-queue[i]]))
			continue
		}
		n := t.nodes[queue[i]]
		text = fmt.Appendf(text, `{"node_index":%d,"decision_type":"lte","left_child":%d,"right_child":%d,"split_feature":%d,"threshold":%s,"default_left":%t}`,
			i, len(queue), len(queue)+1, at[n.Feature], decimal(doubleThreshold(n.Threshold)), n.MissingLeft)
		queue = append(queue, n.Left, n.Right)
	}
	return text
}

// compressed returns the base64 text of data compressed by gzip.
func compressed(data []byte) (_ string, err error) {
	defer catch(&err)
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_ = must(z.Write(data))
	check(z.Close())
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}

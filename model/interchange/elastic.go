package interchange

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/internal/strictjson"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// elasticsearch is the body of the request POST _ltr/_featureset/NAME/_createmodel to the
// learning-to-rank plugins of Elasticsearch and OpenSearch, which compute in float32. Linear models
// become model/linear, trees become model/xgboost+json, and other models become model/ranklib. Missing
// features count as 0.
var elasticsearch = format{
	name: "elasticsearch", title: "Elasticsearch LTR",
	is: isElastic, read: readElastic, write: writeElastic,
}

// opensearch is the same format as elasticsearch, for users who look for the name of OpenSearch.
var opensearch = format{name: "opensearch", title: "OpenSearch LTR", write: writeElastic}

// elasticRankLib is a model/ranklib, for any model that RankLib's text format can express.
var elasticRankLib = format{name: "elasticsearch-ranklib", title: "Elasticsearch and OpenSearch LTR, model/ranklib", write: writeElasticRankLib}

// elasticRaw is a model/xgboost+json+raw, which newer versions of the plugins support.
var elasticRaw = format{name: "elasticsearch-xgboost-raw", title: "Elasticsearch and OpenSearch LTR, model/xgboost+json+raw", write: writeElasticRaw}

// The types of models.
const (
	elasticLinear      = "model/linear"
	elasticRankLibType = "model/ranklib"
	elasticXGBoost     = "model/xgboost+json"
	elasticXGBoostRaw  = "model/xgboost+json+raw"
)

// isElastic recognises a model by its type. In the answer to a GET a long feature set may be before that.
func isElastic(head []byte) bool {
	stored := bytes.Contains(head, []byte(`"_source"`)) && bytes.Contains(head, []byte(`"feature_set"`))
	return bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) && (stored || bytes.Contains(head, []byte(`"model/`)))
}

// readElastic reads the body of the request that creates a model. It also reads the responses to
// GET requests. The response for one model contains the body under "_source". The response for all
// models contains a list of models under "hits".
func readElastic(data []byte, o ReadOptions) (_ *model.Model, _ []string, err error) {
	defer catch(&err)
	check(strictjson.Check(data))
	inner := must(elasticModel(strictjson.Whole(data), o.Name))
	kind := must(textOf(member(inner, "type"), `"type"`))
	definition := member(inner, "definition")
	var m *model.Model
	var notes []string
	switch kind {
	case elasticLinear:
		m, notes, err = readElasticLinear(definition)
	case elasticRankLibType:
		m, notes, err = readElasticRankLib(definition, o)
	case elasticXGBoost:
		m, notes, err = readElasticXGBoost(definition, readXGBoostDump, o)
	case elasticXGBoostRaw:
		m, notes, err = readElasticXGBoost(definition, readXGBoost, o)
	default:
		return nil, nil, wrong(member(inner, "type"), "found the type %q, expected %s, %s, %s or %s", kind, elasticLinear, elasticRankLibType, elasticXGBoost, elasticXGBoostRaw)
	}
	if err != nil {
		return nil, nil, err
	}
	norms := must(readElasticNorms(member(inner, "feature_normalizers"), m))
	if err := standardised(m, norms); err != nil {
		return nil, nil, wrong(member(inner, "feature_normalizers"), "%w", err)
	}
	return m, notes, nil
}

// elasticModel returns the object with the keys "type" and "definition", which may be nested in the
// objects "_source" and "model". name selects a model if v contains several.
func elasticModel(v strictjson.Value, name string) (_ strictjson.Object, err error) {
	defer catch(&err)
	o := must(objectOf(v, "the body"))
	if hits := member(o, "hits"); hits.Text != nil {
		o = must(elasticHit(hits, name))
	}
	for _, key := range []string{"_source", "model", "model"} {
		inner := member(o, key)
		if inner.Text == nil {
			continue
		}
		o = must(objectOf(inner, fmt.Sprintf("%q", key)))
	}
	if member(o, "definition").Text == nil {
		return nil, wrong(v, `found no "definition", expected {"model": {"name": …, "model": {"type": …, "definition": …}}}`)
	}
	return o, nil
}

// elasticHit returns the model with the given name from a response with several models.
func elasticHit(v strictjson.Value, name string) (_ strictjson.Object, err error) {
	defer catch(&err)
	o := must(objectOf(v, `"hits"`))
	list := must(elementsOf(member(o, "hits"), `"hits"`))
	one := must(modelNamed(v, list, name, func(hit strictjson.Value) string {
		o, err := objectOf(hit, "")
		if err != nil {
			return ""
		}
		return nameIn(member(o, "_source"))
	}))
	return objectOf(one, "the model")
}

// readElasticLinear reads a JSON object with the weights by feature name. The plugin returns this
// object inside a string, which readElasticLinear also accepts.
func readElasticLinear(v strictjson.Value) (_ *model.Model, _ []string, err error) {
	defer catch(&err)
	if v.Text[0] == '"' {
		text := must(textOf(v, `"definition"`))
		if err := strictjson.Check([]byte(text)); err != nil {
			return nil, nil, wrong(v, `found a "definition" that is no JSON: %v`, err)
		}
		v = strictjson.Value{Text: strictjson.Whole([]byte(text)).Text, At: v.At}
	}
	o := must(objectOf(v, `"definition"`))
	var sum linear
	for _, pair := range o {
		w, err := javaNumberOf(pair.Value, fmt.Sprintf("the weight of %q", pair.Key))
		if err != nil || pair.Value.Text[0] == '"' {
			return nil, nil, wrong(v, "found %s as the weight of %q, expected a number within the range of float32", shown(pair.Value), pair.Key)
		}
		sum.names, sum.weights = append(sum.names, pair.Key), append(sum.weights, float64(w))
	}
	m, err := sum.model("elasticsearch", map[string]any{"type": elasticLinear})
	if err != nil {
		return nil, nil, wrong(v, "%w", err)
	}
	return m, []string{"features are in the order of the weights, and missing values count as 0, as in Elasticsearch"}, nil
}

func readElasticRankLib(v strictjson.Value, o ReadOptions) (_ *model.Model, _ []string, err error) {
	defer catch(&err)
	text := must(textOf(v, `"definition"`))
	m, notes, err := readRankLib([]byte(text), o)
	if err != nil {
		return nil, nil, wrong(v, "definition: %w", err)
	}
	return m, notes, nil
}

// readElasticXGBoost reads an XGBoost definition, which may be inside a string.
func readElasticXGBoost(v strictjson.Value, read func([]byte, ReadOptions) (*model.Model, []string, error), o ReadOptions) (_ *model.Model, _ []string, err error) {
	defer catch(&err)
	text := v.Text
	if text[0] == '"' {
		inner := must(textOf(v, `"definition"`))
		text = []byte(inner)
	}
	m, notes, err := read(text, o)
	if err != nil { // a line number would refer to the definition
		return nil, nil, wrong(v, "definition: %w", model.Locate("definition", text, err).Err)
	}
	return m, notes, nil
}

// readElasticNorms reads the normalisers of the model's features, by feature name.
func readElasticNorms(v strictjson.Value, m *model.Model) (_ map[int]transform.Standard, err error) {
	defer catch(&err)
	if v.Text == nil {
		return nil, nil
	}
	o := must(objectOf(v, `"feature_normalizers"`))
	index := map[string]int{}
	for j, name := range m.FeatureNames {
		index[name] = j
	}
	norms := map[int]transform.Standard{}
	for _, pair := range o {
		j, ok := index[pair.Key]
		if !ok {
			return nil, wrong(pair.Value, "found a normalizer of the feature %q, which the model does not name", pair.Key)
		}
		norms[j] = must(readElasticNorm(pair))
	}
	return norms, nil
}

func readElasticNorm(pair strictjson.Member) (norm transform.Standard, err error) {
	defer catch(&err)
	o := must(objectOf(pair.Value, fmt.Sprintf("the normalizer of %q", pair.Key)))
	keys := map[string][2]string{"standard": {"mean", "standard_deviation"}, "min_max": {"minimum", "maximum"}}
	if len(o) != 1 || keys[o[0].Key][0] == "" {
		return norm, wrong(pair.Value, `found the normalizer %s of %q, expected "standard" or "min_max"`, shown(pair.Value), pair.Key)
	}
	params := must(objectOf(o[0].Value, fmt.Sprintf("the normalizer of %q", pair.Key)))
	return readNorm(pair.Value, params, pair.Key, keys[o[0].Key])
}

func writeElastic(w io.Writer, m *model.Model, o WriteOptions) (_ []string, err error) {
	defer catch(&err)
	switch m.Scorer.(type) {
	case *scorer.Trees, *scorer.Stumps:
		return writeElasticXGBoost(w, m, o)
	case scorer.Network:
		return writeElasticRankLib(w, m, o)
	}
	if o.Scores != RawScores {
		return writeElasticRankLib(w, m, o)
	}
	rest, norms := must2(divideStandards(m))
	sum, err := linearOf(rest)
	if err != nil {
		if _, network := m.Scorer.(*scorer.Layers); network {
			return writeElasticRankLib(w, m, o)
		}
		return nil, err
	}
	names := must(engineNames(m, o))
	used := make([]bool, len(names))
	for j, weight := range sum.weights {
		f := must(single("the weight", weight))
		used[j] = f != 0
	}
	listed, notes := o.listed(used)
	definition := []byte{'{'}
	for j, weight := range sum.weights {
		if !listed[j] {
			delete(norms, j)
			continue
		}
		if len(definition) > 1 {
			definition = append(definition, ',')
		}
		definition = fmt.Appendf(definition, "%s:%s", quoted(names[j]), decimal32(float32(weight)))
	}
	notes = slices.Concat(notes, sum.notes, negative(m, o), []string{`the feature set must have all features by these names: one that is unknown is an error there`})
	if sum.constant != 0 {
		notes = append(notes, fmt.Sprintf("the constant %v, which is added to all scores and changes no order, is left out: model/linear has none", sum.constant))
	}
	return notes, writeElasticBody(w, o, names, norms, elasticLinear, append(definition, '}'))
}

func writeElasticXGBoost(w io.Writer, m *model.Model, o WriteOptions) (_ []string, err error) {
	defer catch(&err)
	definition, notes := must2(xgboostDefinition(m, o))
	notes = append(append(notes, negative(m, o)...), "the feature set must have the features that the trees use by these names; versions of the plugin without missing values take these as 0")
	return notes, writeElasticBody(w, o, nil, nil, elasticXGBoost, quoted(string(definition)))
}

func writeElasticRaw(w io.Writer, m *model.Model, o WriteOptions) (_ []string, err error) {
	defer catch(&err)
	f, notes := must2(xgbForestOf(m, o))
	check(f.needThresholds())
	names := must(engineNames(m, o))
	listed, of := o.listed(f.used())
	f.names, f.typed = names, true
	f.list(listed)
	var definition bytes.Buffer
	check(f.write(&definition, o.Scores))
	notes = slices.Concat(notes, of, negative(m, o), []string{"the feature set must have these features by these names"})
	return notes, writeElasticBody(w, o, nil, nil, elasticXGBoostRaw, quoted(definition.String()))
}

func writeElasticRankLib(w io.Writer, m *model.Model, o WriteOptions) (_ []string, err error) {
	defer catch(&err)
	var text bytes.Buffer
	notes := must(writeRankLib(&text, m, o))
	notes = append(append(notes, negative(m, o)...), fmt.Sprintf("the feature set must have exactly these %d features in the order of the model, also those without influence: model/ranklib knows them by their place", m.Scorer.NumFeatures()))
	return notes, writeElasticBody(w, o, nil, nil, elasticRankLibType, quoted(text.String()))
}

// negative returns a note if a score may be negative. The engine adds scores of rescored documents to
// those of the query, and ranks all documents by the sums.
func negative(m *model.Model, o WriteOptions) []string {
	remedy := "logistic"
	if e, err := treesOf(m); err == nil {
		if e.constant+e.least() >= 0 {
			return nil
		}
		remedy = "shift"
	} else if _, err := linearOf(m); err != nil {
		return nil // a RankNet, which is logistic
	}
	if o.Scores != RawScores {
		return nil
	}
	return []string{fmt.Sprintf("scores may be negative, and the engine may rank such a document below others that are not rescored (--scores %s)", remedy)}
}

func writeElasticBody(w io.Writer, o WriteOptions, names []string, norms map[int]transform.Standard, kind string, definition []byte) error {
	text := fmt.Appendf(nil, `{"model":{"name":%s,"model":{"type":%s,"definition":%s`, quoted(o.Name), quoted(kind), definition)
	list := []byte{'{'}
	for j, name := range names {
		n, ok := norms[j]
		if !ok {
			continue
		}
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = fmt.Appendf(list, `%s:{"standard":{"mean":%s,"standard_deviation":%s}}`, quoted(name), decimal32(float32(n.Mean)), decimal32(float32(n.Deviation)))
	}
	if len(list) > 1 {
		text = fmt.Appendf(text, `,"feature_normalizers":%s}`, list)
	}
	return strictjson.Indent(w, append(text, "}}}"...))
}

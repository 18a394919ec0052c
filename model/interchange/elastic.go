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

// elasticsearch is the body of POST _ltr/_featureset/NAME/_createmodel of the learning-to-rank
// plugins of Elasticsearch and OpenSearch, which compute in float32. Linear models become
// model/linear, trees model/xgboost+json, and other models model/ranklib. Missing features are 0.
var elasticsearch = format{
	name: "elasticsearch", title: "Elasticsearch LTR",
	is: isElastic, read: readElastic, write: writeElastic,
}

// opensearch is the same under its own name.
var opensearch = format{name: "opensearch", title: "OpenSearch LTR", write: writeElastic}

// elasticRankLib is the type model/ranklib for any model that RankLib's text can express.
var elasticRankLib = format{name: "elasticsearch-ranklib", title: "Elasticsearch and OpenSearch LTR, model/ranklib", write: writeElasticRankLib}

// elasticRaw is the type model/xgboost+json+raw, which newer versions of the plugins have.
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

// readElastic reads what is posted, or what a GET of the model returns within "_source", or of all
// models within "hits".
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

// elasticModel finds the object with "type" and "definition" within the objects "_source" and
// "model".
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

// elasticHit returns a model among what a search answers.
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

// readElasticLinear reads weights by the names of features, in an object or, as the plugin
// returns it, in a string that holds one.
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

// readElasticXGBoost reads a definition of XGBoost's, in itself or in a string.
func readElasticXGBoost(v strictjson.Value, read func([]byte, ReadOptions) (*model.Model, []string, error), o ReadOptions) (_ *model.Model, _ []string, err error) {
	defer catch(&err)
	text := v.Text
	if text[0] == '"' {
		inner := must(textOf(v, `"definition"`))
		text = []byte(inner)
	}
	m, notes, err := read(text, o)
	if err != nil { // a line would be that of the definition
		return nil, nil, wrong(v, "definition: %w", model.Locate("definition", text, err).Err)
	}
	return m, notes, nil
}

// readElasticNorms reads normalisers by the names of the model's features.
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
	definition := []byte{'{'}
	for j, weight := range sum.weights {
		f := must(single("the weight", weight))
		definition = separate(definition, j)
		definition = fmt.Appendf(definition, "%s:%s", quoted(names[j]), decimal32(f))
	}
	notes := slices.Concat(sum.notes, []string{`the feature set must have all features by these names: one that is unknown is an error there`})
	if sum.constant != 0 {
		notes = append(notes, fmt.Sprintf("the constant %v, which is added to all scores and changes no order, is left out: model/linear has none", sum.constant))
	}
	return notes, writeElasticBody(w, o, names, norms, elasticLinear, append(definition, '}'))
}

func writeElasticXGBoost(w io.Writer, m *model.Model, o WriteOptions) (_ []string, err error) {
	defer catch(&err)
	definition, notes := must2(xgboostDefinition(m, o))
	notes = append(notes, "the feature set must have the features that the trees use by these names; versions of the plugin without missing values take these as 0")
	return notes, writeElasticBody(w, o, nil, nil, elasticXGBoost, quoted(string(definition)))
}

func writeElasticRaw(w io.Writer, m *model.Model, o WriteOptions) (_ []string, err error) {
	defer catch(&err)
	f, notes := must2(xgbForestOf(m, o))
	check(f.needThresholds())
	f.names = must(engineNames(m, o))
	f.typed = true
	var definition bytes.Buffer
	check(f.write(&definition, o.Scores))
	notes = append(notes, "the feature set must have all features of the model by these names")
	return notes, writeElasticBody(w, o, nil, nil, elasticXGBoostRaw, quoted(definition.String()))
}

func writeElasticRankLib(w io.Writer, m *model.Model, o WriteOptions) (_ []string, err error) {
	defer catch(&err)
	var text bytes.Buffer
	notes := must(writeRankLib(&text, m, o))
	notes = append(notes, fmt.Sprintf("the feature set must have exactly these %d features in the order of the model: model/ranklib knows them by their place", m.Scorer.NumFeatures()))
	return notes, writeElasticBody(w, o, nil, nil, elasticRankLibType, quoted(text.String()))
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

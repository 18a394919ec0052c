package interchange

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// ranklib is RankLib's text format, which RankyMcRankFace and the type model/ranklib of Elasticsearch
// and OpenSearch also read. The first line names the ranker. RankLib has no missing values: features
// that a document lacks are 0.
var ranklib = format{
	name: "ranklib", title: "RankLib",
	is: isRankLib, read: readRankLib, write: writeRankLib,
}

// rankLibReaders are the readers by the ranker's name in the first line, in lower case.
var rankLibReaders = map[string]func(*rankLibText) (*model.Model, error){
	"lambdamart":        readRankLibTrees,
	"mart":              readRankLibTrees,
	"random forests":    readRankLibTrees,
	"coordinate ascent": readRankLibWeights,
	"linear regression": readRankLibWeights,
	"adarank":           readRankLibWeights,
	"rankboost":         readRankLibStumps,
	"ranknet":           readRankLibNetwork,
	"lambdarank":        readRankLibNetwork,
	"listnet":           readRankLibNetwork,
}

// rankLibText contains the lines of a RankLib file without its comments.
type rankLibText struct {
	ranker string // in lower case
	lines  []textLine
	names  []string // from this module's comments; nil if there are none
	// features is the number of features that a comment states, or 0. Trees do not show unused
	// features.
	features int

	trees, bags int // as stated in comments; 0 if not stated
}

// textLine is a line with its number in the file, counted from 1.
type textLine struct {
	number int
	text   string
}

func isRankLib(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	rest, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("##"))
	return ok && rankLibReaders[strings.ToLower(string(bytes.TrimSpace(rest)))] != nil
}

func readRankLib(data []byte, _ ReadOptions) (_ *model.Model, _ []string, err error) {
	defer catch(&err)
	t := must(splitRankLib(string(data)))
	m := must(rankLibReaders[t.ranker](t))
	if t.names != nil && len(t.names) != m.Scorer.NumFeatures() {
		return nil, nil, fmt.Errorf("found the names of %d features, expected those of %d", len(t.names), m.Scorer.NumFeatures())
	}
	m.FeatureNames = t.names
	notes := []string{"missing values count as 0, as in RankLib"}
	if n := m.Scorer.NumFeatures(); t.features == 0 {
		notes = append(notes, fmt.Sprintf("the file does not tell how many features there are, and uses none beyond %d: import --features gives more", n))
	}
	return m, notes, nil
}

// featureComment is the prefix of the comments in which this module stores feature names, such as
// ## Feature 3 = "bm25". RankLib has no feature names.
const featureComment = "## Feature "

// countComment is the prefix of the comment with the number of features. This module writes the
// comment, and RankLib writes it for networks.
const countComment = "## No. of features = "

// The prefixes of the comments with the number of trees per ensemble, and with the number of ensembles
// in a forest. An ensemble may have fewer trees than stated, since early stopping removes some.
const (
	treesComment = "## No. of trees = "
	bagsComment  = "## No. of bags = "
)

func splitRankLib(text string) (*rankLibText, error) {
	t := &rankLibText{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		switch {
		case number == 1:
			rest, ok := strings.CutPrefix(line, "##")
			t.ranker = strings.ToLower(strings.TrimSpace(rest))
			if !ok || rankLibReaders[t.ranker] == nil {
				return nil, errorAt(1, `found %.40q, expected "## " and the name of a ranker of RankLib: LambdaMART, MART, Random Forests, Coordinate Ascent, Linear Regression, AdaRank, RankBoost, RankNet, LambdaRank or ListNet`, line)
			}
		case strings.HasPrefix(line, countComment):
			if n, err := strconv.Atoi(strings.TrimPrefix(line, countComment)); err == nil && numbered(n) == nil {
				t.features = n
			}
		case strings.HasPrefix(line, treesComment):
			t.trees, _ = strconv.Atoi(strings.TrimPrefix(line, treesComment))
		case strings.HasPrefix(line, bagsComment):
			t.bags, _ = strconv.Atoi(strings.TrimPrefix(line, bagsComment))
		case strings.HasPrefix(line, featureComment):
			t.takeName(strings.TrimPrefix(line, featureComment))
		case line != "" && line[0] != '#':
			t.lines = append(t.lines, textLine{number, line})
		}
	}
	if len(t.lines) == 0 {
		return nil, errorAt(max(number, 1), "found nothing but comments, expected a model of RankLib's %s", t.ranker)
	}
	return t, nil
}

// takeName adds the feature name from a comment with the prefix featureComment. It ignores other
// comments.
func (t *rankLibText) takeName(text string) {
	number, quoted, _ := strings.Cut(text, " = ")
	name, err := strconv.Unquote(quoted)
	if j, errNumber := strconv.Atoi(number); err == nil && errNumber == nil && j == len(t.names)+1 {
		t.names = append(t.names, name)
	}
}

// origin returns hyperparameters for an imported model: the name of RankLib's ranker.
func (t *rankLibText) origin() map[string]any { return map[string]any{"ranker": t.ranker} }

// one returns the single line of a model, and the line's number. More than one line is an error.
func (t *rankLibText) one() (string, int, error) {
	if len(t.lines) > 1 {
		return "", 0, errorAt(t.lines[1].number, "found a second line %.40q, expected the whole %s in one line", t.lines[1].text, t.ranker)
	}
	text := t.lines[0].text
	if i := strings.LastIndexByte(text, '#'); i >= 0 {
		text = text[:i]
	}
	return text, t.lines[0].number, nil
}

// readRankLibWeights reads pairs FEATURE:WEIGHT. Several weights of a feature are added. In Linear
// Regression, feature 0 is the constant. RankLib's writer wrongly stores the weight of the first
// feature as the constant. RankLib's reader uses this value, and so does readRankLibWeights.
func readRankLibWeights(t *rankLibText) (_ *model.Model, err error) {
	defer catch(&err)
	text, line := must2(t.one())
	var sum linear
	for _, pair := range strings.Fields(text) {
		key, value, _ := strings.Cut(pair, ":")
		feature, err := strconv.Atoi(key)
		if err != nil {
			return nil, errorAt(line, "found %.40q, expected FEATURE:WEIGHT", pair)
		}
		w, err := javaFloat(value, 64)
		if err != nil {
			return nil, errorAt(line, "found the weight %.40q of feature %d, expected a finite number", value, feature)
		}
		if feature == 0 && t.ranker == "linear regression" {
			sum.constant = w
			continue
		}
		if err := sum.add(feature, w); err != nil {
			return nil, errorAt(line, "%w", err)
		}
	}
	m, err := sum.model("ranklib", t.origin())
	if err != nil {
		return nil, errorAt(line, "%w", err)
	}
	return m, nil
}

// readRankLibStumps reads triples FEATURE:THRESHOLD:WEIGHT. A document's score includes the weight if
// the feature is above the threshold. The threshold is a float64.
func readRankLibStumps(t *rankLibText) (_ *model.Model, err error) {
	defer catch(&err)
	text, line := must2(t.one())
	var stumps []scorer.Stump
	var weights []float64
	features, constant := t.features, 0.0
	for _, triple := range strings.Fields(text) {
		parts := strings.Split(triple, ":")
		if len(parts) != 3 {
			return nil, errorAt(line, "found %.40q, expected FEATURE:THRESHOLD:WEIGHT", triple)
		}
		feature, err := featureNumber(parts[0])
		if err != nil {
			return nil, errorAt(line, "%w", err)
		}
		threshold, errThreshold := javaFloat(parts[1], 64)
		w, errWeight := javaFloat(parts[2], 64)
		if errThreshold != nil || errWeight != nil {
			return nil, errorAt(line, "found %.40q, expected a finite threshold and a finite weight", triple)
		}
		features = max(features, feature)
		least := below32(threshold)
		switch {
		case math.IsInf(float64(least), -1): // every value is above the threshold
			constant += w
		default:
			stumps, weights = append(stumps, scorer.Stump{Feature: feature - 1, Threshold: least}), append(weights, w)
		}
	}
	if len(strings.Fields(text)) == 0 {
		return nil, errorAt(line, "found no weak rankers, expected FEATURE:THRESHOLD:WEIGHT")
	}
	m, err := stumpsModel(features, stumps, weights, constant, t.origin())
	if err != nil {
		return nil, errorAt(line, "%w", err)
	}
	return m, nil
}

// stumpsModel returns a model of stumps or, with a constant, of trees.
func stumpsModel(features int, stumps []scorer.Stump, weights []float64, constant float64, origin map[string]any) (_ *model.Model, err error) {
	defer catch(&err)
	stumps, weights = scorer.MergeStumps(stumps, weights)
	s := must(scorer.NewStumps(features, stumps))
	m := imported("ranklib", origin, s, weights)
	m.Missing = dataset.MissingZero
	if constant == 0 {
		return m, nil
	}
	e := must(treesOf(m))
	e.constant += constant
	m = must(e.model("ranklib", origin))
	m.Missing = dataset.MissingZero
	return m, nil
}

// javaFloat reads a finite decimal number as Java's Float.parseFloat (bits 32) or Double.parseDouble
// (bits 64) does. It does not accept hexadecimal numbers.
func javaFloat(text string, bits int) (float64, error) {
	text = strings.TrimSpace(text)
	if n := len(text); n > 1 && strings.IndexByte("fFdD", text[n-1]) >= 0 {
		text = text[:n-1]
	}
	v, err := strconv.ParseFloat(text, bits)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || strings.ContainsAny(text, "xX_") {
		return 0, fmt.Errorf("found %.40q, expected a finite number", text)
	}
	return v, nil
}

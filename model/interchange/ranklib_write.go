package interchange

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// writeRankLib writes trees as LambdaMART, stumps as RankBoost, and networks as RankNet. It writes
// linear models as Coordinate Ascent or, if there is a constant, as Linear Regression.
func writeRankLib(w io.Writer, m *model.Model, o WriteOptions) ([]string, error) {
	b := rankLibWriter{features: m.Scorer.NumFeatures(), names: m.FeatureNames}
	var err error
	switch s := m.Scorer.(type) {
	case *scorer.Stumps:
		if o.Scores == RawScores && s.NumParams() > 0 && m.Transforms == nil {
			err = b.stumps(m, s)
			break
		}
		err = b.ensemble(m, o.Scores)
	case *scorer.Trees:
		err = b.ensemble(m, o.Scores)
	default:
		err = b.sums(m, o.Scores)
	}
	if err != nil {
		return nil, err
	}
	_, err = w.Write(b.text)
	return b.notes, err
}

// sums writes a weighted sum of features or a network.
func (b *rankLibWriter) sums(m *model.Model, scores Scores) error {
	if scores == ShiftedScores {
		return errNoLeastScore
	}
	sum, err := linearOf(m)
	if err != nil || scores == LogisticScores {
		return b.network(m, scores)
	}
	b.notes = append(b.notes, sum.notes...)
	if sum.constant == 0 {
		b.head("Coordinate Ascent")
	} else {
		b.head("Linear Regression")
		b.printf("0:%s ", decimal(sum.constant))
	}
	for j, w := range sum.weights {
		if j > 0 {
			b.printf(" ")
		}
		b.printf("%d:%s", j+1, decimal(w))
	}
	b.printf("\n")
	return nil
}

// errNoLeastScore is the error for shifting the scores of a model without a least score.
var errNoLeastScore = fmt.Errorf("found scores to be shifted, expected those of trees or stumps: weighted sums of features have no least value; logistic scores have")

// rankLibWriter collects the text of a file.
type rankLibWriter struct {
	text     []byte
	features int
	names    []string
	notes    []string
}

func (b *rankLibWriter) printf(text string, args ...any) {
	b.text = fmt.Appendf(b.text, text, args...)
}

// head writes the comments at the head of the file.
func (b *rankLibWriter) head(ranker string) {
	b.printf("## %s\n", ranker)
	b.printf("%s%d\n", countComment, b.features)
	for j, name := range b.names {
		b.printf("%s%d = %s\n", featureComment, j+1, strconv.QuoteToASCII(name))
	}
}

func (b *rankLibWriter) stumps(m *model.Model, s *scorer.Stumps) error {
	if err := checkOneDocument(m); err != nil {
		return err
	}
	b.head("RankBoost")
	for i, stump := range s.Stumps() {
		if i > 0 {
			b.printf(" ")
		}
		b.printf("%d:%s:%s", stump.Feature+1, decimal(float64(stump.Threshold)), decimal(m.Params[i]))
	}
	b.printf("\n")
	return nil
}

// ensemble writes trees. The values of leaves are rounded to float32.
func (b *rankLibWriter) ensemble(m *model.Model, scores Scores) (err error) {
	defer catch(&err)
	if scores == LogisticScores {
		return fmt.Errorf("found logistic scores of trees, expected raw or shifted ones: RankLib has no logistic function of trees")
	}
	e := must(treesOf(m))
	check(e.needThresholds())
	check(e.needZeroForMissing())
	if scores == ShiftedScores {
		e.shiftSingle()
	}
	if e.constant != 0 || len(e.trees) == 0 {
		e.trees = slices.Insert(e.trees, 0, tree{values: []float64{e.constant}})
	}
	b.head("LambdaMART")
	b.printf("## No. of trees = %d\n\n<ensemble>\n", len(e.trees))
	for k, t := range e.trees {
		b.printf("\t<tree id=\"%d\" weight=\"1.0\">\n\t\t<split>\n", k+1)
		if err := b.tree(t); err != nil {
			return fmt.Errorf("tree %d: %w", k+1, err)
		}
		b.printf("\t\t</split>\n\t</tree>\n")
	}
	b.printf("</ensemble>\n")
	return nil
}

// tree writes the content of the outermost split. It does not use recursion, since trees may be deep.
func (b *rankLibWriter) tree(t tree) (err error) {
	defer catch(&err)
	type step struct {
		node int
		text string // instead of a node
	}
	pending := []step{{node: t.root()}}
	for len(pending) > 0 {
		s := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		switch {
		case s.text != "":
			b.printf("%s", s.text)
		case s.node < 0:
			v := must(single("the value", t.values[-1-s.node]))
			b.printf("<output> %s </output>\n", decimal32(v))
		default:
			n := t.nodes[s.node]
			b.printf("<feature> %d </feature>\n<threshold> %s </threshold>\n<split pos=\"left\">\n", n.Feature+1, decimal32(n.Threshold))
			pending = append(pending, step{text: "</split>\n"}, step{node: n.Right}, step{text: "</split>\n<split pos=\"right\">\n"}, step{node: n.Left})
		}
	}
	return nil
}

// decimal returns the shortest decimal that reads back as v. decimal32 returns it for a float32.
func decimal(v float64) string   { return withPoint(strconv.FormatFloat(v, 'g', -1, 64)) }
func decimal32(v float32) string { return withPoint(strconv.FormatFloat(float64(v), 'g', -1, 32)) }

// withPoint adds ".0" to a whole number, so that all languages read it as a floating-point number.
func withPoint(text string) string {
	if strings.ContainsAny(text, ".eE") {
		return text
	}
	return text + ".0"
}

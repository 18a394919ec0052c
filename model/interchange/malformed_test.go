package interchange

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// lambdaMART is a small model of RankLib's; the lines are counted in the errors below.
const lambdaMART = `## LambdaMART
## No. of trees = 1

<ensemble>
<tree id="1" weight="0.1">
<split>
<feature> 2 </feature>
<threshold> 0.5 </threshold>
<split pos="left">
<output> -1.5 </output>
</split>
<split pos="right">
<output> 2.0 </output>
</split>
</split>
</tree>
</ensemble>
`

const rankNet = "## RankNet\n## Epochs = 1\n1 2\n1\n2\n0 0 1 2\n0 1 3 4\n0 2 5 6 7\n1 0 8\n1 1 9\n"

const solrLinear = `{
"class": "org.apache.solr.ltr.model.LinearModel",
"name": "m",
"features": [{"name": "a"}, {"name": "b", "norm": {"class": "org.apache.solr.ltr.norm.StandardNormalizer", "params": {"avg": "1", "std": "2"}}}],
"params": {"weights": {"a": 1.5, "b": "2f"}}
}`

const solrTreeText = `{
"class": "org.apache.solr.ltr.model.MultipleAdditiveTreesModel",
"features": [{"name": "a"}],
"params": {"trees": [{"weight": "1f", "root":
{"feature": "a", "threshold": "0.5f",
"left": {"value": "-100"},
"right": {"feature": "unknown", "threshold": "1", "left": {"value": 1}, "right": {"value": 2}}}}]}
}`

const solrNetwork = `{
"class": "org.apache.solr.ltr.model.NeuralNetworkModel",
"features": [{"name": "a"}, {"name": "b"}],
"params": {"layers": [
{"matrix": [[1.0, 2.0], [3.0, 4.0]], "bias": [5.0, 6.0], "activation": "leakyrelu"},
{"matrix": [[7.0, 8.0]], "bias": [9.0], "activation": "identity"}]}
}`

const elasticModelText = `{"model": {"name": "m", "model": {
"type": "model/linear",
"definition": {"a": 0.3, "b": 2},
"feature_normalizers": {"b": {"min_max": {"minimum": 1, "maximum": 3}}}
}}}`

const svmLight = `SVM-light Version V6.20
0 # kernel type
3 # kernel parameter -d 
1 # kernel parameter -g 
1 # kernel parameter -s 
1 # kernel parameter -r 
empty# kernel parameter -u 
3 # highest feature index 
10 # number of training documents 
3 # number of support vectors plus 1 
0.25 # threshold b, each following line is a SV (starting with alpha*y)
0.5 1:2 2:-1 #
-2 qid:7 2:1.5 #
`

const libLinear = "solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 2\nbias 2\nw\n0.5\n-1\n3\n"

const scikit = `{"coef_": [[1, -2]],
"intercept_": [0.5],
"feature_names_in_": ["a", "b"]}`

// Claim: the files that the other programs document are read, with the scores that follow from
// their rules.
func TestReadByHand(t *testing.T) {
	x := []float32{1, 2, 0.5, -1}
	for _, c := range []struct {
		name, text string
		features   int
		want       []float64
		names      string
	}{
		{"lambdamart", lambdaMART, 2, []float64{float64(float32(0.1)) * 2, float64(float32(0.1)) * -1.5}, ""},
		{"forests", strings.Replace(lambdaMART, "LambdaMART", "Random Forests", 1) + strings.Join(strings.Split(lambdaMART, "\n")[3:], "\n"), 2, []float64{float64(float32(0.1)) * 2, float64(float32(0.1)) * -1.5}, ""},
		{"coordinate ascent", "## Coordinate Ascent\n## Restart = 1\n1:0.5 2:2 2:1 # x", 2, []float64{6.5, -2.75}, ""},
		{"linear regression", "## Linear Regression\n## Lambda = 0\n0:10 1:0.5 2:2", 2, []float64{14.5, 8.25}, ""},
		{"rankboost", "## RankBoost\n1:0.5:2 2:-1:3 2:-9e99:10", 2, []float64{15, 10}, ""},
		{"solr linear", solrLinear, 2, []float64{2.5, -1.25}, "a,b"},
		{"solr network", solrNetwork, 2, []float64{7*10 + 8*17 + 9, -7*0.0 + 7*(1*0.5-2*1+5) + 8*(1.5-4+6) + 9}, "a,b"},
		{"elasticsearch", elasticModelText, 2, []float64{0.3 + 1, 0.15 - 2}, "a,b"},
		{"svmlight", svmLight, 3, []float64{1 - 2*0.5 - 2*3 - 0.25}, ""},
		{"liblinear", libLinear, 2, []float64{0.5 - 2 + 6, 0.25 + 1 + 6}, ""},
		{"liblinear, labels reversed", strings.Replace(libLinear, "1 -1", "0 1", 1), 2, []float64{-4.5, -7.25}, ""},
		{"scikit-learn", scikit, 2, []float64{-2.5, 3}, "a,b"},
	} {
		m, _, err := Read([]byte(c.text), ReadOptions{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		docs := x
		if c.features == 3 {
			docs = []float32{1, 2, 9}
		}
		got, err := m.Score(datasetOf(docs, c.features))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for i, want := range c.want {
			if d := got[i] - want; d > 1e-6 || d < -1e-6 {
				t.Errorf("%s: scores are %v, expected %v", c.name, got, c.want)
			}
		}
		if names := strings.Join(m.FeatureNames, ","); names != c.names {
			t.Errorf("%s: names are %s, expected %s", c.name, names, c.names)
		}
	}
}

// Claim: a document goes left in Solr's trees up to the threshold and 10⁻⁶, and a node of an
// unknown feature gives the tree 0.
func TestReadSolrTree(t *testing.T) {
	m, _, err := Read([]byte(solrTreeText), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Score(datasetOf([]float32{0.5, 0.5 + 9e-7, 0.5 + 1.2e-6}, 1))
	if err != nil || got[0] != -100 || got[1] != -100 || got[2] != 0 {
		t.Errorf("the scores are %v, %v", got, err)
	}
}

// change is a text in which one thing is another.
func change(text, from, to string) string {
	if !strings.Contains(text, from) {
		panic(from)
	}
	return strings.Replace(text, from, to, 1)
}

// Claim: a malformed file of another system is an error that says where, what was found and what
// was expected.
func TestMalformedEngineModels(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"## Some Ranker\n1:2", `model: found none of the formats that are read`},
		{"## LambdaMART\n", `model:1: found nothing but comments`},
		{change(lambdaMART, "</ensemble>", ""), `model:16: found what is not XML (unexpected EOF)`},
		{change(lambdaMART, "<output> -1.5 </output>", "<output> x </output>"), `model:10: found the output "x", expected a finite number`},
		{change(lambdaMART, "<output> -1.5 </output>", ""), `model:11: found a split of 0 parts`},
		{change(lambdaMART, " 0.5 ", " NaN "), `model:8: found the threshold "NaN", expected a finite number`},
		{change(lambdaMART, " 2 ", " 0 "), `model:7: found the feature "0", expected a number from 1 to 4194304`},
		{change(lambdaMART, " 2 ", " 99999999999 "), `model:7: found the feature "99999999999"`},
		{change(lambdaMART, `weight="0.1"`, ""), `model:5: found the weight "" of a tree`},
		{change(lambdaMART, `pos="left"`, `pos="right"`), `model:9: found the right side of a split, expected the left one`},
		{change(lambdaMART, "<feature> 2 </feature>\n", ""), `model:7: found <threshold> as part 1 of <split>`},
		{change(lambdaMART, "</ensemble>\n", "</ensemble>\n<ensemble></ensemble>\n"), `model:18: found a second <ensemble>, expected one`},
		{change(lambdaMART, "<ensemble>", "<!DOCTYPE a [<!ENTITY b \"c\">]>\n<ensemble>"), `model:4: found an instruction of XML`},
		{change(lambdaMART, "<ensemble>", "text<ensemble>"), `model:4: found the text "text" within <file>`},
		{"## MART\n<ensemble></ensemble>", `model:2: found no trees`},
		{"## Coordinate Ascent\n1:0.5 2", `model:2: found the weight "" of feature 2`},
		{"## Coordinate Ascent\n0:0.5 2:1", `model:2: found feature 0, expected a number from 1`},
		{"## Coordinate Ascent\n1:0.5\n2:1", `model:3: found a second line "2:1"`},
		{"## AdaRank\n1:1e999", `model:2: found the weight "1e999" of feature 1`},
		{"## AdaRank\na:1", `model:2: found "a:1", expected FEATURE:WEIGHT`},
		{"## Linear Regression\n0:1", `model:2: found no weights`},
		{"## RankBoost\n1:2", `model:2: found "1:2", expected FEATURE:THRESHOLD:WEIGHT`},
		{"## RankBoost\n1:Infinity:2", `model:2: found "1:Infinity:2", expected a finite threshold`},
		{"## RankBoost\n# x\n #", `model:3: found nothing but comments`},
		{change(rankNet, "\n1\n2\n", "\n1\n-2\n"), `model:5: found "-2", expected the number of neurons of a layer`},
		{change(rankNet, "\n1\n2\n", "\n1\n1048576\n"), `model:6: found 2 weights of neuron 0 of layer 0, expected 1048576`},
		{change(rankNet, "1 2\n1\n", "1 x\n1\n"), `model:3: found the feature "x"`},
		{change(rankNet, "0 1 3 4", "0 1 3"), `model:7: found 1 weights of neuron 1 of layer 0, expected 2`},
		{change(rankNet, "0 1 3 4", "0 0 3 4"), `model:7: found neuron 0 of layer 0 a second time`},
		{change(rankNet, "1 1 9", "1 7 9"), `model:10: found layer "1" and neuron "7"`},
		{change(rankNet, "1 1 9\n", ""), `model: found the weights of 4 neurons, expected those of 5`},
		{change(solrLinear, `"a": 1.5`, `"c": 1.5`), `model:5: found nothing as the weight of "a"`},
		{change(solrLinear, `"2f"`, `"2g"`), `model:5: found "2g" as the weight of "b", expected a finite number`},
		{change(solrLinear, `1.5`, `[1]`), `model:5: found [1] as the weight of "a", expected a finite number`},
		{change(solrLinear, `"std": "2"`, `"std": "0"`), `model:4: found a normalizer of "b" that divides by 0, expected a number above 0`},
		{change(solrLinear, `StandardNormalizer`, `OtherNormalizer`), `model:4: found the norm "org.apache.solr.ltr.norm.OtherNormalizer" of "b"`},
		{change(solrLinear, `LinearModel`, `OtherModel`), `model:2: found the class "org.apache.solr.ltr.model.OtherModel"`},
		{change(solrLinear, `{"name": "a"}`, `{"name": "b"}`), `model:4: found the feature "b" a second time`},
		{change(solrLinear, `{"name": "a"}`, `{"name": 7}`), `model:4: found 7 as the name of feature 1, expected a string`},
		{change(solrLinear, `"name": "m"`, `"class": "m"`), `model:3: found the key "class" a second time`},
		{change(solrTreeText, `"threshold": "0.5f",`, ``), `found nothing as a threshold of "a"`},
		{change(solrTreeText, `{"value": "-100"}`, `{}`), `the scores are`},
		{change(solrTreeText, `{"value": "-100"}`, `{"valeu": "-100"}`), `model:6: found a node with neither "feature" nor "value"`},
		{change(solrTreeText, `{"value": "-100"}`, `7`), `model:6: found 7 as a node of a tree, expected an object`},
		{change(solrTreeText, `"threshold": "0.5f"`, `"threshold": "0.5f", "missing": "up"`), `model:5: found "missing": "up", expected "left" or "right"`},
		{change(solrNetwork, `[3.0, 4.0]`, `[3.0]`), `model:5: found 1 numbers in row 2 of the matrix of layer 1, expected 2`},
		{change(solrNetwork, `[5.0, 6.0]`, `[5.0]`), `model:5: found 2 rows and 1 biases in layer 1`},
		{change(solrNetwork, `leakyrelu`, `elu`), `model:5: found the activation "elu" of layer 1`},
		{change(solrNetwork, `[[7.0, 8.0]], "bias": [9.0]`, `[[7.0, 8.0], [1.0, 1.0]], "bias": [9.0, 1.0]`), `found 2 layers, the last of 2 units, expected one unit`},
		{change(elasticModelText, `"a": 0.3`, `"a": "0.3"`), `found "0.3" as the weight of "a", expected a number`},
		{change(elasticModelText, `model/linear`, `model/linear2`), `model:2: found the type "model/linear2"`},
		{change(elasticModelText, `"definition"`, `"defnition"`), `found no "definition"`},
		{change(elasticModelText, `min_max`, `max_min`), `model:4: found the normalizer {"max_min"`},
		{change(elasticModelText, `{"b": {`, `{"c": {`), `found a normalizer of the feature "c", which the model does not name`},
		{change(elasticModelText, `"maximum": 3`, `"maximum": 1`), `found a normalizer of "b" that divides by 0`},
		{change(elasticModelText, `{"a": 0.3, "b": 2}`, `"## LambdaMART\n<x>"`) + " ", `definition`},
		{change(elasticModelText, `"definition": {"a": 0.3, "b": 2}`, `"definition": "{\"a\": 1"`), `model:3: found a "definition" that is no JSON`},
		{change(svmLight, "0 # kernel type", "2 # kernel type"), `model:2: found the kernel 2, expected 0, the linear one`},
		{change(svmLight, "# kernel type", "# kernel"), `model:2: found the comment "kernel", expected "kernel type"`},
		{change(svmLight, "3 # number of support", "4 # number of support"), `model:13: found 2 support vectors, expected 3`},
		{change(svmLight, "2:1.5", "2:x"), `model:13: found the value "x" of feature 2`},
		{change(svmLight, "0.25 #", "a #"), `model:11: found "a" as threshold b`},
		{change(svmLight, "1:2", "0:2"), `model:12: found feature 0, expected a number from 1`},
		{change(libLinear, "nr_class 2", "nr_class 3"), `model:2: found 3 classes, expected 2`},
		{change(libLinear, "\n3\n", "\n"), `model:8: found 2 weights, expected 3 for 2 features and the bias 2`},
		{change(libLinear, "-1\n3", "-1 4\n3"), `model:8: found "-1 4", expected one finite weight a line`},
		{change(libLinear, "nr_feature 2", "nr_feature x"), `model:4: found "x" as nr_feature`},
		{change(libLinear, "bias 2\n", ""), `found no "bias"`},
		{change(libLinear, "bias 2", "bias 2\nrho 1"), `model:6: found a one-class model`},
		{change(scikit, "[[1, -2]]", "[[1, -2], [3, 4]]"), `found [1, -2] as element 1 of "coef", expected a finite number`},
		{change(scikit, "[0.5]", "[0.5, 1]"), `model:2: found [0.5, 1] as "intercept", expected a finite number`},
		{change(scikit, `"b"`, `"a"`), `model:3: found "a" a second time`},
		{change(scikit, `["a", "b"]`, `["a"]`), `model:3: found 1 feature names, expected one for each of 2 coefficients`},
		{change(`{"coef": [1]}`, `[1]`, `[]`), `model:1: found no weights`},
		{change(scikit, `"intercept_"`, `"coef"`), `found both "coef" and "coef_"`},
		{scikit[:20], `model:1: `},
	} {
		m, _, err := Read([]byte(c.text), ReadOptions{})
		if c.want == "the scores are" { // an empty object is a leaf of 0
			if err != nil {
				t.Errorf("an empty node: %v", err)
			}
			continue
		}
		if err == nil {
			t.Errorf("found the model %+v of %s, expected the error %s", m, c.text, c.want)
			continue
		}
		if !strings.Contains(err.Error(), c.want) {
			t.Errorf("error is %v, expected %s", err, c.want)
		}
		if e, ok := errors.AsType[*model.FileError](err); !ok || e.File != "model" {
			t.Errorf("error is %#v, expected one about the file", err)
		}
	}
}

func canScore(m *model.Model, d *dataset.Dataset) bool {
	_, err := m.Score(d)
	return err == nil
}

// Claim: any bytes are a model or an error; a model can be saved, and scores or says why not.
func FuzzEngines(f *testing.F) {
	for _, text := range []string{lambdaMART, rankNet, solrLinear, solrTreeText, solrNetwork, elasticModelText, svmLight, libLinear, scikit,
		"## Coordinate Ascent\n1:0.5 2:2", "## Linear Regression\n0:10 1:0.5", "## RankBoost\n1:0.5:2 2:-9e99:10", "## ListNet\n1\n0\n0 0 1\n0 1 2\n"} {
		f.Add([]byte(text))
	}
	rng := rand.New(rand.NewPCG(1, 30))
	for kind := range drawnKinds {
		for _, name := range []string{"ranklib", "solr", "elasticsearch"} {
			var b bytes.Buffer
			if _, err := Write(&b, drawModel(&testing.T{}, rng, kind, scorer.Sigmoid), name, WriteOptions{}); err == nil {
				f.Add(b.Bytes())
			}
		}
	}
	x := []float32{1, -2, 0.5, 3e38, 0, -0.25}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, name := range []string{"ranklib", "solr", "elasticsearch", "svmlight", "liblinear", "sklearn"} {
			m, _, err := Read(text, ReadOptions{Format: name})
			if err != nil {
				if e, ok := errors.AsType[*model.FileError](err); !ok || e.Line < 0 {
					t.Fatalf("%s: error %#v", name, err)
				}
				continue
			}
			if m.Scorer.NumFeatures() > 1000 {
				continue // takes long
			}
			var b bytes.Buffer
			if err := m.Write(&b); err != nil {
				t.Fatalf("%s: %q is read and cannot be saved: %v", name, text, err)
			}
			again, err := model.Read(&b)
			if err != nil {
				t.Fatal(err)
			}
			features := min(m.Scorer.NumFeatures(), len(x))
			if d := datasetOf(x[:features], features); canScore(m, d) {
				sameScores(t, m, again, d, 0)
			}
		}
	})
}

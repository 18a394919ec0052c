package interchange

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model"
)

// Claim: a file of XGBoost's JSON of any model of trees gives the same scores when it is read back,
// up to the sum of the constant and a tree in float32; so does the same file as UBJSON.
func TestXGBoostRoundTrip(t *testing.T) {
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 2))
		m := drawTrees(t, rng, drawing{seed%2 == 0, seed%2 == 1 && seed/2%2 == 0, []dataset.Missing{dataset.MissingKeep, dataset.MissingError, dataset.MissingZero}[seed/2%3]})
		d := drawDocuments(rng, m, 60)
		back := checkRoundTrip(t, m, d, "xgboost", 1e-6, WriteOptions{}, ReadOptions{})
		if !slices.Equal(back.FeatureNames, m.FeatureNames) {
			t.Fatalf("the names are %q, expected %q", back.FeatureNames, m.FeatureNames)
		}
		if seed%10 > 0 {
			continue
		}
		var b bytes.Buffer
		if _, err := Write(&b, m, "xgboost", WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		binary := toUBJSON(t, b.Bytes(), seed%20 == 0)
		if got := Recognise(binary); got != "xgboost" {
			t.Fatalf("UBJSON is recognised as %q", got)
		}
		again, _, err := Read(binary, ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		sameScores(t, back, again, d, 0)
	}
}

// toUBJSON writes JSON as UBJSON: lists of numbers with one type for all if typed is set, objects
// and lists with a count or a bracket at their end.
func toUBJSON(t *testing.T, text []byte, typed bool) []byte {
	t.Helper()
	var v any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return appendUBJSON(nil, v, typed)
}

func appendUBJSON(out []byte, v any, typed bool) []byte {
	length := func(n int) { out = binary.BigEndian.AppendUint64(append(out, 'L'), uint64(n)) }
	switch v := v.(type) {
	case string:
		out = append(out, 'S')
		length(len(v))
		out = append(out, v...)
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return binary.BigEndian.AppendUint32(append(out, 'l'), uint32(n))
		}
		f, _ := v.Float64()
		return binary.BigEndian.AppendUint32(append(out, 'd'), math.Float32bits(float32(f)))
	case []any:
		numbers := typed && len(v) > 0 && !slices.ContainsFunc(v, func(e any) bool { _, ok := e.(json.Number); return !ok })
		if numbers {
			out = append(out, "[$d#"...)
			length(len(v))
			for _, e := range v {
				f, _ := e.(json.Number).Float64()
				out = binary.BigEndian.AppendUint32(out, math.Float32bits(float32(f)))
			}
			return out
		}
		out = append(out, '[')
		if typed {
			out = append(out, '#')
			length(len(v))
		}
		for _, e := range v {
			out = appendUBJSON(out, e, typed)
		}
		if !typed {
			out = append(out, ']')
		}
	case map[string]any:
		out = append(out, '{')
		for _, key := range slices.Sorted(maps.Keys(v)) {
			length(len(key))
			out = appendUBJSON(append(out, key...), v[key], typed)
		}
		out = append(out, '}')
	}
	return out
}

// xgbText is a small file: a set of categories, a condition that nothing is below, a base_score with
// a link.
const xgbText = `{"learner": {
"attributes": {"best_iteration": "0"},
"feature_names": ["a", "b"],
"gradient_booster": {"model": {
"cats": {"enc": []},
"trees": [{
"left_children": [1, 3, -1, -1, -1],
"right_children": [2, 4, -1, -1, -1],
"split_indices": [0, 1, 0, 0, 0],
"split_conditions": [5E-1, 1E-45, -1, 2, 3.25],
"default_left": [1, 0, 0, 0, 0],
"split_type": [0, 1, 0, 0, 0],
"categories": [2, 40],
"categories_nodes": [1],
"categories_segments": [0],
"categories_sizes": [2],
"tree_param": {"size_leaf_vector": "1"}
}, {
"left_children": [1, -1, -1],
"right_children": [2, -1, -1],
"split_indices": [0, 0, 0],
"split_conditions": [-Infinity, 7, 0.125],
"default_left": [true, false, false]
}]},
"name": "gbtree"},
"learner_model_param": {"base_score": "[5E-1]", "num_class": "0", "num_feature": "2", "num_target": "1"},
"objective": {"name": "binary:logistic"}},
"version": [3, 4, 1]}
`

// Claim: XGBoost's rules, by hand: what is below the condition goes left and the condition itself
// right, in float32; categories of the set go right, everything else and missing values by default;
// nothing is below −Infinity; base_score 0.5 of a logistic objective adds 0.
func TestXGBoostRules(t *testing.T) {
	m, notes, err := Read([]byte(xgbText), ReadOptions{})
	if err != nil || len(notes) != 2 {
		t.Fatalf("the notes are %q, the error %v", notes, err)
	}
	nan := float32(nan64)
	x := []float32{
		0.5, 0, // right
		0.49999997, 2, // left, in the set: 3.25
		0.49999997, 3, // left, not in it: 2
		nan, 40, // left, in the set; missing goes left in the second tree
		0, nan, // left, missing goes right: 3.25
	}
	want := []float64{-1 + 0.125, 3.25 + 0.125, 2 + 0.125, 3.25 + 7, 3.25 + 0.125}
	got, err := m.Score(datasetOf(x, 2))
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("the scores are %v, %v, expected %v", got, err, want)
	}
}

// Claim: the forms of base_score and of dart's weights of all versions, and gblinear.
func TestXGBoostForms(t *testing.T) {
	x := datasetOf([]float32{1, 0, float32(nan64), 1}, 2)
	logit := float64(float32(math.Log(3)))
	for _, c := range []struct {
		from, to string
		want     []float64
	}{
		{`"[5E-1]"`, `"7.5E-1"`, []float64{-0.875 + logit, 9 + logit}},
		{`"[5E-1]"`, `0.75`, []float64{-0.875 + logit, 9 + logit}},
		{`"binary:logistic"`, `"rank:ndcg"`, []float64{-0.375, 9.5}},
		{`"binary:logistic"`, `"count:poisson"`, []float64{-0.875 + float64(float32(math.Log(0.5))), 9 + float64(float32(math.Log(0.5)))}},
		{`"trees": [`, `"weight_drop": [2, 4], "trees": [`, []float64{-1.5, 2*2 + 4*7}},
		{`"gradient_booster": {"model": {`, `"gradient_booster": {"weight_drop": [2, 4], "gbtree": {"model": {`, []float64{-1.5, 2*2 + 4*7}},
	} {
		text := strings.Replace(xgbText, c.from, c.to, 1)
		if strings.Contains(c.to, `"gbtree"`) {
			text = strings.Replace(text, `]},`+"\n"+`"name": "gbtree"}`, `]}}, "name": "dart"}`, 1)
		}
		m, _, err := Read([]byte(text), ReadOptions{})
		if err != nil {
			t.Fatalf("%s: %v", c.to, err)
		}
		got, err := m.Score(x)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if math.Abs(got[i]-c.want[i]) > 1e-12 {
				t.Errorf("%s: the scores are %v, expected %v", c.to, got, c.want)
			}
		}
	}
	m, notes, err := Read([]byte(`{"learner":{"gradient_booster":{"model":{"weights":[2,-1,0.5]},"name":"gblinear"},"learner_model_param":{"base_score":"5E-1","num_feature":"2"},"objective":{"name":"reg:squarederror"}}}`), ReadOptions{})
	if err != nil || len(notes) != 0 {
		t.Fatalf("gblinear: %q, %v", notes, err)
	}
	if got, err := m.Score(x); err != nil || !slices.Equal(got, []float64{3, 0}) {
		t.Errorf("gblinear gives %v, %v", got, err)
	}
}

// Claim: every malformed file is an error that says what was found and what was expected, and where.
func TestXGBoostErrors(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{`"num_class": "0"`, `"num_class": "3"`, `model: found "num_class" 3 and "num_target" 1, expected one score a document`},
		{`"num_target": "1"`, `"num_target": "2"`, `model: found "num_class" 0 and "num_target" 2, expected one score a document`},
		{`"num_target": "1"`, `"num_target": "x"`, `model:26: found "x" as "num_target", expected a whole number`},
		{`"num_feature": "2"`, `"num_feature": "0"`, `model:26: found "num_feature" 0, expected the number of features`},
		{`"num_feature": "2"`, `"num_feature": "3"`, `model: found 2 "feature_names", expected 3`},
		{`"[5E-1]"`, `"[5E-1, 2]"`, `model:26: found "[5E-1, 2]" as "base_score", expected one finite number`},
		{`"[5E-1]"`, `"2"`, `model:26: found "2" as "base_score" of the objective "binary:logistic", expected one that has a link`},
		{`"name": "gbtree"`, `"name": "gbforest"`, `model: found the booster "gbforest", expected "gbtree", "dart" or "gblinear"`},
		{`"name": "gbtree"`, `"name": "gblinear"`, `model: found no "weights", expected a list`},
		{`[1, 3, -1, -1, -1]`, `[1, 3, -1, -1]`, "model: tree 0: found 5 right_children, 5 split_indices, 5 split_conditions, 5 default_left and 5 split_type, expected 4 of each, as of left_children"},
		{`[1, 3, -1, -1, -1]`, `[1, 5, -1, -1, -1]`, "model: tree 0: found the child 5 of node 1, expected one from 1 to 4"},
		{`[1, 3, -1, -1, -1]`, `[1, 1, -1, -1, -1]`, "model: tree 0: found node 1 a second time, as a child of node 1, expected a tree"},
		{`[0, 1, 0, 0, 0]`, `[0, 2, 0, 0, 0]`, `model: tree 0: found 2 in "split_indices" of node 1, expected a feature from 0 to 1`},
		{`[5E-1, 1E-45, -1, 2, 3.25]`, `[NaN, 1E-45, -1, 2, 3.25]`, "model: tree 0: found the threshold NaN in node 0, expected a number"},
		{`[5E-1, 1E-45, -1, 2, 3.25]`, `["x", 1E-45, -1, 2, 3.25]`, `model:10: tree 0: found "x" in "split_conditions", expected a number`},
		{`[5E-1, 1E-45, -1, 2, 3.25]`, `[5E-1, 1E-45, Infinity, 2, 3.25]`, "model: found the value +Inf of a leaf, expected a finite number"},
		{`[1, 0, 0, 0, 0]`, `[2, 0, 0, 0, 0]`, `model:11: tree 0: found 2 in "default_left", expected 0 or 1`},
		{`[2, 40]`, `[2, 16777216]`, "model: tree 0: node 1: found the category 16777216, expected one from 0 to 16777215"},
		{`"categories_sizes": [2]`, `"categories_sizes": [3]`, "model: tree 0: found 3 categories from 0 on for node 1, expected the segments of different nodes one after the other"},
		{`"categories_sizes": [2]`, `"categories_sizes": []`, "model: tree 0: found 1 categories_nodes, 1 categories_segments and 0 categories_sizes, expected as many of each"},
		{`"categories_nodes": [1]`, `"categories_nodes": [3]`, "model: tree 0: found no categories of node 1, expected some"},
		{`"size_leaf_vector": "1"`, `"size_leaf_vector": "3"`, `model:17: tree 0: found "size_leaf_vector" 3, expected one value a leaf`},
		{`"trees": [{`, `"weight_drop": [1], "trees": [{`, `model: found 1 "weight_drop", expected 2, one a tree`},
		{`"feature_names": ["a", "b"]`, `"feature_names": 3`, `model:3: found number as "learner.feature_names", expected a list`},
		{`"version": [3, 4, 1]}`, `"version": [3, 4, 1]`, "model:28: found what is not JSON (unexpected end of JSON input), expected a model file"},
	} {
		if !strings.Contains(xgbText, c.from) {
			t.Fatalf("the file has no %q", c.from)
		}
		_, _, err := Read([]byte(strings.Replace(xgbText, c.from, c.to, 1)), ReadOptions{})
		if file := (*model.FileError)(nil); !errors.As(err, &file) || err.Error() != c.want {
			t.Errorf("%s: the error is\n%v, expected\n%s", c.to, err, c.want)
		}
	}
}

// Claim: damaged UBJSON is an error, and one of small size asks for little memory.
func TestUBJSONErrors(t *testing.T) {
	for _, c := range []struct{ data, want string }{
		{"{i", "UBJSON, at byte 2: found the end of the file, expected more"},
		{"{i\x01a", "UBJSON, at byte 4: found the end of the file, expected more"},
		{"{i\x01aQ", `UBJSON, at byte 5: found the type 'Q', expected one of ZTFiUIlLdDCS[{`},
		{"{i\xff", "UBJSON, at byte 3: found the length -1 in a file of 3 bytes"},
		{"{L\x00\x00\x00\x01\x00\x00\x00\x00a", "UBJSON, at byte 10: found the length 4294967296 in a file of 11 bytes"},
		{"{i\x01a[$Z#L\x00\x00\x00\x00\xff\xff\xff\xff}", `UBJSON, at byte 7: found the type 'Z' of all elements, expected one with a value`},
		{"{i\x01a[$d]}", "UBJSON, at byte 7: found a type of all elements without their number"},
		{"{i\x01aSi\x01\xff}", "UBJSON, at byte 8: found a text that is not UTF-8"},
		{"{i\x01aT}x", "UBJSON, at byte 6: found 1 bytes behind the end"},
		{strings.Repeat("{i\x01a", 200), "UBJSON, at byte 401: found more than 100 levels of objects and lists"},
	} {
		if _, err := fromUBJSON([]byte(c.data)); err == nil || err.Error() != c.want {
			t.Errorf("%q: the error is %v, expected %s", c.data[:min(len(c.data), 20)], err, c.want)
		}
	}
	text, err := fromUBJSON([]byte("{U\x01aNTi\x01b[i\xfeZNd\x7f\x80\x00\x00]U\x01cC\"i\x01dSi\x02\n\\}"))
	if want := `{"a":true,"b":[-2,null,Infinity],"c":"\"","d":"\u000a\\"}`; err != nil || string(text) != want {
		t.Errorf("the text is %s, %v, expected %s", text, err, want)
	}
}

// Claim: any bytes are read or refused, and what is read can be scored and written again.
func FuzzXGBoost(f *testing.F) {
	f.Add([]byte(xgbText))
	f.Add([]byte(strings.Replace(xgbText, `"enc": []`, `"enc": [{"type": 15, "values": [3, 1]}, {"offsets": [0, 1, 3], "values": [97, -61, -92]}], "feature_segments": [0, 2, 4]`, 1)))
	f.Add(appendUBJSON(nil, map[string]any{"learner": map[string]any{}}, true))
	f.Add([]byte("{i\x07learner{i\x10gradient_booster{}}}"))
	fuzzReader(f, "xgboost")
}

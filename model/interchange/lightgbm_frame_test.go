package interchange

import (
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model"
)

// frameText is lgbmText with categories of a data frame: of column c, whose codes 0 and 2 go left in
// node 1 of tree 0.
func frameText(t *testing.T, lists string, replace ...string) string {
	t.Helper()
	text := strings.Replace(lgbmText, "pandas_categorical:null", "pandas_categorical:"+lists, 1)
	return strings.NewReplacer(replace...).Replace(text)
}

// scoreOf returns the score of one document.
func scoreOf(t *testing.T, m *model.Model, x ...float32) (float64, error) {
	t.Helper()
	scores := make([]float64, 1)
	err := m.ScoreWhole(scores, x)
	return scores[0], err
}

// Claim: values of the categories of a data frame score as the codes that LightGBM has for them, in
// the order of the stored list; a value that is none is an error. By hand: a ≤ 0.5 leads to the node
// that codes 0 and 2 leave to the left, with the leaf 0.5, and others with 2, beside 0.125.
func TestLightGBMFrameValues(t *testing.T) {
	for _, c := range []struct {
		lists     string
		left      []float32 // values with the codes 0 and 2
		right     []float32 // with code 1
		unknown   []float32
		wantTexts []string
	}{
		{`[[30, 10, 20]]`, []float32{30, 20}, []float32{10}, []float32{0, 1, 2, 15}, nil},
		{`[[-1.5, 0.1, 7]]`, []float32{-1.5, 7}, []float32{0.1}, []float32{0, 1}, nil},
		{`[[0, 1, 2]]`, []float32{0, 2}, []float32{1}, []float32{3, -1, 0.5}, nil},
		{`[["blue", "red", "tan"]]`, []float32{0, 2}, []float32{1}, []float32{3, 0.5, -1}, []string{"blue", "red", "tan"}},
		{`[["30", "10", "20"]]`, []float32{30, 20}, []float32{10}, []float32{0, 1, 2}, []string{"30", "10", "20"}},
		{`[["2", "1", "x"]]`, []float32{0, 2}, []float32{1}, []float32{3}, []string{"2", "1", "x"}},
	} {
		m, _, err := Read([]byte(frameText(t, c.lists)), ReadOptions{})
		if err != nil {
			t.Errorf("%s: %v", c.lists, err)
			continue
		}
		if got := m.Categories[2].Texts; !slices.Equal(got, c.wantTexts) {
			t.Errorf("%s: the texts are %q", c.lists, got)
		}
		for want, values := range map[float64][]float32{0.625: c.left, 2.125: c.right} {
			for _, v := range values {
				if got, err := scoreOf(t, m, 0, 0, v); err != nil || got != want {
					t.Errorf("%s: the score of %v is %v, %v, expected %v", c.lists, v, got, err, want)
				}
			}
		}
		for _, v := range c.unknown {
			if got, err := scoreOf(t, m, 0, 0, v); err == nil || !strings.Contains(err.Error(), "expected one of the model's categories") {
				t.Errorf("%s: the score of %v is %v, %v, expected an error", c.lists, v, got, err)
			}
		}
	}
}

// Claim: a list belongs to the one column whose codes LightGBM describes so; where more than one way
// is left, the file is refused, since values would be taken for others.
func TestLightGBMFrameColumns(t *testing.T) {
	words := func(n int) *dataset.Categories {
		c, err := dataset.NewTextCategories([]string{"a", "b", "c", "d"}[:n])
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, c := range []struct {
		name     string
		sets     []int // their sizes
		infos    string
		declared []int
		want     []int // nil: refused
	}{
		{"one column", []int{3}, "[0:1] 0:2:1 [0:2]", []int{1}, []int{1}},
		{"as many as there are, the first never used", []int{2, 3}, "none [0:1] 0:2:1", []int{0, 2}, []int{0, 2}},
		{"an ordered column", []int{3, 2}, "0:1:2:-1 [0:1] [0.5:1]", []int{0}, []int{0, 1}},
		{"an ordered column that is one of two", []int{3, 2}, "0:1:2 [0:1] [0:1]", []int{0}, nil},
		{"an ordered column before", []int{2, 3}, "[0:1] 0:2 [-1:1]", []int{1}, []int{0, 1}},
		{"without parameters", []int{3}, "[0:2] 1:2:0 [0:2]", nil, []int{1}},
		{"numbers given as categories beside", []int{3}, "5:7 0:2:1 [0:9]", []int{0, 1}, []int{1}},
		{"codes beyond the list", []int{2}, "[0:5] 0:2 [3:4]", []int{1}, nil},
		{"more lists than columns", []int{2, 2}, "0:1", []int{0}, nil},
	} {
		var sets []*dataset.Categories
		for _, n := range c.sets {
			sets = append(sets, words(n))
		}
		declared := make(map[int]bool)
		for _, column := range c.declared {
			declared[column] = true
		}
		got, ok := placeLists(sets, strings.Fields(c.infos), declared)
		if !slices.Equal(got, c.want) || ok != (c.want != nil) {
			t.Errorf("%s: the columns are %v, %v, expected %v", c.name, got, ok, c.want)
		}
	}
}

// Claim: lists of categories that cannot be mapped are refused with the line, and no lists leave
// features numbers.
func TestLightGBMFrameErrors(t *testing.T) {
	for lists, want := range map[string]string{
		`[["a", 1, "c"]]`:                 `found the categories ["a", 1, "c"], expected texts alone or numbers alone`,
		`[["a", "a", "c"]]`:               `found the category "a" twice`,
		`[[16777216, 16777217, 3]]`:       "found the categories 16777216 and 16777217, expected numbers that float32 tells apart",
		`[["a", "b", "c"], [1]]`:          "found 2 lists of categories in pandas_categorical that do not tell their columns",
		`[["a"`:                           "found what is not JSON as pandas_categorical",
		"[[\"a\xff\", \"a\xfe\", \"c\"]]": `which is not UTF-8`,
	} {
		_, _, err := Read([]byte(frameText(t, lists)), ReadOptions{File: "f"})
		if err == nil || !strings.HasPrefix(err.Error(), "f:38: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, expected f:38: … %s", lists, err, want)
		}
	}
	for _, lists := range []string{"null", "[]"} {
		m, _, err := Read([]byte(frameText(t, lists)), ReadOptions{})
		if err != nil || m.Categories != nil {
			t.Errorf("%s: %v", lists, err)
		}
	}
}

// Claim: a model keeps its categories in its file and in LightGBM's, and other formats' notes list
// the codes that their files take.
func TestCategoriesWritten(t *testing.T) {
	m, _, err := Read([]byte(frameText(t, `[["blue", "red", "30"]]`)), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var own, lightgbm, sql strings.Builder
	if err := m.Write(&own); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(&lightgbm, m, "lightgbm", WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{own.String(), lightgbm.String()} {
		back, _, err := Decode([]byte(text), ReadOptions{})
		if err != nil || len(back.Categories) != 3 || !back.Categories[2].Equal(m.Categories[2]) || back.Categories[0] != nil {
			t.Errorf("%v, %v; the file is\n%s", back, err, text)
		}
	}
	notes, err := Write(&sql, m, "sql", WriteOptions{})
	if want := `the file takes the codes 0, 1, … of the categories of feature c, in the order of the model: "blue", "red", "30"`; err != nil || !slices.Contains(notes, want) {
		t.Errorf("the notes are %q, %v, expected %q", notes, err, want)
	}
}

// Claim: a note says which features have categories that are numbers, unless these are their codes.
func TestFrameNotes(t *testing.T) {
	for lists, want := range map[string]bool{`[[0, 1, 2]]`: false, `[["a", "b", "c"]]`: false, `[["0", "1", "2"]]`: false, `[[1, 0, 2]]`: true, `[["30", "10", "20"]]`: true} {
		_, notes, err := Read([]byte(frameText(t, lists)), ReadOptions{})
		if got := strings.Contains(strings.Join(notes, "\n"), "data have the categories of feature c as the numbers that they are"); err != nil || got != want {
			t.Errorf("%s: the notes are %q, %v", lists, notes, err)
		}
	}
}

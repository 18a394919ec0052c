package table

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/listwise/listwise/dataset"
)

// categoriesOptions are those of a model of the features colour, size and x, whose first two have categories.
func categoriesOptions(t *testing.T) dataset.Options {
	t.Helper()
	colours, err := dataset.NewTextCategories([]string{"tan", "2", "NA", "a,b"})
	if err != nil {
		t.Fatal(err)
	}
	sizes, err := dataset.NewTextCategories([]string{"30", "10"})
	if err != nil {
		t.Fatal(err)
	}
	return dataset.Options{
		Missing: dataset.MissingKeep, FeatureNames: []string{"colour", "size", "x", "left"},
		Categories: map[string]*dataset.Categories{"colour": colours, "size": sizes, "left": dataset.NewUnusedCategories()},
	}
}

// Claim: texts of categories become their codes and numbers stay, in CSV and in JSON lines; a text
// that is a category is one, also where it is a number or a word for a missing value.
func TestCategories(t *testing.T) {
	const csv = "query,left,x,size,colour\nq,word,1,30,tan\nq,,2,10.0,\"a,b\"\nq,7,3,30,2\nq,,4,,NA\nq,,5,10,0\nq,,6,10,\n"
	const jsonl = `{"query":"q","left":"word","x":1,"size":30,"colour":"tan"}
{"query":"q","left":null,"x":2,"size":"10","colour":"a,b"}
{"query":"q","left":7,"x":3,"size":30,"colour":2}
{"query":"q","left":"","x":4,"size":null,"colour":"NA"}
{"query":"q","x":5,"size":10,"colour":0}
{"query":"q","x":6,"size":10,"colour":null}
`
	// colour, size, x, left; by hand. What is missing is 99.
	want := []float32{0, 30, 1, 0, 3, 10, 2, 0, 1, 30, 3, 0, 2, 99, 4, 0, 0, 10, 5, 0, 99, 10, 6, 0}
	opts := categoriesOptions(t)
	opts.Table.Ungraded = true
	for format, c := range map[string]struct {
		text string
		read reader
	}{"csv": {csv, csvReader}, "jsonl": {jsonl, ReadJSON}} {
		d, err := checkCuts(t, c.text, c.read, opts)
		if err != nil {
			t.Errorf("%s: %v", format, err)
			continue
		}
		got := make([]float32, len(d.X()))
		for i, v := range d.X() {
			if got[i] = v; v != v {
				got[i] = 99
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", format, diff)
		}
	}
}

// Claim: what is neither a category nor a code is an error with its line.
func TestCategoriesErrors(t *testing.T) {
	opts := categoriesOptions(t)
	opts.Table.Ungraded = true
	for _, c := range []struct{ colour, size, want string }{
		{"purple", "30", `"purple" in column colour, expected one of the model's categories: "tan", "2", "NA", "a,b", or its code, a number from 0 to 3`},
		{"4", "30", `"4" in column colour, expected one of the model's categories`},
		{"0.5", "30", `"0.5" in column colour, expected one of the model's categories`},
		{"tan", "0", `"0" in column size, expected one of the model's categories: "30", "10"`},
		{"tan", "big", `"big" in column size, expected one of the model's categories: "30", "10"`},
	} {
		csv := "query,colour,size,x,left\nq,tan,30,1,\nq," + c.colour + "," + c.size + ",1,\n"
		jsonl := `{"query":"q","colour":"tan","size":"30","x":1}` + "\n" + `{"query":"q","colour":"` + c.colour + `","size":"` + c.size + `","x":1,"left":0}` + "\n"
		for _, err := range []error{readError(csv, csvReader, opts), readError(jsonl, ReadJSON, opts)} {
			line := "f:3: "
			if err != nil && strings.HasPrefix(err.Error(), "f:2: ") {
				line = "f:2: " // of JSON lines
			}
			if err == nil || !strings.HasPrefix(err.Error(), line+"found "+c.want) {
				t.Errorf("%s, %s: the error is %v, expected %s", c.colour, c.size, err, c.want)
			}
		}
	}
}

func readError(text string, read reader, opts dataset.Options) error {
	_, err := readCut(strings.NewReader(text), read, opts, 0)
	return err
}

package interchange

import (
	"strings"
	"testing"
)

// Claim: a model that learned from categories of a data frame is noted to ask for their codes,
// unless these are the values.
func TestLightGBMNotesCodesOfDataFrames(t *testing.T) {
	for stored, want := range map[string]bool{
		`null`:                  false,
		`[]`:                    false,
		`[[0, 1, 2]]`:           false,
		`[[0, 1], [10, 20, 5]]`: true,
		`[["blue", "red"]]`:     true,
		`[[1, 0]]`:              true,
		`[[0.0, 1.0]]`:          true,
		`[[false, true]]`:       true,
	} {
		text := strings.Replace(lgbmText, "pandas_categorical:null", "pandas_categorical:"+stored, 1)
		_, notes, err := Read([]byte(text), ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(strings.Join(notes, "\n"), "pandas_categorical"); got != want {
			t.Errorf("%s: the notes are %q", stored, notes)
		}
	}
}

package app

import (
	"os"
	"strings"
	"testing"
)

// Claim: data report writes a page with its findings in words, of one file and of two, and prints
// them; a leaked grade, a missing value and queries in both files are among them.
func TestDataReport(t *testing.T) {
	t.Chdir(t.TempDir())
	writeProducts(t)
	text, err := os.ReadFile("products.csv")
	if err != nil {
		t.Fatal(err)
	}
	var leaked strings.Builder
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		cells := strings.Split(line, ",")
		if grade := cells[len(cells)-1]; i == 0 {
			leaked.WriteString(line + ",rated\n")
		} else {
			leaked.WriteString(line + "," + grade + "\n")
		}
	}
	mustWrite(t, "leaked.csv", leaked.String())
	for _, c := range []struct {
		args string
		want []string
	}{
		{"--data products.csv", []string{"look 5 features have missing values", "note The best single feature is bm25"}},
		{"--data leaked.csv", []string{"problem rated is probably not a feature: it equals the grade of every document"}},
		{"--data products.csv --against products.csv", []string{"problem 20 of 20 queries are in both data sets", "note No feature's distribution over queries differs"}},
	} {
		out := mustCall(t, append([]string{"data", "report", "--out", "page.html"}, strings.Fields(c.args)...)...)
		page, err := os.ReadFile("page.html")
		if err != nil {
			t.Fatal(err)
		}
		printed := strings.Join(strings.Fields(out), " ")
		for _, want := range c.want {
			_, sentence, _ := strings.Cut(want, " ")
			if !strings.Contains(string(page), strings.ReplaceAll(sentence, "'", "&#39;")) {
				t.Errorf("%s: the page lacks %q", c.args, sentence)
			}
			if !strings.Contains(printed, want) {
				t.Errorf("%s: found\n%s\nexpected %q", c.args, out, want)
			}
		}
	}
	for _, c := range []struct{ args, want string }{
		{"--data products.csv", "--out"},
		{"--data products.csv --out products.csv", "products.csv"},
		{"--data products.csv --against none.csv --out page.html", "none.csv"},
		{"--out page.html", "a data file"},
	} {
		if code, _, errs := call(append([]string{"data", "report"}, strings.Fields(c.args)...)...); code != exitUsage || !strings.Contains(errs, c.want) {
			t.Errorf("%s: exits with %d: %s", c.args, code, errs)
		}
	}
}

package app

import (
	"encoding/csv"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Claim: several data sets have the same means, differences and p values as each data set alone, and
// Holm's correction is over all of them. By its definition, the i-th smallest of m p values becomes
// the largest of (m − k + 1) p_k over k ≤ i, and at most 1. Bold and daggers follow from these
// values, alike in Markdown and LaTeX.
func TestJointComparison(t *testing.T) {
	t.Chdir(t.TempDir())
	sets := map[string]string{"one": "first_&%#.txt", "two": "second.txt"}
	for seed, name := range []string{"one", "two"} {
		mustCall(t, "data", "synth", "--queries", "30", "--docs", "8", "--relevant", "4", "--features", "4", "--noise", "1.5", "--seed", strconv.Itoa(seed+1), "--out", sets[name])
	}
	for _, method := range []string{"regression", "singlefeature", "random"} {
		mustCall(t, "train", "--method", method, "--train", "second.txt", "--model", method+".json", "--no-record")
	}
	common := []string{"--measures", "map,ndcg@5,p@1", "--baseline", "worst_of&%#", "--permutations", "999", "--resamples", "99", "regression.json", "singlefeature.json", "worst_of&%#=random.json"}
	joint := func(format ...string) string {
		return mustCall(t, slices.Concat([]string{"compare", "--data", sets["one"], "--data", "two=" + sets["two"]}, format, common)...)
	}
	rows, err := csv.NewReader(strings.NewReader(joint("--format", "csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := func(row []string, name string) string { return row[slices.Index(rows[0], name)] }
	numberIn := func(row []string, name string) float64 {
		v, err := strconv.ParseFloat(column(row, name), 64)
		if err != nil {
			t.Fatalf("%s: %v in %q", name, err, row)
		}
		return v
	}
	if len(rows) != 1+2*3*3 {
		t.Fatalf("found %d rows: %q", len(rows), rows)
	}

	alone := make(map[string][]string) // rows of the pairs of each data set
	for name, path := range map[string]string{"first_&%#": sets["one"], "two": sets["two"]} {
		pairs, err := csv.NewReader(strings.NewReader(mustCall(t, slices.Concat([]string{"compare", "--format", "csv", "--data", path}, common)...))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pairs[1:] {
			for _, c := range []string{"a", "b"} {
				at := func(name string) string { return p[slices.Index(pairs[0], name)] }
				alone[strings.Join([]string{at(c), name, at("measure")}, " ")] = []string{at("mean_" + c), at("mean_" + c + "_low")}
				if c == "a" {
					alone["pair "+at(c)+" "+name+" "+at("measure")] = []string{at("difference"), at("difference_low"), at("difference_high"), at("t_p"), at("randomization_p"), at("bootstrap_p"), at("wins")}
				}
			}
		}
	}
	want := make(map[string]string)          // cells of the table
	highest := make(map[string]float64)      // mean of a data set and measure
	corrected := map[string]bool{"†": false} // marks that occur
	for _, r := range rows[1:] {
		key := column(r, "data") + " " + column(r, "measure")
		highest[key] = max(highest[key], numberIn(r, "mean"))
	}
	for _, r := range rows[1:] {
		key := strings.Join([]string{column(r, "system"), column(r, "data"), column(r, "measure")}, " ")
		if got := []string{column(r, "mean"), column(r, "mean_low")}; !slices.Equal(got, alone[key]) {
			t.Errorf("%s has %q, alone %q", key, got, alone[key])
		}
		cell := fmt.Sprintf("%.4f", numberIn(r, "mean"))
		if numberIn(r, "mean") == highest[column(r, "data")+" "+column(r, "measure")] {
			cell = "bold " + cell
		}
		if column(r, "baseline") != "" {
			var got []string
			for _, name := range []string{"difference", "difference_low", "difference_high", "t_p", "randomization_p", "bootstrap_p", "wins"} {
				got = append(got, column(r, name))
			}
			if !slices.Equal(got, alone["pair "+key]) {
				t.Errorf("%s differs by %q, alone by %q", key, got, alone["pair "+key])
			}
			if numberIn(r, "randomization_p_holm") <= 0.05 {
				mark := "†"
				if numberIn(r, "difference") < 0 {
					mark = "‡"
				}
				cell += mark
				corrected[mark] = true
			}
		}
		want[key] = cell
	}
	if !corrected["†"] {
		t.Error("no difference is significant, expected one at least")
	}
	for _, test := range []string{"t", "randomization", "bootstrap"} {
		var p, holm []float64
		for _, r := range rows[1:] {
			if column(r, "baseline") != "" {
				p, holm = append(p, numberIn(r, test+"_p")), append(holm, numberIn(r, test+"_p_holm"))
			}
		}
		for i := range p {
			var most float64
			for k := range p {
				if p[k] <= p[i] {
					smaller := 0
					for _, other := range p {
						if other < p[k] {
							smaller++
						}
					}
					most = max(most, float64(len(p)-smaller)*p[k])
				}
			}
			if math.Abs(holm[i]-min(1, most)) > 1e-12 {
				t.Errorf("%s: p = %v is corrected to %v, expected %v over %d tests", test, p[i], holm[i], min(1, most), len(p))
			}
		}
	}

	tex := joint("--format", "latex", "--label", "tab:all")
	checkLatex(t, tex)
	grid := cellsOfLatex(tex)
	check := func(form string, cell, system, data, measure string) {
		if key := strings.Join([]string{system, data, measure}, " "); cell != want[key] {
			t.Errorf("%s: %s is %q, expected %q", form, key, cell, want[key])
		}
	}
	markdown := joint("--format", "markdown")
	lines := strings.Split(markdown, "\n")
	head := strings.Split(strings.Trim(lines[0], "| "), " | ")
	unescape := regexp.MustCompile(`\\(.)`)
	systems := []string{"regression", "singlefeature", "worst_of&%#"}
	for s, system := range systems {
		cells := strings.Split(strings.Trim(lines[2+s], "| "), " | ")
		if got := unescape.ReplaceAllString(cells[0], "$1"); got != system {
			t.Errorf("Markdown: found %s, expected %s", got, system)
		}
		for i, cell := range cells[1:] {
			name := unescape.ReplaceAllString(head[i+1], "$1")
			at := strings.LastIndex(name, " ")
			check("Markdown", strings.ReplaceAll(strings.Replace(cell, "**", "bold ", 1), "**", ""), system, name[:at], name[at+1:])
		}
		row := grid[2+s]
		if got := unescape.ReplaceAllString(row[0], "$1"); got != system {
			t.Errorf("LaTeX: found %s, expected %s", got, system)
		}
		for i, cell := range row[1:] {
			plain := strings.NewReplacer(`$^{\dagger}$`, "†", `$^{\ddagger}$`, "‡", `\textbf{`, "bold ", "}", "").Replace(cell)
			check("LaTeX", plain, system, []string{"first_&%#", "two"}[i/3], grid[1][i+1])
		}
	}
}

// Claim: LaTeX tables have balanced braces and environments, escaped names, and as many cells in every row as columns.
func checkLatex(t *testing.T, tex string) {
	t.Helper()
	var open []string
	for _, m := range regexp.MustCompile(`\\(begin|end)\{(\w+)\}`).FindAllStringSubmatch(tex, -1) {
		switch {
		case m[1] == "begin":
			open = append(open, m[2])
		case len(open) == 0 || open[len(open)-1] != m[2]:
			t.Fatalf("\\end{%s} in %v", m[2], open)
		default:
			open = open[:len(open)-1]
		}
	}
	plain := regexp.MustCompile(`\\[\\&%$#_{}]`).ReplaceAllString(tex, "")
	if depth := strings.Count(plain, "{") - strings.Count(plain, "}"); depth != 0 || len(open) > 0 {
		t.Errorf("%d braces and the environments %v are open", depth, open)
	}
	bare := regexp.MustCompile(`\\label\{[^}]*\}|%\n|^%.*\n|\$\^\{[^}]*\}\$|\$[^$]*\$`).ReplaceAllString(plain, "")
	if at := regexp.MustCompile(`[%$#_^~]`).FindString(bare); at != "" {
		t.Errorf("found %s without a backslash in\n%s", at, tex)
	}
	columns := len(regexp.MustCompile(`\\begin\{tabular\}\{(\w+)\}`).FindStringSubmatch(tex)[1])
	for i, row := range cellsOfLatex(tex) {
		n := 0
		for _, cell := range row {
			span := 1
			if m := regexp.MustCompile(`^\\multicolumn\{(\d+)\}`).FindStringSubmatch(cell); m != nil {
				span, _ = strconv.Atoi(m[1])
			}
			n += span
		}
		if n != columns {
			t.Errorf("row %d has %d cells, expected %d: %q", i+1, n, columns, row)
		}
	}
}

// cellsOfLatex returns the cells of the first table.
func cellsOfLatex(tex string) (rows [][]string) {
	body := tex[strings.Index(tex, `\toprule`):strings.Index(tex, `\bottomrule`)]
	body = regexp.MustCompile(`\\(toprule|midrule|cmidrule\(lr\)\{[-\d]+\})`).ReplaceAllString(body, "")
	for row := range strings.SplitSeq(body, "\\\\\n") {
		if row = strings.TrimSpace(row); row == "" {
			continue
		}
		cells := strings.Split(strings.ReplaceAll(row, `\&`, "\x00"), "&")
		for i := range cells {
			cells[i] = strings.ReplaceAll(strings.TrimSpace(cells[i]), "\x00", `\&`)
		}
		rows = append(rows, cells)
	}
	return rows
}

// Data sets are named after their files and folders.
func TestNameOfData(t *testing.T) {
	t.Chdir(t.TempDir())
	for path, want := range map[string]string{
		"MQ2008": "MQ2008", "a/test.txt": "test", "a/test.txt.gz": "test", "a/.txt": ".txt", "x.y.csv.zst": "x.y", "-": "-",
	} {
		if got := nameOfData(path); got != want {
			t.Errorf("nameOfData(%q) = %q, expected %q", path, got, want)
		}
	}
}

// Claim: compare warns of models of other data under a data set's name, with two fingerprints that "runs show"
// prints for the data of either. It does not warn of the folds' own models, also with missing values.
func TestCompareWarnsOfOtherData(t *testing.T) {
	t.Chdir(t.TempDir())
	prints := make(map[string]string) // by the name of the data and their role
	for i, name := range []string{"one", "two"} {
		mustCall(t, "data", "synth", "--queries", "9", "--docs", "6", "--relevant", "3", "--features", "4", "--seed", strconv.Itoa(i+1), "--out", name+".txt")
		if name == "one" {
			replaceIn(t, "one.txt", regexp.MustCompile(` 2:\S+`).FindString(mustRead(t, "one.txt")), " 2:nan")
		}
		mustCall(t, "data", "fold", name+".txt", "--folds", "3", "--out", name)
		mustCall(t, "tune", "--quiet", "--method", "mle", "--grid", "C=1", "--missing", "zero", "--data", name, "--out", "runs/"+name)
		var run struct {
			Data []struct{ Role, Fingerprint string }
		}
		decode(t, mustCall(t, "runs", "show", strconv.Itoa(i+1), "--format", "json"), &run)
		for _, d := range run.Data {
			prints[name+" "+d.Role] = d.Fingerprint
		}
	}
	args := []string{"--baseline", "a", "--permutations=20", "--resamples=20", "a=runs/{data}/mle", "b=runs/{data}/mle"}
	code, _, said := call(append([]string{"compare", "--data", "one", "--data", "two"}, args...)...)
	if code != exitDone || strings.Contains(said, "other data") {
		t.Errorf("for the folds' own models, compare exits with %d and says\n%s", code, said)
	}
	want := "warning: runs/one/mle: no fold's model was trained on queries of another fold of two, as in cross-validation: the models are of other data. The model of Fold1 was trained on data with fingerprint " +
		prints["one Fold1 train"] + ", and the test data of Fold1 here have fingerprint " + prints["two Fold1 test"]
	code, _, said = call(append([]string{"compare", "--data", "one=two", "--compact"}, args...)...)
	if code != exitDone || !strings.Contains(said, want) {
		t.Errorf("compare exits with %d and says\n%s\nexpected %s", code, said, want)
	}
}

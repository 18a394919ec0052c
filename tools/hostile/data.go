package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
)

// plainWeights are the weights of plainModel, a linear model without normalization. scoresOf
// computes its scores independently.
var plainWeights = []float64{1, -2, 0.5, 3, -1}

const plainModel = `{"format":"listwise-model","version":1,"features":{"count":5},"normalization":"none","scorer":{"type":"linear","weights":[1,-2,0.5,3,-1]}}`

// create returns a Harm that writes text to a file.
func create(name, text string) func(dir string) error {
	return func(dir string) error { return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600) }
}

// document is a line of LETOR text.
type document struct {
	grade    float64
	query    string
	features map[int]float32
}

var decimal = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$`)

// readPlainly reads LETOR text by the simplest code possible, as a reference.
func readPlainly(text []byte) ([]document, error) {
	var docs []document
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	for i, line := range strings.Split(string(text), "\n") {
		line, _, _ = strings.Cut(strings.TrimSuffix(line, "\r"), "#")
		fields := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' || r == '\r' })
		if len(fields) == 0 {
			continue
		}
		doc, err := readDocument(fields)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		docs = append(docs, doc)
	}
	return docs, nil
}

func readDocument(fields []string) (document, error) {
	doc := document{features: map[int]float32{}}
	grade, err := readNumber(fields[0], 64)
	if err != nil || grade < 0 || len(fields) < 2 {
		return doc, fmt.Errorf("no grade in %q", fields)
	}
	id, ok := strings.CutPrefix(fields[1], "qid:")
	if !ok || id == "" {
		return doc, fmt.Errorf("no query in %q", fields)
	}
	doc.grade, doc.query = grade, id
	for _, f := range fields[2:] {
		left, text, ok := strings.Cut(f, ":")
		index, err := strconv.Atoi(left)
		if !ok || err != nil || index < 1 {
			return doc, fmt.Errorf("no feature in %q", f)
		}
		if _, ok := doc.features[index]; ok {
			return doc, fmt.Errorf("feature %d twice", index)
		}
		v, err := readNumber(text, 32)
		if err != nil {
			return doc, err
		}
		doc.features[index] = float32(v)
	}
	return doc, nil
}

func readNumber(text string, bits int) (float64, error) {
	if !decimal.MatchString(text) {
		return 0, fmt.Errorf("%q is no number", text)
	}
	v, err := strconv.ParseFloat(text, bits)
	if err != nil {
		return 0, fmt.Errorf("%q is out of range", text)
	}
	return v, nil
}

// scoresOf returns a judge of the scores that the command score prints with the plain model. The
// judge reads the data independently.
func scoresOf(file string) func(*box, *Result) (Verdict, string) {
	return func(b *box, r *Result) (Verdict, string) {
		text, err := os.ReadFile(filepath.Join(b.dir, file))
		if err != nil {
			return broken, err.Error()
		}
		docs, err := readPlainly(text)
		if err != nil {
			if warned(r) {
				return right, ""
			}
			return silent, "it was read, although " + err.Error()
		}
		lines := strings.Fields(r.stdout)
		if len(lines) != len(docs) {
			return silent, fmt.Sprintf("%d scores of %d documents", len(lines), len(docs))
		}
		for i, doc := range docs {
			var want, size float64
			for j, w := range plainWeights {
				want += w * float64(doc.features[j+1])
				size += math.Abs(w * float64(doc.features[j+1]))
			}
			if got, err := strconv.ParseFloat(lines[i], 64); err != nil || math.Abs(got-want) > 1e-12*size {
				return silent, fmt.Sprintf("document %d scores %s, want %v", i+1, lines[i], want)
			}
		}
		return right, ""
	}
}

// sameData returns a judge of LETOR text that a command prints. The judge compares the text with
// the command's input.
func sameData(file string) func(*box, *Result) (Verdict, string) {
	return func(b *box, r *Result) (Verdict, string) {
		text, err := os.ReadFile(filepath.Join(b.dir, file))
		if err != nil {
			return broken, err.Error()
		}
		want, err := readPlainly(text)
		if err != nil {
			if warned(r) {
				return right, ""
			}
			return silent, "it was read, although " + err.Error()
		}
		if warned(r) { // about a query whose documents are not adjacent
			want = grouped(want)
		}
		got, err := readPlainly([]byte(r.stdout))
		if err != nil || len(got) != len(want) {
			return silent, fmt.Sprintf("%d documents became %d, %v", len(want), len(got), err)
		}
		for i, w := range want {
			g := got[i]
			if g.grade != w.grade || g.query != w.query {
				return silent, fmt.Sprintf("document %d is %v of %q, want %v of %q", i+1, g.grade, g.query, w.grade, w.query)
			}
			for j := 1; j <= 100; j++ {
				if math.Float32bits(g.features[j]+0) != math.Float32bits(w.features[j]+0) {
					return silent, fmt.Sprintf("feature %d of document %d is %v, want %v", j, i+1, g.features[j], w.features[j])
				}
			}
		}
		return right, ""
	}
}

// grouped returns the documents grouped by query, in the order of the queries' first documents.
func grouped(docs []document) []document {
	groups := map[string][]document{}
	var order []string
	for _, d := range docs {
		if groups[d.query] == nil {
			order = append(order, d.query)
		}
		groups[d.query] = append(groups[d.query], d)
	}
	var all []document
	for _, id := range order {
		all = append(all, groups[id]...)
	}
	return all
}

// tokens replace a grade, a query, an index or a value.
var tokens = []string{"", "-1", "-0", "0", "+1", "1.5", "1e3", "1e308", "1e400", "1e39", "-1e39", "1e30", "1e-30", "1e-50", "nan", "NaN", "NULL", "null", "inf", "-Inf", "Infinity",
	"0x10", "1_000", "1,5", "1.", ".5", ".", "e5", "1e", "1e+", "--1", "٣", "１", "a", "é", "\x00", "\x1b[31m", "\xff", "\u00a0", "\u2028", "99999999999999999999", "2147483648", "100000", "100001", "4294967297",
	strings.Repeat("9", 400), "0." + strings.Repeat("0", 400) + "1", strings.Repeat("x", 100000), ":", "1:1", "qid:1", "#", "\r", "\v", "\f", "\t"}

// replaceField replaces a part of a random line by a token. part selects the grade, the query, or
// the index or value of a feature.
func replaceField(rng *rand.Rand, text []byte, part int, token string) []byte {
	lines := strings.Split(string(text), "\n")
	i := rng.IntN(len(lines) - 1)
	fields := strings.Fields(lines[i])
	at := 2 + rng.IntN(5)
	left, right, _ := strings.Cut(fields[at], ":")
	switch part {
	case 0:
		fields[0] = token
	case 1:
		fields[1] = "qid:" + token
	case 2:
		fields[at] = token + ":" + right
	case 3:
		fields[at] = left + ":" + token
	}
	lines[i] = strings.Join(fields, " ")
	return []byte(strings.Join(lines, "\n"))
}

var parts = []string{"grade", "query", "index", "value"}

// everyValue returns a function that replaces every feature value of a file by the result of fn.
func everyValue(fn func(line, feature int, v float64) string) func(text []byte) []byte {
	return func(text []byte) []byte {
		lines := strings.Split(string(text), "\n")
		for i, line := range lines {
			fields := strings.Fields(line)
			for j, f := range fields {
				left, right, ok := strings.Cut(f, ":")
				if v, err := strconv.ParseFloat(right, 64); ok && left != "qid" && err == nil {
					fields[j] = left + ":" + fn(i, j-1, v)
				}
			}
			lines[i] = strings.Join(fields, " ")
		}
		return []byte(strings.Join(lines, "\n"))
	}
}

func scaled(c float64) func([]byte) []byte {
	return everyValue(func(_, _ int, v float64) string { return strconv.FormatFloat(v*c, 'g', -1, 64) })
}

func replaced(old, by string) func([]byte) []byte {
	return func(text []byte) []byte { return bytes.ReplaceAll(text, []byte(old), []byte(by)) }
}

func grades(by string) func([]byte) []byte {
	return func(text []byte) []byte {
		return regexp.MustCompile(`(?m)^\S+ qid`).ReplaceAll(text, []byte(by+" qid"))
	}
}

func utf16Text(text []byte) []byte {
	out := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(string(text))) {
		out = append(out, byte(u), byte(u>>8))
	}
	return out
}

// wholes are changes to a whole file.
var wholes = []struct {
	name  string
	apply func(text []byte) []byte
}{
	{"empty", func([]byte) []byte { return nil }},
	{"newlines", func([]byte) []byte { return []byte("\n\n\n") }},
	{"comments", func([]byte) []byte { return []byte("# a\n#b\n") }},
	{"CRLF", replaced("\n", "\r\n")},
	{"CR", replaced("\n", "\r")},
	{"tabs", replaced(" ", "\t")},
	{"two spaces", replaced(" ", "  ")},
	{"no-break spaces", replaced(" ", "\u00a0")},
	{"NUL", replaced(" ", "\x00")},
	{"commas", replaced(" ", ",")},
	{"semicolons", replaced(":", ";")},
	{"BOM", func(text []byte) []byte { return append([]byte("\ufeff"), text...) }},
	{"two BOMs", func(text []byte) []byte { return append([]byte("\ufeff\ufeff"), text...) }},
	{"UTF-16", utf16Text},
	{"no last newline", func(text []byte) []byte { return bytes.TrimSuffix(text, []byte("\n")) }},
	{"one document", func(text []byte) []byte { return text[:bytes.IndexByte(text, '\n')+1] }},
	{"one query", func(text []byte) []byte { return regexp.MustCompile(`qid:\S+`).ReplaceAll(text, []byte("qid:1")) }},
	{"a query a document", func(text []byte) []byte {
		n := 0
		return regexp.MustCompile(`qid:\S+`).ReplaceAllFunc(text, func([]byte) []byte { n++; return fmt.Appendf(nil, "qid:%d", n) })
	}},
	{"nothing relevant", grades("0")},
	{"all relevant", grades("2")},
	{"fractional grades", grades("0.5")},
	{"huge grades", grades("1e300")},
	{"grade 1100", grades("1100")},
	{"negative grades", grades("-1")},
	{"times 1e30", scaled(1e30)},
	{"times 1e-30", scaled(1e-30)},
	{"times 1e38", scaled(1e38)},
	{"times 1e-45", scaled(1e-45)},
	{"constant", everyValue(func(int, int, float64) string { return "0.25" })},
	{"zero", everyValue(func(int, int, float64) string { return "0" })},
	{"one constant", everyValue(func(_, j int, v float64) string {
		if j == 2 {
			return "7"
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	})},
	{"largest", everyValue(func(i, _ int, _ float64) string { return []string{"3.4028234e38", "-3.4028234e38"}[i%2] })},
	{"no features", func(text []byte) []byte { return regexp.MustCompile(`(?m) 1:.*$`).ReplaceAll(text, nil) }},
	{"reversed", func(text []byte) []byte {
		return regexp.MustCompile(`(?m)(1:\S+) (2:\S+)`).ReplaceAll(text, []byte("$2 $1"))
	}},
	{"twice a feature", func(text []byte) []byte {
		return regexp.MustCompile(`(?m)(1:\S+) (2:\S+)`).ReplaceAll(text, []byte("$1 $1"))
	}},
	{"a long line", func(text []byte) []byte {
		return append(bytes.TrimSuffix(text, []byte("\n")), []byte(" #"+strings.Repeat("x", 3<<20)+"\n")...)
	}},
	{"CSV", func([]byte) []byte { return []byte("number,grade,f1,f2\n1,0,0.5,0.25\n1,1,0.5,0.3\n") }},
	{"gzip's head", func(text []byte) []byte { return append([]byte{0x1f, 0x8b}, text...) }},
	{"zstd's head", func(text []byte) []byte { return append([]byte{0x28, 0xb5, 0x2f, 0xfd}, text...) }},
	{"the cache's head", func(text []byte) []byte { return append([]byte("\x89LWD\r\n\x1a\n"), text...) }},
	{"a header", func(text []byte) []byte { return append([]byte("grade qid f1 f2\n"), text...) }},
}

// dataUsers are the commands that read the changed data.
var dataUsers = []struct {
	args  string
	judge func(file string) func(*box, *Result) (Verdict, string)
}{
	{"score --model plain.json --data data.txt", scoresOf},
	{"data convert data.txt --out -", sameData},
	{"data info data.txt --format json", nil},
	{"data normalize data.txt --out out.txt", nil},
	{"data clean data.txt --reading R3 --drop-empty --out out.txt", nil},
	{"data report data.txt --against vali.txt --out out.html", nil},
	{"data fold data.txt --folds 3 --out out", nil},
	{"eval --model plain.json --data data.txt --no-record", nil},
	{"train --method convexloss --train data.txt --model out.json --no-record", nil},
	{"train --method lambdarank --scorer net --set hidden=2 --set epochs=2 --normalize zscore --transform log1p --transform standard --views rank,raw,zscore --train data.txt --valid vali.txt --model out.json --no-record", nil},
	{"train --method adarank --train data.txt --model out.json --no-record", nil},
	{"train --method coordascent --set restarts=1 --train data.txt --model out.json --no-record", nil},
	{"train --method ranksvm --train data.txt --model out.json --no-record", nil},
	{"compare --data data.txt --permutations 100 --resamples 100 plain.json random.json", nil},
	{"report --data data.txt --out out.html --permutations 100 --resamples 100 plain.json random.json", nil},
	{"fuse --data data.txt --valid vali.txt --model out.json plain.json random.json", nil},
	{"explain --model plain.json --data data.txt --resamples 100 --permutations 100 --repeats 1", nil},
}

// dataCases change data as other programs or their users might.
func dataCases(*fixture) []Case {
	var cases []Case
	add := func(what string, harm func(rng *rand.Rand, text []byte) []byte, users []int) {
		for _, u := range users {
			user := dataUsers[u]
			args := words(user.args)
			name := fmt.Sprintf("data/%s/%s-%d", what, args[0], u)
			c := Case{Name: name, Files: []string{"data.txt", "vali.txt", "random.json"}, Args: args, Outs: []string{"out.txt", "out", "out.json", "out.html", ".listwise"},
				Harm: func(dir string) error {
					if err := create("plain.json", plainModel)(dir); err != nil {
						return err
					}
					return change("data.txt", func(text []byte) []byte { return harm(random(name), text) })(dir)
				}}
			if user.judge != nil {
				c.Judge = user.judge("data.txt")
			}
			cases = append(cases, c)
		}
	}
	all := make([]int, len(dataUsers))
	for u := range all {
		all[u] = u
	}
	for _, w := range wholes {
		add(strings.ReplaceAll(w.name, " ", "-"), func(_ *rand.Rand, text []byte) []byte { return w.apply(text) }, all)
	}
	for p, part := range parts {
		for t, token := range tokens {
			users := []int{0, 1, 2 + (p+t)%(len(dataUsers)-2)}
			add(fmt.Sprintf("%s-%d", part, t), func(rng *rand.Rand, text []byte) []byte { return replaceField(rng, text, p, token) }, users)
		}
	}
	for i := range 300 {
		add(fmt.Sprintf("damage-%d", i), damage, []int{i % 2})
	}
	return append(append(cases, specialDataCases()...), append(parquetCases(), scoreFileCases()...)...)
}

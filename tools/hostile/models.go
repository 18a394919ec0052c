package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// node is a value in a JSON text. The members of an object keep their order.
type node struct {
	key  string // of a member of an object
	text string // of a scalar
	open byte   // '{' or '[', 0 for a scalar
	kids []*node
}

func parseNode(d *json.Decoder) *node {
	token, err := d.Token()
	if err != nil {
		panic(err) // the program wrote the file
	}
	open, ok := token.(json.Delim)
	if !ok {
		text, err := json.Marshal(token)
		if err != nil {
			panic(err)
		}
		return &node{text: string(text)}
	}
	n := &node{open: byte(open)}
	for d.More() {
		key := ""
		if open == '{' {
			token, err := d.Token()
			if err != nil {
				panic(err)
			}
			key = token.(string)
		}
		kid := parseNode(d)
		kid.key = key
		n.kids = append(n.kids, kid)
	}
	if _, err := d.Token(); err != nil {
		panic(err)
	}
	return n
}

func (n *node) write(b *strings.Builder) {
	if n.open == 0 {
		b.WriteString(n.text)
		return
	}
	b.WriteByte(n.open)
	for i, kid := range n.kids {
		if i > 0 {
			b.WriteByte(',')
		}
		if n.open == '{' {
			fmt.Fprintf(b, "\n%q:", kid.key)
		}
		kid.write(b)
	}
	b.WriteByte(n.open + 2) // the closing bracket
}

// all returns n and the objects and lists below it that have at least the given number of parts and
// for which fits is true.
func (n *node) all(parts int, fits func(n *node) bool) []*node {
	var found []*node
	if n.open != 0 && len(n.kids) >= parts && fits(n) {
		found = append(found, n)
	}
	for _, kid := range n.kids {
		found = append(found, kid.all(parts, fits)...)
	}
	return found
}

func isObject(n *node) bool { return n.open == '{' }
func isList(n *node) bool   { return n.open == '[' }
func isAny(*node) bool      { return true }

// mutation is a change to a model file. other means that the changed file may be another valid
// model.
type mutation struct {
	name  string
	other bool
	must  bool // the file is invalid even if the model does not need the changed part
	apply func(rng *rand.Rand, root *node)
}

func pick[T any](rng *rand.Rand, list []T) T { return list[rng.IntN(len(list))] }

// within returns a function that changes a random part of a random object or list.
func within(fits func(n *node) bool, change func(rng *rand.Rand, n *node, i int)) func(*rand.Rand, *node) {
	return func(rng *rand.Rand, root *node) {
		if found := root.all(1, fits); found != nil {
			n := pick(rng, found)
			change(rng, n, rng.IntN(len(n.kids)))
		}
	}
}

// as returns a change that replaces a part by one of the texts.
func as(texts ...string) func(rng *rand.Rand, n *node, i int) {
	return func(rng *rand.Rand, n *node, i int) { n.kids[i] = &node{key: n.kids[i].key, text: pick(rng, texts)} }
}

var mutations = []mutation{
	{name: "drop a key", apply: within(isObject, func(_ *rand.Rand, n *node, i int) { n.kids = append(n.kids[:i:i], n.kids[i+1:]...) })},
	{name: "drop an element", other: true, apply: within(isList, func(_ *rand.Rand, n *node, i int) { n.kids = append(n.kids[:i:i], n.kids[i+1:]...) })},
	{name: "repeat a key", must: true, apply: within(isObject, func(_ *rand.Rand, n *node, i int) { n.kids = append(n.kids, n.kids[i]) })},
	{name: "repeat a key as null", must: true, apply: within(isObject, func(rng *rand.Rand, n *node, i int) {
		n.kids = append(n.kids, &node{key: n.kids[i].key, text: pick(rng, []string{"null", "0", `""`, "[]", "{}"})})
	})},
	{name: "repeat an element", other: true, apply: within(isList, func(_ *rand.Rand, n *node, i int) { n.kids = append(n.kids, n.kids[i]) })},
	{name: "retype", apply: within(isAny, func(rng *rand.Rand, n *node, i int) {
		old := n.kids[i]
		switch {
		case old.open != 0:
			as("1", `"x"`, "true", "null")(rng, n, i)
		case old.text[0] == '"':
			as("1", "true", "[]", "{}", "null")(rng, n, i)
		default:
			as(`"1"`, "true", "[]", "{}", "null", `"NaN"`)(rng, n, i)
		}
	})},
	{name: "beyond float64", apply: within(isAny, as("1e400", "-1e400", "1"+strings.Repeat("0", 2000)))},
	{name: "large number", other: true, apply: within(isAny, as("1e308", "-1e308", "9223372036854775807", "9223372036854775808", "1e18", "100000000000", "4294967296"))},
	{name: "small number", other: true, apply: within(isAny, as("0", "-0", "-1", "1e-320", "1e-400", "0.5"))},
	{name: "no JSON", must: true, apply: within(isAny, as("NaN", "nan", "Infinity", "-inf", "01", "1.", ".5", "+1", "0x10", "1_000", "'a'", "", "undefined", "\"\x01\"", "\"\n\""))},
	{name: "odd text", other: true, apply: within(isAny, as(`""`, `"\u0000"`, `"\u001b[31m"`, `"é漢"`, "\"\xff\"", `"`+strings.Repeat("x", 100000)+`"`))},
	{name: "swap", other: true, apply: within(isAny, func(rng *rand.Rand, n *node, i int) {
		j := rng.IntN(len(n.kids))
		n.kids[i], n.kids[j] = n.kids[j], n.kids[i]
		n.kids[i].key, n.kids[j].key = n.kids[j].key, n.kids[i].key
	})},
	{name: "nest", apply: within(isAny, func(rng *rand.Rand, n *node, i int) {
		depth := pick(rng, []int{50, 101, 100000})
		n.kids[i] = &node{key: n.kids[i].key, text: strings.Repeat("[", depth) + strings.Repeat("]", depth)}
	})},
	{name: "case of a key", apply: within(isObject, func(_ *rand.Rand, n *node, i int) {
		old := *n.kids[i]
		old.key = strings.ToUpper(old.key)
		n.kids[i] = &old
	})},
	{name: "unknown key", apply: within(isObject, func(_ *rand.Rand, n *node, _ int) {
		n.kids = append(n.kids, &node{key: "unknown", text: `{"a":[1,{"b":null}]}`})
	})},
}

// modelCases change the structure of model files. Two thirds of the cases also remove the checksum,
// as a user who edits the file would.
func modelCases(f *fixture) []Case {
	const each = 12
	var cases []Case
	for _, file := range models {
		files := []string{file, "data.txt"}
		args := words("score --model " + file + " --data data.txt")
		want := f.expect(files, args...)
		for _, m := range mutations {
			for i := range each {
				name := fmt.Sprintf("model/%s/%s/%d", file, strings.ReplaceAll(m.name, " ", "-"), i)
				summed := i%3 == 0 && file != "random.json"
				cases = append(cases, Case{
					Name: name, Files: files, Args: args,
					Harm:  change(file, func(text []byte) []byte { return mutate(random(name), string(text), m, summed) }),
					Judge: judgeModel(want, m, summed),
				})
			}
		}
	}
	return append(cases, specialModelCases()...)
}

func mutate(rng *rand.Rand, text string, m mutation, summed bool) []byte {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	root := parseNode(d)
	if last := len(root.kids) - 1; !summed && root.kids[last].key == "sum" {
		root.kids = root.kids[:last]
	}
	m.apply(rng, root)
	var b strings.Builder
	root.write(&b)
	return []byte(b.String())
}

func judgeModel(want string, m mutation, summed bool) func(*box, *Result) (Verdict, string) {
	return func(_ *box, r *Result) (Verdict, string) {
		switch {
		case m.must:
			return silent, "the file was taken"
		case r.stdout == want:
			return right, ""
		case m.other && !summed:
			return undetectable, ""
		}
		return silent, "the scores differ from those of the unharmed model"
	}
}

// specialModelCases are cases with files that are not models.
func specialModelCases() []Case {
	var cases []Case
	add := func(name, text string) {
		cases = append(cases, Case{Name: "model/special/" + name, Files: []string{"data.txt"}, Args: words("score --model m.json --data data.txt"),
			Harm:  create("m.json", text),
			Judge: func(*box, *Result) (Verdict, string) { return silent, "the file was taken" }})
	}
	const head = `{"format":"listwise-model","version":1,"normalization":"none",`
	add("empty", "")
	add("space", strings.Repeat(" ", 1<<20))
	add("NUL", strings.Repeat("\x00", 1<<20))
	add("brackets", strings.Repeat("[", 1<<20))
	add("objects", strings.Repeat(`{"a":`, 1<<18))
	add("BOM", "\ufeff"+randomModel)
	add("wide", head+`"features":{"count":1000000000000},"scorer":{"type":"random","features":1000000000000,"seed":1}}`)
	add("wide stumps", head+`"features":{"count":1000000000000},"scorer":{"type":"stumps","features":1000000000000,"stumps":[{"feature":1000000000000,"threshold":1,"weight":1}]}}`)
	add("wide trees", head+`"features":{"count":1000000000000},"scorer":{"type":"trees","features":1000000000000,"trees":[{"feature":[1000000000000],"threshold":[1],"left":[-1],"right":[-2],"missing_left":[],"values":[1,2]}]}}`)
	linear := func(transforms string) string {
		return strings.Replace(head, `"version":1`, `"version":2`, 1) + `"features":{"count":5,"transforms":` + transforms + `},"scorer":{"type":"linear","weights":[1,1,1,1,1]}}`
	}
	add("transform of no feature", linear(`[{"feature":6,"steps":[{"step":"log1p"}]}]`))
	add("transform twice", linear(`[{"feature":1,"steps":[{"step":"log1p"}]},{"feature":1,"steps":[{"step":"log1p"}]}]`))
	add("unknown transform", linear(`[{"feature":1,"steps":[{"step":"exp"}]}]`))
	add("transforms without end", linear(`[{"feature":1,"steps":[`+strings.Repeat(`{"step":"log1p"},`, 1<<16)+`{"step":"log1p"}]}]`))
	add("negative deviation", linear(`[{"feature":1,"steps":[{"step":"standard","mean":0,"deviation":-1}]}]`))
	add("category out of range", head+`"features":{"count":5},"scorer":{"type":"trees","features":5,"trees":[{"feature":[1],"threshold":[null],"left":[-1],"right":[-2],"missing_left":[],"categories":[{"node":0,"left":[1e39]}],"values":[1,2]}]}}`)
	add("categories of no node", head+`"features":{"count":5},"scorer":{"type":"trees","features":5,"trees":[{"feature":[1],"threshold":[null],"left":[-1],"right":[-2],"missing_left":[],"categories":[{"node":1,"left":[1]}],"values":[1,2]}]}}`)
	add("infinite trees", head+`"features":{"count":5},"scorer":{"type":"trees","features":5,"trees":[{"feature":[],"threshold":[],"left":[],"right":[],"missing_left":[],"values":[1e308]},{"feature":[],"threshold":[],"left":[],"right":[],"missing_left":[],"values":[1e308]}]}}`)
	add("largest", head+`"features":{"count":9223372036854775807},"scorer":{"type":"random","features":9223372036854775807,"seed":1}}`)
	add("overflow", head+`"features":{"count":4611686018427387904},"scorer":{"type":"net","activation":"tanh","features":4611686018427387904,"hidden":4,"weights":[1]}}`)
	add("no members", head+`"features":{"count":0},"scorer":{"type":"fusion","rule":"borda","weights":[],"members":[]}}`)
	add("infinite", head+`"features":{"count":5},"scorer":{"type":"linear","weights":[1e308,1e308,1e308,1e308,1e308]}}`)
	for _, path := range []string{"/dev/zero", "/dev/null", "/dev/stdin", "/", ".", "/proc/self/mem"} {
		cases = append(cases, Case{Name: "model/special" + strings.ReplaceAll(path, "/", "-"), Files: []string{"data.txt"}, Args: []string{"score", "--model", path, "--data", "data.txt"},
			Judge: func(*box, *Result) (Verdict, string) { return silent, "it was taken for a model" }})
	}
	return cases
}

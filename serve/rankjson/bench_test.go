package rankjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/listwise/listwise/dataset/datatest"
	"github.com/listwise/listwise/internal/decimal"
)

// body is a request of 100 documents and 136 features, whose values are written in one of
// several ways.
func body(kind string, named bool) []byte {
	rng := datatest.Rand()
	text := []byte(`{"query":"q1","documents":[`)
	for doc := range 100 {
		if doc > 0 {
			text = append(text, ',')
		}
		text = fmt.Appendf(text, `{"id":"document-%d","features":`, doc)
		for j := range 136 {
			switch {
			case j > 0:
				text = append(text, ',')
			case named:
				text = append(text, '{')
			default:
				text = append(text, '[')
			}
			if named {
				text = fmt.Appendf(text, `"f%d":`, j+1)
			}
			text = append(text, value(kind, rng.Float64(), j)...)
		}
		if named {
			text = append(text, "}}"...)
		} else {
			text = append(text, "]}"...)
		}
	}
	return append(text, "]}"...)
}

// value writes a number of [0, 1): "unit" with six places, "float32" and "float64" with as many
// as they need, "mslr" as MSLR-WEB30K has its features, counts and sums among them.
func value(kind string, v float64, j int) string {
	switch kind {
	case "unit":
		return strconv.FormatFloat(v, 'f', 6, 64)
	case "float32":
		return strconv.FormatFloat(float64(float32(v)), 'g', -1, 32)
	case "float64":
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	switch j % 5 {
	case 0:
		return strconv.Itoa(int(6 * v))
	case 1:
		return strconv.Itoa(int(math.Exp(12 * v)))
	case 2:
		return strconv.FormatFloat(40*v, 'f', 6, 64)
	}
	return strconv.FormatFloat(v, 'f', 6, 64)
}

func wideSchema(named bool) *Schema {
	s := &Schema{Features: 136}
	if named {
		s.Columns = make(map[string]int)
		for j := range s.Features {
			s.Names = append(s.Names, "f"+strconv.Itoa(j+1))
			s.Columns[s.Names[j]] = j
		}
	}
	return s
}

// The floor is to make values of 13,600 texts of eight bytes, whose places are known, which
// "unit" has to do besides all else. encoding/json reads the same into a struct, less strictly.
func BenchmarkDecode(b *testing.B) {
	for _, kind := range []string{"unit", "mslr", "float32", "float64"} {
		b.Run(kind, func(b *testing.B) { benchmarkDecode(b, body(kind, false), wideSchema(false)) })
	}
	b.Run("named", func(b *testing.B) { benchmarkDecode(b, body("mslr", true), wideSchema(true)) })
	b.Run("floor", func(b *testing.B) {
		text, x := bytes.Repeat([]byte("0.123456,"), 13601), make([]float32, 13600)
		for b.Loop() {
			for i := range x {
				x[i], _ = decimal.Unit(decimal.Load8(text, 9*i))
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/13600, "ns/value")
	})
	b.Run("encoding-json", func(b *testing.B) {
		text := body("mslr", false)
		for b.Loop() {
			var r struct {
				Query     string
				Documents []struct {
					ID       string
					Features []float32
				}
			}
			if err := json.Unmarshal(text, &r); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/13600, "ns/value")
	})
}

func benchmarkDecode(b *testing.B, text []byte, s *Schema) {
	padded := append(make([]byte, 0, len(text)+Padding), text...)
	var r Request
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if err := r.Decode(padded, s, Limits{}, false); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/13600, "ns/value")
}

func BenchmarkAppendAnswer(b *testing.B) {
	r := &Request{Queries: []Query{{ID: []byte("q1"), Docs: 100}}}
	a := &Answer{Model: "web", Version: "3f2a9c01b7de", Rankings: [][]Ranked{nil}}
	rng := datatest.Rand()
	for i := range 100 {
		r.IDs = append(r.IDs, []byte("document-"+strconv.Itoa(i)))
		a.Rankings[0] = append(a.Rankings[0], Ranked{Doc: 99 - i, Score: rng.NormFloat64()})
	}
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		out = AppendAnswer(out[:0], a, r)
	}
}

// Claim: a request that is decoded into the memory of another, and its answer, need no new memory.
func TestNoAllocations(t *testing.T) {
	for _, named := range []bool{false, true} {
		text, s := body("float64", named), wideSchema(named)
		text = append(make([]byte, 0, len(text)+Padding), text...)
		var r Request
		a := &Answer{Model: "web", Version: "3f2a9c01b7de", Rankings: [][]Ranked{make([]Ranked, 100)}}
		for i := range 100 {
			a.Rankings[0][i] = Ranked{Doc: i, Score: 1 / float64(i+1)}
		}
		var out []byte
		if n := testing.AllocsPerRun(20, func() {
			if err := r.Decode(text, s, Limits{}, false); err != nil {
				t.Fatal(err)
			}
			out = AppendAnswer(out[:0], a, &r)
		}); n != 0 {
			t.Errorf("named %v: %v allocations, want none", named, n)
		}
	}
}

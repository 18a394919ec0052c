package rankjson

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset/datatest"
)

func isJSONNumber(text string) bool {
	return json.Valid([]byte(text)) && (text[0] == '-' || text[0]-'0' <= 9)
}

// compare decodes a body in both ways and compares what they make of it.
func compare(t *testing.T, r *Request, body []byte, s *Schema, l Limits, lenient bool) {
	t.Helper()
	before := string(body)
	want, wantErr := decodeNaively(body, s, l, lenient)
	err := r.Decode(body, s, l, lenient)
	if string(body) != before {
		t.Fatalf("%q became %q", before, body)
	}
	var e *Error
	switch {
	case err != nil && (!errors.As(err, &e) || e.Offset < 0 || e.Offset > len(body) || e.Detail == ""):
		t.Fatalf("%q: %#v", body, err)
	case err != nil && wantErr == nil && strings.Contains(err.Error(), "half of one is no character"):
	case (err != nil) != (wantErr != nil):
		t.Fatalf("%q: error %v, want %v", body, err, wantErr)
	case err == nil:
		if diff := sameRequest(want, r); diff != "" {
			t.Fatalf("%q (-want +got):\n%s", body, diff)
		}
	}
}

var seeds = []string{
	`{"documents":[{"id":"d1","features":[1,null,-0.5e-3]},{"id":"d2","features":[1.5,2.25,1e-50]}]}`,
	` { "query" : "q\u00e9\ud83d\ude00\/" , "top" : 2 , "documents" : [ { "features" : [ 1 , 2 , 3 ] } ] , "user" : "u", "lenient" : false } `,
	`{"queries":[{"query":"a","documents":[{"features":{"1":1,"2":2,"3":3},"id":"x"}]},{"documents":[{"features":[7,8,9]}]}],"contributions":true}`,
	`{"contributions":7,"documents":[{"features":{"bm25":1,"a/b~c":2,"qu\"ote\\n":3,"ähnlich":4}},{"features":{"\u00e4hnlich":4,"bm25":1,"a/b~c":2,"qu\"ote\\n":3}}]}`,
	`{"documents":[{"features":{"other":1,"bm25":2,"a/b":null}},{"features":[]}],"lenient":true}`,
	`{"documents":[{"features":[123456.789,0.12345678901234567,1e+38]}],"contributions":false}`,
}

func FuzzDecode(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s), false)
		f.Add([]byte(s), true)
	}
	f.Fuzz(func(t *testing.T, body []byte, lenient bool) {
		var r Request
		for _, s := range []*Schema{plainSchema, namedSchema} {
			compare(t, &r, body, s, Limits{Documents: 50, Cells: 120, Queries: 10}, lenient)
		}
	})
}

// Claim: damaged requests are refused or read as encoding/json reads them, whatever a Request
// held before.
func TestDecodeDamaged(t *testing.T) {
	rng := datatest.Rand()
	words := []string{"null", "true", "{", "}", "[", "]", ",", ":", `"`, `\`, "1e39", "-", "0", ".", " ", "\x00", "\xff", `"id":`, `"features":`, `"lenient":true,`, `\ud800`, "1", "9999999"}
	var r Request
	n := 50_000
	if testing.Short() {
		n /= 10
	}
	for range n {
		body := []byte(seeds[rng.IntN(len(seeds))])
		for range 1 + rng.IntN(3) {
			at := rng.IntN(len(body) + 1)
			cut := min(len(body), at+rng.IntN(4))
			body = append(append(append([]byte{}, body[:at]...), words[rng.IntN(len(words))]...), body[cut:]...)
		}
		s := plainSchema
		if rng.IntN(2) == 0 {
			s = namedSchema
		}
		compare(t, &r, body, s, Limits{Documents: 3, Cells: 12, Queries: 2}, rng.IntN(2) == 0)
	}
}

// Claim: numbers of all shapes are those of strconv.ParseFloat(text, 32).
func TestDecodeRandomNumbers(t *testing.T) {
	rng := datatest.Rand()
	var r Request
	for range 20_000 {
		text := randomNumber(rng)
		compare(t, &r, []byte(doc("[1,"+text+","+randomNumber(rng)+"]")), plainSchema, Limits{}, false)
	}
}

func randomNumber(rng *rand.Rand) string {
	switch v := math.Float32frombits(rng.Uint32()); rng.IntN(5) {
	case 0:
		return strconv.Itoa(rng.IntN(1 << (1 + rng.IntN(30))))
	case 1:
		return strconv.FormatFloat(rng.NormFloat64(), 'f', rng.IntN(20), 64)
	case 2:
		return strconv.FormatFloat(rng.NormFloat64()*1000, 'g', -1, 64)
	default:
		if v-v != 0 {
			v = 0
		}
		return strconv.FormatFloat(float64(v), "efg"[rng.IntN(3)], -1, 32+32*rng.IntN(2))
	}
}

// Claim: an answer is the JSON that encoding/json makes of the same, but for escapes.
func FuzzAppendAnswer(f *testing.F) {
	f.Add("m", "v", "id", 1.5, 0.0)
	f.Add("<m>", "\x00\u2028", "\xff\xc3\"\\\n", -1e-300, 1e21)
	f.Add("😀", "\u007f", "é", 1e-7, 123456789.125)
	f.Fuzz(func(t *testing.T, model, version, id string, a, b float64) {
		if a-a != 0 || b-b != 0 {
			return
		}
		r := &Request{Queries: []Query{{ID: []byte(id), Docs: 2}}, IDs: [][]byte{[]byte(id), nil}}
		answer := &Answer{Model: model, Version: version, Rankings: [][]Ranked{{{Doc: 1, Score: a}, {Doc: 0, Score: b, PlacedBy: model}}}}
		text := AppendAnswer([]byte("x"), answer, r)[1:]
		if strings.ContainsAny(string(text), "<>&\u2028\u2029") {
			t.Errorf("%s has characters of HTML or JavaScript", text)
		}
		type doc struct {
			ID       string  `json:"id"`
			Rank     int     `json:"rank"`
			Score    float64 `json:"score"`
			PlacedBy string  `json:"placed_by,omitempty"`
		}
		type answered struct {
			Model   string `json:"model"`
			Version string `json:"version,omitempty"`
			Query   string `json:"query"`
			Ranking []doc  `json:"ranking"`
		}
		want, err := json.Marshal(answered{model, version, id, []doc{{"2", 1, a, ""}, {id, 2, b, model}}})
		if err != nil {
			t.Fatal(err)
		}
		if model == "" {
			want = []byte(strings.ReplaceAll(string(want), `,"placed_by":""`, ""))
		}
		if got := normal(t, text); got != normal(t, want) {
			t.Errorf("got %s\nwant %s", got, normal(t, want))
		}
		if !strings.Contains(string(text), `"score":`+string(marshal(t, b))) {
			t.Errorf("%s has not the number %s", text, marshal(t, b))
		}
	})
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// normal is a JSON text as encoding/json writes it.
func normal(t *testing.T, text []byte) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return string(marshal(t, v))
}

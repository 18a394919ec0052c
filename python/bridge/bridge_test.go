package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/learn/method"
)

// ended waits for a job and returns its state and its answer.
func ended(t *testing.T, number uint64) (State, map[string]any) {
	t.Helper()
	for range 600 {
		state, answer := Wait(number, 100*time.Millisecond)
		if state == Running {
			continue
		}
		var fields map[string]any
		if err := json.Unmarshal(answer, &fields); err != nil {
			t.Fatalf("the answer %q: %v", answer, err)
		}
		return state, fields
	}
	t.Fatal("the job does not end")
	return Failed, nil
}

// x, y and counts are two queries of three documents of two features.
var (
	x      = []float32{1, 0, 0, 1, 0.5, 0.5, 2, 0, 0, 2, 1, 1}
	y      = []float64{1, 0, 0, 1, 0, 0}
	counts = []int64{3, 3}
)

const data = `{"name":"X","features":2,"x":0,"y":1,"ids":["a","b"],"counts":2}`

// Claim: a fit's file is the model that the library trains of the same recipe and data.
func TestFitIsTheLibrarys(t *testing.T) {
	number := Start([]byte(`{"op":"fit","method":"mle","set":{"C":"0.1"},"data":`+data+`}`), Arrays{x, y, counts})
	state, answer := ended(t, number)
	if state != Done {
		t.Fatal(answer)
	}
	r := method.DefaultRecipe()
	m, p, err := r.Problem("mle", map[string]string{"C": "0.1"})
	if err != nil {
		t.Fatal(err)
	}
	var b dataset.Builder
	for i, id := range []string{"a", "b"} {
		if err := b.Add(id, y[3*i:3*i+3], x[6*i:6*i+6], nil); err != nil {
			t.Fatal(err)
		}
	}
	p.Data = b.Dataset()
	want, err := m.Train(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	var file strings.Builder
	if err := want.Write(&file); err != nil {
		t.Fatal(err)
	}
	if got, ok := Array(number, 0).([]byte); !ok || string(got) != file.String() {
		t.Errorf("found the model\n%s\nexpected\n%s", got, file.String())
	}
	about, _ := answer["model"].(map[string]any)
	model, _ := about["number"].(float64)
	scores, again := make([]float64, 3), make([]float64, 3)
	if err := ScoreQuery(uint64(model), scores, x[:6]); err != nil {
		t.Fatal(err)
	}
	if err := want.ScoreQuery(again, x[:6]); err != nil || !slices.Equal(scores, again) {
		t.Errorf("found the scores %v, expected %v, %v", scores, again, err)
	}
	Release(uint64(model))
	if err := ScoreQuery(uint64(model), scores, x[:6]); err == nil {
		t.Error("a model that was released scores")
	}
	End(number)
	if Array(number, 0) != nil {
		t.Error("a job that was ended has arrays")
	}
}

// Claim: a request that is wrong, whatever it holds, is a failure with a message.
func TestWrongRequests(t *testing.T) {
	for request, want := range map[string]string{
		``:               `unexpected end`,
		`{}`:             `no operation ""`,
		`{"op":"no"}`:    `no operation "no"`,
		`{"op":"fit"}`:   `method`,
		`{"op":"load"}`:  `file`,
		`{"op":"score"}`: `no model 0`,
		`{"op":"fuse"}`:  `rule`,
		`{"op":"fuse","rule":"combsum","scale":"minmax"}`: `systems: found none`,
		`{"op":"read"}`: `missing`,
		`{"op":"fit","method":"mle","data":{"x":7}}`:                    `no array 7`,
		`{"op":"fit","method":"mle","data":{"x":1}}`:                    `[]float64`,
		`{"op":"fit","method":"mle","data":{"features":2,"x":0,"y":1}}`: `queries of 0 documents`,
		`{"op":"fit","method":"mle","data":{"ids":["a"],"counts":2}}`:   `1 ids for 2`,
		`{"op":"tune"}`: `listwise tune needs`,
		`{"op":"report","settings":{"seed":["x"]}}`:                                       `seed x: expected`,
		`{"op":"compare","settings":{"no":[""]}}`:                                         `no`,
		`{"op":"evaluate files","settings":{"data":["nowhere"],"model":["no"]}}`:          `no such file`,
		`{"op":"compare","settings":{"data":["nowhere"]},"systems":["nobody","nothing"]}`: `no such file`,
		`{"op":"evaluate","convention":"letor3","threshold":"auto","ties":""}`:            `measures`,
	} {
		number := Start([]byte(request), Arrays{x, y, counts})
		state, answer := ended(t, number)
		if message, _ := answer["message"].(string); state != Failed || !strings.Contains(message, want) {
			t.Errorf("%s: found %v %v, expected a failure with %q", request, state, answer, want)
		}
		End(number)
	}
}

// Claim: a panic is a failure of the kind internal, and does not end the process.
func TestPanicIsAFailure(t *testing.T) {
	operations["panic"] = func(*job, context.Context, []byte, Arrays) (any, error) { panic("oh") }
	defer delete(operations, "panic")
	state, answer := ended(t, Start([]byte(`{"op":"panic"}`), nil))
	if message, _ := answer["message"].(string); state != Failed || answer["kind"] != "internal" || !strings.Contains(message, "oh") {
		t.Errorf("found %v %v, expected an internal failure", state, answer)
	}
}

// Claim: a job that is cancelled ends with a failure of that kind; a number that JSON does not have
// is a failure too.
func TestCancel(t *testing.T) {
	operations["wait"] = func(_ *job, ctx context.Context, _ []byte, _ Arrays) (any, error) {
		<-ctx.Done()
		return nil, errors.New("stopped")
	}
	operations["NaN"] = func(*job, context.Context, []byte, Arrays) (any, error) { return math.NaN(), nil }
	defer delete(operations, "wait")
	defer delete(operations, "NaN")
	number := Start([]byte(`{"op":"wait"}`), nil)
	if state, _ := Wait(number, time.Millisecond); state != Running {
		t.Errorf("found the state %v of a job that waits", state)
	}
	Cancel(number)
	if state, answer := ended(t, number); state != Failed || answer["kind"] != "cancelled" {
		t.Errorf("found %v %v, expected a cancelled job", state, answer)
	}
	if state, answer := ended(t, Start([]byte(`{"op":"NaN"}`), nil)); state != Failed || answer["kind"] != "internal" {
		t.Errorf("found %v %v, expected an internal failure", state, answer)
	}
}

// Claim: no request of any bytes panics or hangs.
func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"op":"fit","method":"mle","set":{"iterations":"2"},"data":` + data + `}`))
	f.Add([]byte(`{"op":"evaluate","measures":"map","convention":"letor3","threshold":"auto","ties":"input","scores":1,"data":` + data + `}`))
	f.Add([]byte(`{"op":"fuse","rule":"combsum","scale":"minmax","scores":[1,1],"data":` + data + `}`))
	f.Fuzz(func(t *testing.T, request []byte) {
		for _, other := range []string{"compare", "files", "read", "report", "tune", "write"} { // which use files
			if strings.Contains(string(request), other) {
				t.Skip()
			}
		}
		number := Start(request, Arrays{x, y, counts})
		defer End(number)
		if state, answer := ended(t, number); state == Failed && answer["kind"] == "internal" && strings.Contains(answer["message"].(string), "mistake") {
			t.Errorf("%s: %v", request, answer)
		}
	})
}

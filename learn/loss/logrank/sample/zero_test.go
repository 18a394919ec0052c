package sample

import (
	"reflect"
	"strings"
	"testing"

	"github.com/listwise/listwise/learn/loss/bipartite"
)

// Claim: the zero Options are the default ones; options that are begun and not complete say
// what they lack.
func TestZeroOptions(t *testing.T) {
	pairs := bipartite.Split([]float64{1, 0, 0, 1, 0}, 1)
	got, err := Draw(pairs, auc{}, Options{}, stream(1))
	if err != nil {
		t.Fatal(err)
	}
	want, err := Draw(pairs, auc{}, DefaultOptions(), stream(1))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("zero options draw %+v, the default ones %+v", got, want)
	}
	for want, o := range map[string]Options{"thin 0, expected at least 1": {Samples: 10}, "samples 0, expected at least 1": {Thin: 1}} {
		if _, err := DrawFrom(pairs, auc{}, 0, o, stream(1)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}

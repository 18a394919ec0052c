package scorer

import (
	"fmt"

	"github.com/listwise/listwise/internal/strictjson"
)

// networkFile is the architecture of a network or a pair network in a model file;
// its parameters follow as "weights", in their order.
type networkFile struct {
	Type       string `json:"type"`
	Activation string `json:"activation"`
	Features   int    `json:"features"`
	Hidden     int    `json:"hidden"`
	PairHidden int    `json:"pair_hidden,omitempty"`
}

func (n Network) encode(params []float64) ([]byte, error) {
	return withWeights(networkFile{Type: n.Kind(), Activation: n.Activation.String(), Features: n.Features, Hidden: n.Hidden}, params)
}

func (n PairNetwork) encode(params []float64) ([]byte, error) {
	return withWeights(networkFile{n.Kind(), n.Activation.String(), n.Features, n.Hidden, n.PairHidden}, params)
}

func decodeNetwork(o strictjson.Object) (Scorer, []float64, error) {
	f, err := readNetwork(o)
	if err != nil {
		return nil, nil, err
	}
	w, err := f.parameters(float64(f.Hidden) * (float64(f.Features) + 2))
	if err != nil {
		return nil, nil, err
	}
	return Network{Features: f.Features, Hidden: f.Hidden, Activation: f.activation}, w, nil
}

func decodePairNetwork(o strictjson.Object) (Scorer, []float64, error) {
	f, err := readNetwork(o)
	if err == nil {
		err = atLeastOne("pair_hidden", f.PairHidden)
	}
	if err != nil {
		return nil, nil, err
	}
	p := float64(f.Features)
	w, err := f.parameters(float64(float64(f.Hidden)*(p+2)) + float64(float64(f.PairHidden)*(float64(2*p)+2)))
	if err != nil {
		return nil, nil, err
	}
	return PairNetwork{Features: f.Features, Hidden: f.Hidden, PairHidden: f.PairHidden, Activation: f.activation}, w, nil
}

// readFile is a networkFile as it was read.
type readFile struct {
	networkFile
	weights    []float64
	activation Activation
}

func readNetwork(o strictjson.Object) (*readFile, error) {
	var f readFile
	var list struct {
		Weights strictjson.Numbers `json:"weights"`
	}
	err := o.Decode(&f.networkFile)
	if err == nil {
		err = o.Decode(&list)
		f.weights = list.Weights
	}
	if err == nil {
		f.activation, err = ParseActivation(f.Activation)
	}
	if err == nil {
		err = atLeastOne("features", f.Features)
	}
	if err == nil {
		err = atLeastOne("hidden", f.Hidden)
	}
	return &f, err
}

// parameters returns the number of weights of the architecture, in floating point because
// products of what a file says may overflow.
func (f *readFile) parameters(want float64) ([]float64, error) {
	if float64(len(f.weights)) != want {
		return nil, fmt.Errorf("found %d weights, expected %.0f", len(f.weights), want)
	}
	return f.weights, nil
}

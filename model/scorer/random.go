package scorer

import (
	"errors"
	"math"
	"math/rand/v2"

	"github.com/listwise/listwise/internal/strictjson"
)

// Random gives a document a number in [0, 1) that depends only on its features and a seed. The order is
// random but reproducible, and does not depend on the position in the file. Documents with equal
// features tie. Random has no parameters.
type Random struct {
	Features int
	Seed     uint64
}

var _ Scorer = Random{}

// Kind returns "random".
func (Random) Kind() string { return "random" }

// NumFeatures returns the number of features.
func (r Random) NumFeatures() int { return r.Features }

// NumParams returns 0.
func (Random) NumParams() int { return 0 }

// Init does nothing.
func (Random) Init([]float64, *rand.Rand) {}

// Score sets dst to hashes of the rows. The workspace may be nil. Trailing features with the value 0 do
// not change the hash, so a file may omit them.
func (r Random) Score(dst, _ []float64, x []float32, _ *Workspace) {
	mustMatch("features", len(x), len(dst)*r.Features)
	for i := range dst {
		h := scramble(r.Seed)
		for j, v := range x[i*r.Features : (i+1)*r.Features] {
			if v != 0 {
				h = scramble(h ^ uint64(j)<<32 ^ uint64(math.Float32bits(v)))
			}
		}
		dst[i] = float64(h>>11) / (1 << 53)
	}
}

// Backward does nothing, since Random has no parameters.
func (Random) Backward(_, _ []float64, _ []float32, _ []float64, _ *Workspace) {}

// scramble returns the output of the generator SplitMix64 for the state z.
func scramble(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// randomFile is the form of Random in a model file.
type randomFile struct {
	Type     string `json:"type"`
	Features int    `json:"features"`
	Seed     uint64 `json:"seed"`
}

func (r Random) encode([]float64) ([]byte, error) {
	return strictjson.Marshal(randomFile{Type: r.Kind(), Features: r.Features, Seed: r.Seed})
}

func decodeRandom(o strictjson.Object) (Scorer, []float64, error) {
	var f struct {
		Features int     `json:"features"`
		Seed     *uint64 `json:"seed"` // a pointer, so that null or a missing key differs from 0
	}
	if err := o.Decode(&f); err != nil {
		return nil, nil, err
	}
	if err := atLeastOne("features", f.Features); err != nil {
		return nil, nil, err
	}
	if f.Seed == nil {
		return nil, nil, errors.New(`found no "seed", expected a whole number`)
	}
	return Random{Features: f.Features, Seed: *f.Seed}, []float64{}, nil
}

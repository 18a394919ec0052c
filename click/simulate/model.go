package simulate

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/suggest"
)

// Model is a click model with its parameters.
type Model interface {
	// Bind prepares the model for queries of which at most top documents are shown.
	Bind(queries []Query, top int) (Bound, error)
	// Describe returns the name and the parameters that documents share.
	Describe() (name string, parameters map[string]any)
	// Theta returns the probability of examination of a rank, if that does not depend on clicks.
	Theta(rank int) (theta float64, ok bool)
}

// Bound is a model that knows the documents. Its methods may be called concurrently.
type Bound interface {
	// Draw appends to dst whether each of the documents of a query is clicked. Documents are numbers in the
	// query, from top to bottom.
	Draw(rng *rand.Rand, query int, docs []int, dst []bool) []bool
	// Document returns the attraction of a document, and its satisfaction, NaN if the model has none.
	Document(query, doc int) (attraction, satisfaction float64)
}

// law is a click model given the attraction of documents. Its methods get the rank from 0, the last
// clicked rank above or −1, the attraction and satisfaction of the document, and the state. The state is 1 at
// rank 0.
type law interface {
	click(rank, last int, state, attraction float64) float64 // probability of a click given those above
	next(rank int, state, attraction, satisfaction float64, clicked bool) float64
}

// Graded is a model in which attraction and satisfaction depend on the grade alone.
type Graded struct {
	Name       string
	Noise      float64   // attraction of grade 0
	Stop       []float64 // satisfaction by whole grade, for models that use it
	law        law
	theta      func(rank int) float64 // probability of examination by rank, nil if it depends on clicks
	parameters map[string]any
}

// The names of models that ParseModel knows.
const (
	pbmName     = "pbm"
	cascadeName = "cascade"
	ubmName     = "ubm"
	dbnName     = "dbn"
	dcmName     = "dcm"
	ccmName     = "ccm"
	trustName   = "trust"
)

// Names returns the names of the models that ParseModel knows.
func Names() []string {
	return []string{pbmName, cascadeName, ubmName, dbnName, dcmName, ccmName, trustName}
}

// ParseModel reads a model such as "pbm:eta=1,noise=0.1" or "dbn:stop=0,.5,.9,continue=.9".
func ParseModel(text string) (*Graded, error) {
	name, rest, _ := strings.Cut(text, ":")
	if !slices.Contains(Names(), name) {
		return nil, fmt.Errorf("found click model %q%s", name, suggest.Or(name, Names(), ", expected "+suggest.OneOf(Names())))
	}
	p := parameters{model: name}
	if name == ubmName {
		rest, p.file = cutFile(rest)
	}
	if err := p.read(rest); err != nil {
		return nil, err
	}
	g := &Graded{Name: name, Noise: p.one("noise", 0.1, 0, 1), parameters: map[string]any{}}
	g.parameters["noise"] = g.Noise
	switch name {
	case pbmName, trustName:
		eta := p.one("eta", 1, 0, 100)
		g.parameters["eta"] = eta
		g.theta = func(rank int) float64 { return elementary.Pow(float64(rank+1), -eta) }
		if theta := tabled(g.theta); name == pbmName {
			g.law = position{theta: theta}
		} else {
			g.law = trust{theta: theta}
		}
	case cascadeName:
		g.law = chain{1, func(int, float64, float64) float64 { return 0 }}
	case dcmName:
		on := p.list("continue", []float64{0.7}, 0, 1)
		g.parameters["continue"] = on
		g.law = chain{1, func(rank int, _, _ float64) float64 { return on[min(rank, len(on)-1)] }}
	case dbnName:
		on := p.one("continue", 0.9, 0, 1)
		g.Stop = p.list("stop", nil, 0, 1)
		if g.Stop == nil && p.err == nil {
			p.err = fmt.Errorf("found %s without stop, expected the probability of satisfaction by grade, such as stop=0,.5,.9", name)
		}
		g.parameters["continue"], g.parameters["stop"] = on, g.Stop
		g.law = chain{on, func(_ int, _, s float64) float64 { return on * (1 - s) }}
	case ccmName:
		tau := p.list("tau", []float64{0.95, 0.9, 0.5}, 0, 1)
		if len(tau) != 3 && p.err == nil {
			p.err = fmt.Errorf("found %d values of tau, expected 3: after a skip, a click, a click that satisfied", len(tau))
		}
		g.parameters["tau"] = tau
		if p.err == nil {
			g.law = chain{tau[0], func(_ int, a, _ float64) float64 {
				return float64(tau[1]*(1-a)) + float64(tau[2]*a)
			}}
		}
	case ubmName:
		gamma, err := readGamma(p.file)
		if err != nil {
			return nil, err
		}
		g.parameters["examination"] = gamma
		g.law = browsing{gamma: gamma}
	}
	return g, p.end()
}

// cutFile splits the parameters of ubm into the name of the file and the rest.
func cutFile(text string) (rest, file string) {
	if at := strings.LastIndex(text, ",noise="); at >= 0 {
		return text[at+1:], text[:at]
	}
	return "", text
}

// parameters are the key=value pairs of a model. A word without "=" continues the list before it.
type parameters struct {
	model, file string
	values      map[string][]float64
	known       []string
	err         error
}

func (p *parameters) read(text string) error {
	p.values = map[string][]float64{}
	if text == "" {
		return nil
	}
	last := ""
	for word := range strings.SplitSeq(text, ",") {
		key, value, ok := strings.Cut(word, "=")
		switch {
		case !ok && last == "":
			return fmt.Errorf("found %q of %s, expected NAME=VALUE", word, p.model)
		case !ok:
			key, value = last, word
		case p.values[key] != nil:
			return fmt.Errorf("found %s of %s twice, expected it once", key, p.model)
		}
		last = key
		v, err := strconv.ParseFloat(value, 64)
		if err != nil || math.IsNaN(v) {
			return fmt.Errorf("found %s=%q of %s, expected a number", key, value, p.model)
		}
		p.values[key] = append(p.values[key], v)
	}
	return nil
}

// list returns the values of a key. It notes an error if one is outside low to high.
func (p *parameters) list(key string, otherwise []float64, low, high float64) []float64 {
	p.known = append(p.known, key)
	list, ok := p.values[key]
	if !ok {
		return otherwise
	}
	for _, v := range list {
		if !(v >= low && v <= high) && p.err == nil {
			p.err = fmt.Errorf("found %s=%v of %s, expected a number from %v to %v", key, v, p.model, low, high)
		}
	}
	return list
}

// one is list for a single number.
func (p *parameters) one(key string, otherwise, low, high float64) float64 {
	list := p.list(key, []float64{otherwise}, low, high)
	if len(list) > 1 && p.err == nil {
		p.err = fmt.Errorf("found %d values of %s of %s, expected one", len(list), key, p.model)
	}
	return list[0]
}

// end returns the first error, which may be a key that was not asked for.
func (p *parameters) end() error {
	if p.err != nil {
		return p.err
	}
	keys := make([]string, 0, len(p.values))
	for key := range p.values {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		if !slices.Contains(p.known, key) {
			return fmt.Errorf("found %q of %s%s", key, p.model, suggest.Or(key, p.known, ", expected "+suggest.OneOf(p.known)))
		}
	}
	return nil
}

// readGamma reads the examination of the user browsing model. Rank r has a list of probabilities: without a
// click above, and with the last click above at rank 1, …, r−1.
func readGamma(path string) ([][]float64, error) {
	if path == "" {
		return nil, fmt.Errorf("found %s without a file, expected ubm:FILE", ubmName)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var gamma [][]float64
	if err := json.Unmarshal(text, &gamma); err != nil || len(gamma) == 0 {
		return nil, fmt.Errorf("%s: found other content, expected a list of lists of numbers as [[1], [0.7, 0.9]]", path)
	}
	for r, list := range gamma {
		if len(list) != r+1 {
			return nil, fmt.Errorf("%s: found %d numbers at rank %d, expected %d", path, len(list), r+1, r+1)
		}
		for _, v := range list {
			if !(v >= 0 && v <= 1) {
				return nil, fmt.Errorf("%s: found %v at rank %d, expected a number from 0 to 1", path, v, r+1)
			}
		}
	}
	return gamma, nil
}

func tabled(f func(int) float64) []float64 {
	t := make([]float64, click.MaxDocs)
	for i := range t {
		t[i] = f(i)
	}
	return t
}

// stateless is the part of a model without a state.
type stateless struct{}

func (stateless) next(int, float64, float64, float64, bool) float64 { return 1 }

// position is the position-based model.
type position struct {
	stateless
	theta []float64
}

func (m position) click(rank, _ int, _, a float64) float64 { return m.theta[rank] * a }

// trust is the trust bias model of propensities.py: users who examine rank k click a relevant document with
// probability 1 − (k+1)/100 and another one with probability 0.65/k.
type trust struct {
	stateless
	theta []float64
}

func trusted(rank int) (relevant, other float64) {
	k := float64(rank + 1)
	other = 0.65 / k
	return max(other, 1-(k+1)/100), other
}

func (m trust) click(rank, _ int, _, a float64) float64 {
	relevant, other := trusted(rank)
	return m.theta[rank] * (float64(relevant*a) + float64(other*(1-a)))
}

// browsing is the user browsing model. Ranks below the last of the table are not examined.
type browsing struct {
	stateless
	gamma [][]float64
}

func (m browsing) click(rank, last int, _, a float64) float64 {
	if rank >= len(m.gamma) {
		return 0
	}
	return m.gamma[rank][last+1] * a
}

// chain is a model in which users go down the page. The state is the probability of examination given the
// clicks above. onSkip and onClick are the probabilities to go on after a skip and after a click.
type chain struct {
	onSkip  float64
	onClick func(rank int, attraction, satisfaction float64) float64
}

func (m chain) click(_, _ int, state, a float64) float64 { return state * a }

func (m chain) next(rank int, state, a, s float64, clicked bool) float64 {
	if clicked {
		return m.onClick(rank, a, s)
	}
	if rest := 1 - float64(a*state); rest > 0 {
		return state * (1 - a) * m.onSkip / rest
	}
	return 0
}

// mostGrade limits 2^grade.
const mostGrade = 1000

// Bind implements Model.
func (g *Graded) Bind(queries []Query, _ int) (Bound, error) {
	top := 1.0 // grades of a log without a relevant document are no reason for attraction
	for _, q := range queries {
		for _, y := range q.Grades {
			if !(y >= 0 && y <= mostGrade) {
				return nil, fmt.Errorf("found grade %v in query %q, expected 0 to %d", y, q.ID, mostGrade)
			}
			top = max(top, y)
		}
	}
	b := &graded{law: g.law, attraction: make([][]float64, len(queries)), satisfaction: make([][]float64, len(queries))}
	for i, q := range queries {
		for _, y := range q.Grades {
			gain := (elementary.Exp2(y) - 1) / (elementary.Exp2(top) - 1)
			b.attraction[i] = append(b.attraction[i], g.Noise+float64((1-g.Noise)*gain))
			s := math.NaN()
			if g.Stop != nil {
				if y != math.Trunc(y) || y < 0 || int(y) >= len(g.Stop) {
					return nil, fmt.Errorf("found grade %v in query %q, expected a whole grade from 0 to %d, since stop has %d values", y, q.ID, len(g.Stop)-1, len(g.Stop))
				}
				s = g.Stop[int(y)]
			}
			b.satisfaction[i] = append(b.satisfaction[i], s)
		}
	}
	return b, nil
}

// Describe implements Model.
func (g *Graded) Describe() (name string, parameters map[string]any) { return g.Name, g.parameters }

// Theta implements Model.
func (g *Graded) Theta(rank int) (theta float64, ok bool) {
	if g.theta == nil {
		return 0, false
	}
	return g.theta(rank), true
}

// graded is a Graded with the values of all documents.
type graded struct {
	law                      law
	attraction, satisfaction [][]float64
}

// Draw implements Bound.
func (b *graded) Draw(rng *rand.Rand, query int, docs []int, dst []bool) []bool {
	state, last := 1.0, -1
	for rank, d := range docs {
		a, s := b.attraction[query][d], b.satisfaction[query][d]
		clicked := rng.Float64() < b.law.click(rank, last, state, a)
		state = b.law.next(rank, state, a, s, clicked)
		if clicked {
			last = rank
		}
		dst = append(dst, clicked)
	}
	return dst
}

// Document implements Bound.
func (b *graded) Document(query, doc int) (attraction, satisfaction float64) {
	return b.attraction[query][doc], b.satisfaction[query][doc]
}

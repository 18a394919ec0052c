package method

import "github.com/listwise/listwise/learn/loss"

const boltzRankSource = "Volkovs, Zemel: BoltzRank: Learning to Rank with Pairwise Potentials, ICML 2009"

// newBoltzRank1 makes a method whose default scorer is linear and so is trained to
// the minimum, where C alone decides how close the fit is.
func newBoltzRank1() *Method {
	m := boltzRank(Method{
		Name:    "boltzrank1",
		Title:   "BoltzRank1",
		Summary: "Expected measure and cross entropy under a Boltzmann distribution over sampled rankings.",
		Source:  boltzRankSource,
	})
	m.preset("C", "1", "0.3", "1", "3")
	return m
}

// newBoltzRank2 makes a method of pair networks, which overfit fast: few units for
// the pairs, few epochs and a low rate. A bag of several is better still.
func newBoltzRank2() *Method {
	m := boltzRank(Method{
		Name:    "boltzrank2",
		Title:   "BoltzRank2",
		Summary: "BoltzRank1 with scores that depend on the query's other documents (scorer pairnet).",
		Source:  boltzRankSource,
		pairs:   true,
	})
	m.preset("C", "10", "3", "10")
	m.preset("rate", "0.001")
	m.preset("epochs", "30")
	m.preset("patience", "0")
	m.preset("pair_hidden", "4")
	return m
}

func boltzRank(m Method) *Method {
	m.UsesMeasure, m.DefaultMeasure, m.takes = true, "ndcg@10", anyOne
	m.Hyperparameters = []Hyperparameter{
		{Name: "lambda", Kind: Number, Default: "0.5", Min: 0, Max: 1, Grid: []string{"0.5", "0.8"}, Doc: "weight of the expected measure; the rest is that of the cross entropy"},
		{Name: "energy", Kind: Choice, Default: "linear", Choices: []string{"linear", "sign", "graded"}, Doc: "function of a difference of ranks in the energy; graded: sign, over differently graded pairs"},
		{Name: "alpha", Kind: Number, Default: "0.2", Min: leastPositive, Max: 1e6, Doc: "scale of the energy, also of grades: smaller values weight the sampled rankings more evenly"},
		{Name: "growing", Kind: Switch, Default: "false", Doc: "scale with the length of the list, so that a step in rank has the same weight in all lists"},
		{Name: "samples", Kind: Integer, Default: "100", Min: 1, Max: 1e6, Doc: "rankings drawn for each query"},
		{Name: "sharpness", Kind: Number, Default: "0.5", Min: 0, Max: 1e6, Doc: "factor of the grades when rankings are sampled: larger values give better rankings; 0: each uses one of ½, 1, 2, 4 and ∞"},
		{Name: "negatives", Kind: Number, Default: "0", Min: 0, Max: 1e6, Doc: "irrelevant documents kept for each relevant one; 0: all"},
		threshold(" (negatives>0)"),
	}
	return gradientMethod(m, regularization("10", nil), nil, func(p *Problem) (loss.Loss, error) {
		v := p.Values
		energy, err := loss.ParseEnergy(v.Text("energy"))
		l := loss.BoltzRank{
			Measure:   p.Measure,
			Lambda:    v.Number("lambda"),
			Energy:    energy,
			Alpha:     v.Number("alpha"),
			Growing:   v.Bool("growing"),
			Sampler:   loss.PermutationOptions{Rankings: v.Int("samples")},
			Negatives: v.Number("negatives"),
			Threshold: v.Number("threshold"),
		}
		if sharpness := v.Number("sharpness"); sharpness > 0 {
			l.Sampler.Sharpness = []float64{sharpness}
		}
		return l, err
	})
}

// preset gives a hyperparameter that many methods share the default and the grid
// that suit this one.
func (m *Method) preset(name, value string, grid ...string) {
	h, err := m.hyperparameter(name)
	if err != nil {
		panic(err) // a mistake in the registry
	}
	h.Default, h.Grid, h.NetworkGrid = value, grid, nil
}

package policy

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/click/propensity"
)

// Evaluation estimates the values of policies from a log. Count all pages, call Prepare, and Add the same pages
// again. Its memory grows with users, pairs of a query and a document and, without users, pages.
type Evaluation struct {
	Config

	index   click.Index
	ranks   []int32 // the slots of the ranks of pages without slots
	slots   []Slot  // by number; Alpha is NaN if the slot has no examination
	queries map[string]int32
	totals  []queryTotals
	cells   map[cell]int32
	list    []cell
	counts  []click.Count
	arms    []string
	armOf   map[[2]string]int32
	weights []float64 // of the pages of the arms

	// By pair, after Prepare.
	examined, clicked []float64    // Σθ and Σ(c − β)
	control           []float64    // relevance, shrunk to gamma or to the mean
	gamma             []float64    // of the regression, nil without one
	starts            []int32      // of each pair's cells in order, and the end of the last
	order             []int32      // cells by pair
	byArm             [][2]float64 // Σθ and Σ(c − β) of pair and arm, by pair times the number of arms
	pages             int          // added after Prepare
	prepared, weighed bool

	units   units
	sums    []policySums
	log     logSums
	slope   []float64 // of a page's term, scratch
	same    []sameSums
	skipped Skipped
	page    page
	solver  solver
}

// cell is a pair in a slot, shown by an arm.
type cell struct {
	pair int32
	slot uint16
	arm  uint16
}

// queryTotals are sums over the pages of a query.
type queryTotals struct {
	fold   int // of the regression that predicts it
	weight float64
	same   []sameTotals // by policy
}

// sameTotals are sums over the pages of a query whose ranking is that of a policy.
type sameTotals struct {
	pages          int
	weight, reward float64
}

// Skipped counts pages that are left out.
type Skipped struct {
	Unplaced int      // in slots without propensities
	Slots    []string // some of these slots
	Unranked int      // that a policy cannot rank
}

// slotsNamed is the number of slots that Skipped names.
const slotsNamed = 5

// mostArms is the largest number of arms that are compared with each other.
const mostArms = 10

// folds is the number of parts of the queries for the regression.
const folds = 5

// Memory of parts of an evaluation.
const (
	cellBytes  = 72
	pairBytes  = 250
	queryBytes = 150
)

// New returns an evaluation, or an error about the config.
func New(c Config) (*Evaluation, error) {
	c, err := c.settled()
	if err != nil {
		return nil, err
	}
	n := len(c.Policies)
	return &Evaluation{Config: c, sums: make([]policySums, n), same: make([]sameSums, n)}, nil
}

// page is a page that is being evaluated.
type page struct {
	*click.Page

	rankings [][]click.Order // of the policies
	slots    []uint16        // of the ranks
	pairs    []int32
	query    int32
	arm      int32
}

// open fills in e.page. It reports whether the page counts.
func (e *Evaluation) open(p *click.Page) (bool, error) {
	if p.Clicks == nil {
		return false, bad("a page without clicks", "clicks or clicked")
	}
	g := &e.page
	g.Page, g.rankings, g.slots, g.pairs = p, g.rankings[:0], g.slots[:0], g.pairs[:0]
	for r := range p.Docs {
		s, err := e.slot(p, r)
		if err != nil {
			return false, err
		}
		if e.Estimator.byExamination() && math.IsNaN(e.slots[s].Alpha) {
			if e.skipped.Unplaced++; len(e.skipped.Slots) < slotsNamed && !slices.Contains(e.skipped.Slots, p.SlotName(r)) {
				e.skipped.Slots = append(e.skipped.Slots, strings.Clone(p.SlotName(r)))
			}
			return false, nil
		}
		g.slots = append(g.slots, s)
	}
	for _, policy := range e.Policies {
		rankings := policy.Rankings(p)
		if rankings == nil {
			e.skipped.Unranked++
			return false, nil
		}
		g.rankings = append(g.rankings, rankings)
	}
	return true, nil
}

// slot returns the number of the slot of a rank.
func (e *Evaluation) slot(p *click.Page, r int) (uint16, error) {
	plain := p.Slots == nil && e.Part == nil
	if plain && r < len(e.ranks) {
		return uint16(e.ranks[r]), nil
	}
	name := p.SlotName(r)
	if e.Part != nil {
		own := SlotName(e.Part(p), name)
		if _, ok := e.Slots[own]; ok {
			name = own
		}
	}
	n := e.index.Slot(name)
	if n >= click.MaxSlots {
		return 0, bad(fmt.Sprintf("slot %q", name), fmt.Sprintf("at most %d slots in a log", click.MaxSlots))
	}
	if n == len(e.slots) {
		s := e.Slots[name]
		if !(s.Alpha > 0) {
			s.Alpha = math.NaN()
		}
		e.slots = append(e.slots, s)
	}
	if plain {
		e.ranks = append(e.ranks, int32(n)) // r is its length, since ranks come in order
	}
	return uint16(n), nil
}

// Count counts a page, in the first reading.
func (e *Evaluation) Count(p *click.Page) error {
	ok, err := e.open(p)
	if !ok {
		return err
	}
	g := &e.page
	before := int64(len(e.list))*cellBytes + int64(e.index.Pairs())*pairBytes + int64(len(e.totals))*queryBytes
	q := e.query(p.Query)
	t := &e.totals[q]
	t.weight += p.Weight
	arm, err := e.arm(p)
	if err != nil {
		return err
	}
	e.weights[arm] += p.Weight
	for r, d := range p.Docs {
		c := cell{int32(e.index.Pair(p.Query, d)), g.slots[r], uint16(arm)}
		i, known := e.cells[c]
		if !known {
			if e.cells == nil {
				e.cells = map[cell]int32{}
			}
			i = int32(len(e.list))
			e.cells[c] = i
			e.list, e.counts = append(e.list, c), append(e.counts, click.Count{})
		}
		e.counts[i].Shown += p.Weight
		if p.Clicked(r) {
			e.counts[i].Clicked += p.Weight
		}
	}
	for k, rankings := range g.rankings {
		if e.Estimator.regressed() { // the regression predicts documents that were never shown
			for _, o := range rankings {
				for _, d := range top(o.Docs, len(p.Docs)) {
					e.index.Pair(p.Query, d)
				}
			}
		}
		if len(rankings) == 1 && slices.Equal(top(rankings[0].Docs, len(p.Docs)), p.Docs) {
			if t.same == nil {
				t.same = make([]sameTotals, len(e.Policies))
			}
			s := &t.same[k]
			s.pages++
			s.weight += p.Weight
			s.reward += float64(p.Weight * e.reward())
		}
	}
	if e.Mem == nil {
		return nil
	}
	after := int64(len(e.list))*cellBytes + int64(e.index.Pairs())*pairBytes + int64(len(e.totals))*queryBytes
	return e.Mem.Take(after-before, "counts of clicks")
}

// top returns the first n documents.
func top(docs []string, n int) []string { return docs[:min(n, len(docs))] }

// query returns the number of a query.
func (e *Evaluation) query(name string) int32 {
	q, known := e.queries[name]
	if !known {
		if e.queries == nil {
			e.queries = map[string]int32{}
		}
		q = int32(len(e.totals))
		e.queries[strings.Clone(name)] = q
		e.totals = append(e.totals, queryTotals{fold: int(q) % folds})
	}
	return q
}

// arm returns the number of the arm of a page.
func (e *Evaluation) arm(p *click.Page) (int32, error) {
	key := [2]string{p.Experiment, p.Arm}
	n, known := e.armOf[key]
	if !known {
		if e.armOf == nil {
			e.armOf = map[[2]string]int32{}
		}
		if n = int32(len(e.arms)); n > math.MaxUint16 {
			return 0, bad("more than 65536 arms", "fewer")
		}
		e.armOf[[2]string{strings.Clone(p.Experiment), strings.Clone(p.Arm)}] = n
		e.arms, e.weights = append(e.arms, strings.Clone(p.Arm)), append(e.weights, 0)
	}
	return n, nil
}

// reward is what the log got from the page: the worth of its clicks, or an unbiased estimate of the worth of its
// relevance.
func (e *Evaluation) reward() float64 {
	sum := 0.0
	for r := range e.page.Docs {
		c := e.click(r)
		if e.Value == DCG && e.Estimator.byExamination() {
			s := e.slots[e.page.slots[r]]
			c = (c - s.Beta) / s.Alpha
		}
		sum += float64(c * e.Worth(r))
	}
	return sum
}

// click returns 1 if the document at a rank was clicked, else 0.
func (e *Evaluation) click(rank int) float64 {
	if e.page.Clicked(rank) {
		return 1
	}
	return 0
}

// Prepare ends the first reading.
func (e *Evaluation) Prepare() error {
	e.skipped = Skipped{}
	e.prepared = true
	pairs := e.index.Pairs()
	e.examined, e.clicked = make([]float64, pairs), make([]float64, pairs)
	e.starts, e.order = make([]int32, pairs+1), make([]int32, len(e.list))
	compared := len(e.arms) > 1 && len(e.arms) <= mostArms && e.Estimator.byExamination()
	if compared {
		e.byArm = make([][2]float64, pairs*len(e.arms))
	}
	for i, c := range e.list {
		e.starts[c.pair+1]++
		if !e.Estimator.byExamination() {
			continue
		}
		s := e.slots[c.slot]
		examined := float64(s.Alpha * e.counts[i].Shown)
		clicked := e.counts[i].Clicked - float64(s.Beta*e.counts[i].Shown)
		e.examined[c.pair] += examined
		e.clicked[c.pair] += clicked
		if compared {
			a := &e.byArm[int(c.pair)*len(e.arms)+int(c.arm)]
			a[0], a[1] = a[0]+examined, a[1]+clicked
		}
	}
	for i := range pairs {
		e.starts[i+1] += e.starts[i]
	}
	next := slices.Clone(e.starts)
	for i, c := range e.list {
		e.order[next[c.pair]] = int32(i)
		next[c.pair]++
	}
	if !e.Estimator.byExamination() {
		return nil
	}
	return e.relevances()
}

// shrinkage is the number of examinations that the mean, or a regression, counts for in the relevance of a pair.
const shrinkage = 5

// relevances sets the relevances of pairs.
func (e *Evaluation) relevances() error {
	examined, clicked := 0.0, 0.0
	for i := range e.examined {
		examined += e.examined[i]
		clicked += e.clicked[i]
	}
	mean := 0.0
	if examined > 0 {
		mean = clicked / examined
	}
	if e.Estimator.regressed() {
		if err := e.regress(mean); err != nil {
			return err
		}
	}
	e.control = make([]float64, len(e.examined))
	for i := range e.control {
		to := mean
		if e.gamma != nil {
			to = e.gamma[i]
		}
		e.control[i] = (e.clicked[i] + float64(shrinkage*to)) / (e.examined[i] + shrinkage)
	}
	return nil
}

// predicted is a pair with features, and the part of its query.
type predicted struct{ pair, fold int }

// fits is the number of calls of a fitter, each of which takes it closer to its end.
const fits = 10

// regress predicts the relevance of all pairs. A pair without features has the mean.
func (e *Evaluation) regress(mean float64) error {
	e.gamma = make([]float64, len(e.examined))
	var list []predicted
	var pairs []propensity.Pair
	for i := range e.gamma {
		e.gamma[i] = mean
		query, doc := e.index.Name(i)
		pair := propensity.Pair{Query: query, Doc: doc}
		if e.Regression.Has(pair) {
			list, pairs = append(list, predicted{i, e.totals[e.queries[query]].fold}), append(pairs, pair)
		}
	}
	labels, weights, predictions := make([]float64, len(list)), make([]float64, len(list)), make([]float64, len(list))
	for fold := range folds {
		seen := 0.0
		for k, p := range list {
			labels[k], weights[k] = 0, 0
			if n := e.examined[p.pair]; n > 0 && p.fold != fold {
				labels[k], weights[k] = e.clicked[p.pair]/n, n
				seen += n
			}
		}
		if seen == 0 {
			continue
		}
		fitter := e.Regression.Start(pairs)
		for range fits {
			if err := fitter.Fit(labels, weights, predictions); err != nil {
				return err
			}
		}
		for k, p := range list {
			if p.fold == fold {
				e.gamma[p.pair] = predictions[k]
			}
		}
	}
	return nil
}

// Skipped returns the counts of the pages that were left out since Prepare.
func (e *Evaluation) Skipped() Skipped { return e.skipped }

// Add adds a page, in the second reading.
func (e *Evaluation) Add(p *click.Page) error {
	if !e.prepared {
		panic("policy: Add before Prepare")
	}
	ok, err := e.open(p)
	if !ok {
		return err
	}
	g := &e.page
	q, known := e.queries[p.Query]
	if !known {
		return bad(fmt.Sprintf("query %q, which was not there in the first reading", p.Query), "the same pages twice")
	}
	g.query = q
	if g.arm, known = e.armOf[[2]string{p.Experiment, p.Arm}]; !known {
		return bad(fmt.Sprintf("arm %q, which was not there in the first reading", p.Arm), "the same pages twice")
	}
	for _, d := range p.Docs {
		i := e.index.Lookup(p.Query, d)
		if i < 0 {
			return bad(fmt.Sprintf("document %q, which was not there in the first reading", d), "the same pages twice")
		}
		g.pairs = append(g.pairs, int32(i))
	}
	row, err := e.units.row(p.User, e.width(), e.Mem)
	if err != nil {
		return err
	}
	e.pages++
	reward := e.reward()
	row[weightColumn] += p.Weight
	row[logColumn] += float64(p.Weight * reward)
	e.log.weight += p.Weight
	e.slopeOfLog()
	logged, err := e.logged()
	if err != nil {
		return err
	}
	e.weighed = e.weighed || logged.known || !e.Estimator.byExamination()
	for k := range e.Policies {
		t, err := e.term(k, logged)
		if err != nil {
			return err
		}
		if e.Bound > 0 && !(math.Abs(t.value) <= e.Bound) {
			return bad(fmt.Sprintf("a page that contributes %v to the value of %s", t.value, e.Policies[k].Name), fmt.Sprintf("at most the bound, %v", e.Bound))
		}
		e.sums[k].add(row[policyColumn(k):], &t, p.Weight)
		e.sums[k].slope = addTo(e.sums[k].slope, e.slope, p.Weight)
		e.addSame(row, k, t.value, reward)
	}
	if e.Estimator.byExamination() {
		e.addSlots(row)
		e.addArms(row)
	}
	return nil
}

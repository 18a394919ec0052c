package policy

import (
	"errors"
	"fmt"
	"math"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/click/propensity"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/suggest"
)

// Estimator names an estimator of a ranking policy's value.
//
// In the formulas, μ is a probability of the logging policy and π of the evaluated one. c_r is the click at rank r, and
// v_k the worth of a click at rank k. θ_k is the examination of a slot, and γ_d the relevance of a document.
// ρ_d = Σ_k μ(d at k) θ_k and ω_d = Σ_k π(d at k) θ_k v_k.
type Estimator string

const (
	// Slate is π(page)/μ(page) Σ c v. It assumes nothing.
	Slate Estimator = "slate"
	// Item is Σ_r π(d_r at r)/μ(d_r at r) c_r v_r. It assumes that a click depends on its document and slot alone
	// (Li, Abbasi-Yadkori, Kveton, Muthukrishnan, Vinay, Wen, KDD 2018).
	Item Estimator = "item"
	// Cascade is Σ_r π(d_1…d_r)/μ(d_1…d_r) c_r v_r. A click may also depend on the documents above (McInerney, Brost,
	// Chandar, Mehrotra, Carterette, KDD 2020).
	Cascade Estimator = "cascade"
	// Pseudo is q'Γ⁺x Σ c v, where x has the indicators of documents at ranks, Γ = E_μ xx' and q = E_π x. It assumes
	// that the worth of a page is a sum over its documents and ranks (Swaminathan et al., NIPS 2017).
	Pseudo Estimator = "pseudo"
	// PBM is Σ_r ω_d/ρ_d c_r. It assumes the position-based model, in which a click has the probability θ_k γ_d (Li et
	// al. 2018; Oosterhuis, de Rijke, SIGIR 2020).
	PBM Estimator = "pbm"
	// DR is Σ_d ω_d γ̂_d + Σ_r ω_d/ρ_d (c_r − θ_r γ̂_d), with a regression γ̂. It assumes the position-based model, and
	// ρ or γ̂ (Oosterhuis, TOIS 2023).
	DR Estimator = "dr"
	// Direct is Σ_d ω_d γ̂_d. It assumes the position-based model and γ̂, and has no interval.
	Direct Estimator = "model"
)

// Estimators lists the estimators.
var Estimators = []Estimator{PBM, DR, Direct, Slate, Item, Cascade, Pseudo}

// byExamination reports whether the estimator uses the position-based model.
func (e Estimator) byExamination() bool { return e == PBM || e == DR || e == Direct }

// regressed reports whether the estimator uses a regression.
func (e Estimator) regressed() bool { return e == DR || e == Direct }

// Policy shows rankings in place of those of the log.
type Policy struct {
	Name string

	// Rankings returns the rankings that the policy could show on a page, with probabilities whose sum is 1. Documents
	// below the page's last rank do not matter. nil means that the policy cannot rank the page, which is then
	// left out for all policies. The result must be the same whenever the page comes, and is valid until the next call.
	Rankings func(p *click.Page) []click.Order
}

// Slot has the examination of a slot: a click on a document of relevance γ has the probability Alpha·γ + Beta.
type Slot struct {
	Alpha, Beta float64

	// Error is the standard error of ln Alpha as far as it is independent of other slots. Shared has factors of
	// independent standard normal variables that all slots have in common: their sum is an error of ln Alpha, too.
	Error  float64
	Shared []float64
}

// SlotsOf returns the examinations of an estimate, with those of trust if it has them. Those of a part have the names
// of [SlotName].
func SlotsOf(e *propensity.Estimate) map[string]Slot {
	slots := make(map[string]Slot, len(e.Slots))
	shared := factors(e.Covariance)
	add := func(part string, list []propensity.Slot) {
		for i, s := range list {
			examined := Slot{Alpha: s.Theta}
			switch {
			case part == "" && shared != nil:
				examined.Shared = shared[i]
			case s.SE != nil:
				examined.Error = *s.SE / s.Theta
			}
			if a := s.Alpha; a != nil && s.Beta != nil {
				if examined = (Slot{Alpha: a.Value, Beta: s.Beta.Value}); a.SE != nil && a.Value > 0 {
					examined.Error = *a.SE / a.Value
				}
			}
			slots[SlotName(part, s.Slot)] = examined
		}
	}
	for _, p := range e.Parts {
		add(p.Value, p.Slots)
	}
	add("", e.Slots)
	return slots
}

// SlotName is the name of a slot in a part of the log, which is empty for the whole log.
func SlotName(part, slot string) string {
	if part == "" {
		return slot
	}
	return slot + " of " + part
}

// Value is what is estimated.
type Value string

const (
	// Clicks is the number of clicked documents per page.
	Clicks Value = "clicks"
	// DCG is the discounted cumulative gain of relevance per page: the sum over ranks of γ/log₂(1 + rank). Estimators
	// without the position-based model take clicks for γ.
	DCG Value = "dcg"
)

// Config says what is estimated and how.
type Config struct {
	Estimator Estimator // empty means PBM
	Value     Value     // empty means Clicks
	Policies  []Policy

	// Worth, if not nil, is the worth of a click at a rank, counted from 0, in place of 1.
	Worth func(rank int) float64

	// Slots has the examination of each slot, for PBM, DR and Direct. Pages with other slots are left out.
	Slots map[string]Slot
	// Part, if not nil, returns the part of the log of a page, for slots with examinations by part. A page whose part has
	// none has those of the whole log.
	Part func(p *click.Page) string

	// Regression predicts the relevance of pairs from their features, for DR and Direct. It is fitted to the pages,
	// five times, and predicts pairs of queries to which it was not fitted.
	Regression propensity.Regression

	// Normalise divides by the sum of weights: Σwx/Σw for Slate, and for PBM Σ(ω/ρ)c / Σ(ω/ρ)θ times the mean of Σω
	// (Swaminathan, Joachims, NIPS 2015).
	Normalise bool

	// Clip is the largest weight, of which larger ones are cut down to. 0 means none.
	Clip float64

	// Bound, if above 0, is the largest possible contribution of a page. Intervals are then by the empirical
	// Bernstein inequality (Maurer, Pontil, COLT 2009) instead of Student's t.
	Bound float64

	// MaxUnsupported is the largest share of a policy's value that may be at places where the log never put the
	// document.
	MaxUnsupported float64
	// IgnoreWeights accepts weights whose mean is not 1.
	IgnoreWeights bool
	// IgnoreChecks accepts clicks of slots that contradict the propensities.
	IgnoreChecks bool

	// Mem counts memory against a limit. nil means no limit.
	Mem *memory.Account
}

// Thresholds of intervals and checks.
const (
	// LeastEffective is the smallest effective sample of pages that has an interval. LeastUnits is the same of users.
	LeastEffective = 100
	LeastUnits     = 30
	// MostErrors is the number of standard errors by which the mean weight may differ from 1.
	MostErrors = 3
	// DefaultUnsupported is the usual MaxUnsupported.
	DefaultUnsupported = 0.05
)

// settled returns the config with defaults, or an error about it.
func (c Config) settled() (Config, error) {
	if c.Estimator == "" {
		c.Estimator = PBM
	}
	if c.Value == "" {
		c.Value = Clicks
	}
	known := false
	for _, e := range Estimators {
		known = known || e == c.Estimator
	}
	switch {
	case !known:
		return c, fmt.Errorf("found the estimator %q, expected %s", c.Estimator, suggest.OneOf(names(Estimators)))
	case c.Value != Clicks && c.Value != DCG:
		return c, fmt.Errorf("found the value %q, expected %s or %s", c.Value, Clicks, DCG)
	case len(c.Policies) == 0:
		return c, errors.New("found no policy, expected at least one")
	case c.Estimator.byExamination() && len(c.Slots) == 0:
		return c, fmt.Errorf("found no propensities of slots, which the estimator %s needs", c.Estimator)
	case c.Estimator.regressed() && c.Regression == nil:
		return c, fmt.Errorf("found no regression of relevance, which the estimator %s needs", c.Estimator)
	case c.Normalise && c.Estimator != Slate && c.Estimator != PBM:
		return c, fmt.Errorf("found the estimator %s, expected %s or %s with normalisation", c.Estimator, PBM, Slate)
	case !(c.Clip >= 0) || !(c.Bound >= 0) || math.IsInf(c.Bound, 0):
		return c, fmt.Errorf("found the largest weight %v and the bound %v, expected numbers of 0 or more", c.Clip, c.Bound)
	case c.Clip > 0 && c.Estimator == Direct:
		return c, fmt.Errorf("found a largest weight with the estimator %s, which has no weights", Direct)
	case c.Bound > 0 && c.Normalise:
		return c, errors.New("found a bound with normalisation, expected one of both")
	}
	if c.Worth == nil {
		c.Worth = func(int) float64 { return 1 }
		if c.Value == DCG {
			c.Worth = func(rank int) float64 { return math.Ln2 / elementary.Log(float64(rank+2)) }
		}
	}
	return c, nil
}

func names[S ~string](list []S) []string {
	all := make([]string, len(list))
	for i, s := range list {
		all[i] = string(s)
	}
	return all
}

func bad(found, expected string) error { return &dataset.FormatError{Found: found, Expected: expected} }

package measure

import (
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/suggest"
)

// Convention fixes details that the definitions of measures leave open and in which tools differ. These
// are the gain of a grade, the discount of a rank, the value of a query without relevant documents, and
// the lowest relevant grade. The zero value is the convention standard, the default. Conventions may be
// copied and shared.
type Convention struct {
	name        string
	explanation string
	gain        gainKind
	discount    discountKind
	shortZero   bool    // NDCG@k is 0 for a list of fewer than k documents
	skip        bool    // excludes queries on which a measure is undefined from means
	empty       float64 // value of a measure on such a query, unless skip is set
	threshold   float64 // lowest relevant grade if all grades are whole; 0 means 1
	chosen      float64 // lowest relevant grade for any grades; 0: not chosen
	settled     bool    // chosen was derived from the data by For
}

// conventions are the base conventions. Each also has a skip variant.
//
// letor3, letor4 and mslr follow the evaluation scripts published with the data sets
// (Eval-Score-3.0.pl, Eval-Score-4.0.pl, eval-score-mslr.pl). trec follows trec_eval 9, and lightgbm
// follows LightGBM's ndcg and map metrics. There are some differences:
//
//   - The LETOR 3.0 script sets NDCG@k and P@k to 0 for a list with fewer than k documents. letor3 computes
//     them in full. No list of LETOR 3.0 is that short.
//   - The LETOR scripts identify documents by query and document id. Of several lines with the same
//     id, only the last counts. Here every line counts. The published sets have no such lines.
//   - trec_eval orders documents with equal scores by id; see [TiePolicy].
var conventions = []Convention{
	{
		name:        "standard",
		explanation: "the textbook: gain 2^grade-1; discount 1/log2(1+r); a query without relevant documents counts 0",
	},
	{
		name: "letor3", discount: letorDiscount,
		explanation: "LETOR 3.0: gain 2^grade-1; discount 1, 1, 1/log2 3, 1/log2 4, … (1/log2 r from rank 3 on); " +
			"a query without relevant documents counts 0",
	},
	{
		name: "letor4", discount: letorDiscount, shortZero: true,
		explanation: "LETOR 4.0: as letor3, but NDCG@k of a list with fewer than k documents is 0 (not in training, which learns from such lists too)",
	},
	{
		name: "mslr", discount: letorDiscount, shortZero: true, threshold: 2,
		explanation: "script of MSLR-WEB10K and WEB30K: as letor4, but in binary measures documents are relevant from grade 2 on " +
			"(a patched version of the script discounts like standard)",
	},
	{
		name: "trec", gain: linearGain,
		explanation: "trec_eval: gain = grade; discount 1/log2(1+r); a query without relevant documents counts 0",
	},
	{
		name: "lightgbm", empty: 1,
		explanation: "LightGBM: as standard, but a query without relevant documents counts 1",
	},
}

// The conventions that include every query in means. [Convention.Skipping] returns the variant that
// omits the queries on which a measure is undefined. [Conventions] returns both.
var (
	Standard = conventions[0] // textbooks: gain 2^grade − 1, discount 1/log2(1 + rank)
	LETOR3   = conventions[1] // script of LETOR 3.0: rank 2 is not discounted
	LETOR4   = conventions[2] // script of LETOR 4.0: as LETOR3, but NDCG@k is 0 for fewer than k documents
	MSLR     = conventions[3] // script of MSLR-WEB10K and WEB30K: as LETOR4, with relevance from grade 2 on
	TREC     = conventions[4] // trec_eval: the gain is the grade
	LightGBM = conventions[5] // LightGBM: as Standard, but 1 for a query without relevant documents
)

const skipSuffix = "-skip"

// Conventions returns all conventions, each followed by its skip variant.
func Conventions() []Convention {
	all := make([]Convention, 0, 2*len(conventions))
	for _, c := range conventions {
		all = append(all, c, c.Skipping())
	}
	return all
}

// ParseConvention returns the convention with the given name, such as "standard" or "letor3-skip". The
// error for an unknown name lists the known names.
func ParseConvention(name string) (Convention, error) {
	known := Conventions()
	lower := strings.ToLower(name)
	if i := slices.IndexFunc(known, func(c Convention) bool { return c.name == lower }); i >= 0 {
		return known[i], nil
	}
	names := make([]string, len(known))
	for i, c := range known {
		names[i] = c.name
	}
	return Convention{}, suggest.Unknown("convention", name, names)
}

// named returns the convention with its name set, so that the zero value and Standard give equal
// measures.
func (c Convention) named() Convention {
	if c.name == "" {
		c.name, c.explanation = conventions[0].name, conventions[0].explanation
	}
	return c
}

// Name returns the name that [ParseConvention] accepts.
func (c Convention) Name() string { return c.named().name }

// Explanation describes the convention in one line.
func (c Convention) Explanation() string { return c.named().explanation }

// Skipping returns the variant that excludes queries on which a measure is undefined from the means.
// These are queries without relevant documents and, for the pairwise measures, queries whose grades are
// all equal.
func (c Convention) Skipping() Convention {
	if c.skip {
		return c
	}
	c.name, c.explanation = c.Name()+skipSuffix, "as "+c.Name()+", but means exclude queries without relevant documents"
	c.skip, c.empty = true, 0
	return c
}

// Gain returns the gain of a grade: 2^grade−1 or the grade itself. It returns +Inf on overflow. NDCG
// does not overflow, since it scales the gains.
func (c Convention) Gain(grade float64) float64 { return c.gain.of(grade) }

// Discount returns the factor by which DCG multiplies the gain at rank r ≥ 1.
func (c Convention) Discount(r int) float64 { return c.discount.of(r) }

// IdealDCG returns the highest DCG@k over all orders of documents with the given grades. k = 0 means no
// cutoff. It returns +Inf on overflow.
func (c Convention) IdealDCG(grades []float64, k int) float64 {
	s := getScratch()
	defer s.put()
	ideal := descending(s, grades, cutoff(k, len(grades)))
	discount := c.discount.table(len(ideal)).at
	var best float64
	for i, l := range ideal {
		if l > 0 {
			best += float64(c.gain.of(l) * discount[i])
		}
	}
	return best
}

// valueless returns the value of a query on which a measure is undefined, and whether it counts in
// means.
func (c Convention) valueless() (float64, bool) { return c.empty, !c.skip }

// cutoff returns the number of ranks that count, for n documents and the cutoff k. k = 0 means no
// cutoff.
func cutoff(k, n int) int {
	if k == 0 {
		return n
	}
	return min(k, n)
}

type gainKind uint8

const (
	exponentialGain gainKind = iota // 2^grade − 1
	linearGain                      // grade
)

// of returns the gain of grade l ≥ 0.
func (k gainKind) of(l float64) float64 {
	switch {
	case k == linearGain || l == 0:
		return l
	case l < 1:
		return elementary.Expm1(l * math.Ln2) // 2^l − 1 would cancel
	case l <= smallGrade && l == math.Trunc(l):
		return float64(uint64(1)<<uint(l) - 1)
	}
	return elementary.Exp2(l) - 1
}

// smallGrade is the largest whole grade with fast code. Grades of published data are smaller.
const smallGrade = 31

// largestGrade is the largest grade whose gains can be summed without overflow. For higher grades,
// gains are relative to the highest gain of the query.
const largestGrade = 1000

// gains maps the grades of a query to gains, up to a factor common to the query. The factor is 1 unless
// sums of the gains might overflow. Otherwise, with the query's highest grade top, it is 1/top for the
// linear gain and 2^−top for the exponential gain:
//
//	(2^l − 1)/2^top = 2^(l−top) − 2^−top,  where 2^−top < 2^−1000 is negligible.
type gains struct {
	kind   gainKind
	scaled bool
	top    float64
}

func (k gainKind) upTo(top float64) gains {
	scaled := top > largestGrade
	if k == linearGain {
		scaled = top > 0x1p1000
	}
	return gains{kind: k, scaled: scaled, top: top}
}

func (g gains) of(l float64) float64 {
	switch {
	case l == 0:
		return 0
	case !g.scaled:
		return g.kind.of(l)
	case g.kind == linearGain:
		return l / g.top
	}
	return elementary.Exp2(l - g.top)
}

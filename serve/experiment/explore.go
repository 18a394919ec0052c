package experiment

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/logspace"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/serve/rankjson"
)

// The methods of explorations.
const (
	Swap  = "swap"  // exchange the first document with one drawn uniformly from ranks 2 to K, with probability ½
	Pairs = "pairs" // exchange each of the pairs (1,2), (3,4), … or (2,3), (4,5), … with probability ½
	Top   = "top"   // shuffle the first documents uniformly
	Noise = "noise" // draw the ranking from the Plackett–Luce model of the scores
)

// Exploration is a way to change a model's ranking at random, so that clicks show the effect of
// ranks. K below is the number of documents shown.
type Exploration struct {
	Method      string  // Swap, Pairs (FairPairs), Top or Noise
	Depth       int     // of Top: the number of documents, 2 or more
	Temperature float64 // of Noise: the model's weights are exp(score/Temperature)
	Share       float64 // share of the users or queries whose rankings are changed, above 0 and at most 1
}

// ParseExploration reads an exploration such as "swap", "top=5" or "noise=0.5:share=0.01". The
// share is 1 if it is not given.
func ParseExploration(text string) (Exploration, error) {
	e := Exploration{}
	for part := range strings.SplitSeq(text, ":") {
		name, value, valued := strings.Cut(part, "=")
		switch {
		case name == "share" && valued && e.Share == 0:
			v, err := strconv.ParseFloat(value, 64)
			if err != nil || !(v > 0 && v <= 1) {
				return e, fmt.Errorf("found the share %q, expected a number above 0, 1 at most", value)
			}
			e.Share = v
		case e.Method != "":
			return e, fmt.Errorf("found %q after %s, expected share=S at most", part, e.Method)
		case name == Top && valued:
			n, err := strconv.Atoi(value)
			if err != nil || n < 2 {
				return e, fmt.Errorf("found %q, expected %s=N for a whole number from 2 on", part, Top)
			}
			e.Method, e.Depth = Top, n
		case name == Noise && valued:
			v, err := strconv.ParseFloat(value, 64)
			if err != nil || !(v > 0) || math.IsInf(v, 1) {
				return e, fmt.Errorf("found %q, expected %s=T for a number above 0", part, Noise)
			}
			e.Method, e.Temperature = Noise, v
		case (name == Swap || name == Pairs) && !valued:
			e.Method = name
		default:
			return e, fmt.Errorf("found the exploration %q, expected %s, %s, %s=N or %s=T", part, Swap, Pairs, Top, Noise)
		}
	}
	if e.Method == "" {
		return e, fmt.Errorf("found no exploration, expected %s, %s, %s=N or %s=T", Swap, Pairs, Top, Noise)
	}
	if e.Share == 0 {
		e.Share = 1
	}
	return e, nil
}

// String returns the text that ParseExploration reads.
func (e Exploration) String() string {
	text := e.Method
	switch e.Method {
	case Top:
		text += "=" + strconv.Itoa(e.Depth)
	case Noise:
		text += "=" + strconv.FormatFloat(e.Temperature, 'g', -1, 64)
	}
	if e.Share != 1 {
		text += ":share=" + strconv.FormatFloat(e.Share, 'g', -1, 64)
	}
	return text
}

// Draw is what an exploration drew for a page. It is part of the page's [Record].
type Draw struct {
	Swapped    []int   `json:"swapped,omitempty"`    // the two ranks drawn by Swap; nil if one document is shown
	Swap       bool    `json:"swap"`                 // whether they were exchanged
	Pairs      int     `json:"pairs,omitempty"`      // the upper rank of the first pair of Pairs, 1 or 2; 0 for other methods
	Exchanged  []int   `json:"exchanged"`            // the upper ranks of the pairs that were exchanged
	Shuffled   int     `json:"shuffled,omitempty"`   // the number of documents that Top shuffled
	Noise      float64 `json:"noise,omitempty"`      // the temperature of Noise
	Propensity float64 `json:"propensity,omitempty"` // the probability of the shown ranking by Noise; 0 if it is too small for a float64
}

// Apply changes a model's ranking of all documents of a query, best first. The first shown
// documents are shown. All chance comes from the page's id: the same page and ranking give the same
// result, and pages are independent, also of one user.
func (e *Exploration) Apply(ranking []rankjson.Ranked, shown int, page rankjson.Page) (d Draw) {
	rng := random.Stream(uint64(page), "explore", "")
	exchange := func(a, b int) { ranking[a-1], ranking[b-1] = ranking[b-1], ranking[a-1] }
	switch e.Method {
	case Swap:
		if shown < 2 {
			break
		}
		rank := 2 + rng.IntN(shown-1)
		d.Swapped, d.Swap = []int{1, rank}, rng.IntN(2) == 1
		if d.Swap {
			exchange(1, rank)
		}
	case Pairs:
		d.Pairs = 1 + rng.IntN(2)
		for upper := d.Pairs; upper < shown; upper += 2 {
			if rng.IntN(2) == 1 {
				exchange(upper, upper+1)
				d.Exchanged = append(d.Exchanged, upper)
			}
		}
	case Top:
		d.Shuffled = min(e.Depth, shown)
		rng.Shuffle(d.Shuffled, func(a, b int) { exchange(a+1, b+1) })
	case Noise:
		d.Noise, d.Propensity = e.Temperature, e.perturb(ranking, shown, rng)
	}
	return d
}

// perturb draws a ranking from the Plackett–Luce model: it sorts by score/Temperature plus Gumbel
// noise. It returns the probability of the first shown documents in their order.
func (e *Exploration) perturb(ranking []rankjson.Ranked, shown int, rng *rand.Rand) float64 {
	if len(ranking) == 0 {
		return 1
	}
	best := ranking[0].Score // subtracted, so that large scores do not overflow
	weight := func(r *rankjson.Ranked) float64 { return (r.Score - best) / e.Temperature }
	keys := make([]float64, len(ranking)) // by document
	for i := range ranking {
		r := &ranking[i]
		keys[r.Doc] = weight(r) - elementary.Log(random.Exponential(rng)) // minus the logarithm of an exponential draw is a Gumbel draw
	}
	slices.SortFunc(ranking, func(a, b rankjson.Ranked) int {
		if c := cmp.Compare(keys[b.Doc], keys[a.Doc]); c != 0 {
			return c
		}
		return cmp.Compare(a.Doc, b.Doc)
	})
	sum, p := math.Inf(-1), 0.0 // logarithms; sum is of the weights from rank i on
	for i := len(ranking) - 1; i >= 0; i-- {
		w := weight(&ranking[i])
		if sum = logspace.AddExp(sum, w); i < shown {
			p += w - sum
		}
	}
	return elementary.Exp(p)
}

// append appends the JSON members of a draw. Each ends in a comma.
func (d *Draw) append(dst []byte) []byte {
	switch {
	case d.Swapped != nil:
		dst = appendList(append(dst, `"swapped":`...), d.Swapped)
		dst = append(strconv.AppendBool(append(dst, `,"swap":`...), d.Swap), ',')
	case d.Pairs != 0:
		dst = strconv.AppendInt(append(dst, `"pairs":`...), int64(d.Pairs), 10)
		dst = append(appendList(append(dst, `,"exchanged":`...), d.Exchanged), ',')
	case d.Shuffled != 0:
		dst = append(strconv.AppendInt(append(dst, `"shuffled":`...), int64(d.Shuffled), 10), ',')
	case d.Noise != 0:
		dst = append(rankjson.AppendNumber(append(dst, `"noise":`...), d.Noise), ',')
		if d.Propensity > 0 {
			dst = append(rankjson.AppendNumber(append(dst, `"propensity":`...), d.Propensity), ',')
		}
	}
	return dst
}

// appendList appends whole numbers as a JSON array.
func appendList(dst []byte, list []int) []byte {
	dst = append(dst, '[')
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, int64(v), 10)
	}
	return append(dst, ']')
}

package report

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// partLevels are how many contributions are listed for a score: as many as leave room for all
// queries.
var partLevels = []int{60, 30, 20, 10, 5, 3, 2}

// explain adds the contributions to the scores of the rankings: as many a score, from partLevels,
// as leave room for all queries, or else the fewest of as many queries as fit.
func (r *Report) explain(ctx context.Context, in *input, room int) error {
	parts := partLevels[len(partLevels)-1]
	for _, level := range partLevels {
		if r.explainedBytes(in, level) <= room {
			parts = level
			break
		}
	}
	for i := range r.pieces {
		if err := ctx.Err(); err != nil {
			return err
		}
		x, err := r.explanations(in, r.pieces[i].Query, parts)
		if err != nil {
			return err
		}
		size, err := length(x)
		if err != nil {
			return err
		}
		if room -= size; room < 0 {
			break
		}
		r.pieces[i].Explained = x
	}
	return nil
}

// explainedBytes is the most that explanations with so many contributions a score take.
func (r *Report) explainedBytes(in *input, parts int) int {
	total := 0
	for _, piece := range r.pieces {
		q := in.queries[piece.Query]
		systems := 0
		for s := range in.names {
			if in.explained[s][q.division] != nil {
				systems++
			}
		}
		per := min(parts, in.features.size)
		docs := len(in.leaders(q, firstDocs))
		total += 100 + 40*systems + docs*(width(len(in.kept(q)))+systems*per*(r.data.FeatureDigits+2)+
			valueCountDigits+min(systems*per, in.features.size)*(r.data.FeatureDigits+valueDigits))
	}
	return total
}

// explanations returns the given number of largest contributions to the scores of the
// documents that any system ranks first, or fewer if the others are 0, and the values of the features;
// nil if there is no system to explain.
func (r *Report) explanations(in *input, i, most int) (*explained, error) {
	q := in.queries[i]
	shown, kept := in.leaders(q, firstDocs), in.kept(q)
	x := &explained{}
	var places []byte
	for _, doc := range shown {
		at, _ := slices.BinarySearch(kept, doc)
		places = packed(places, at, width(len(kept)))
	}
	x.Docs = string(places)
	var all [][][]contribution // of each of the systems explained, of each document shown
	values := make([]valueList, len(shown))
	for s := range in.names {
		e := in.explained[s][q.division]
		if e == nil {
			continue
		}
		if err := e.query(in.at(q)); err != nil {
			return nil, err
		}
		each, largest := make([][]contribution, len(shown)), 0.0
		for d, doc := range shown {
			each[d] = leading(e.document(doc), most)
			for _, c := range each[d] {
				largest = max(largest, math.Abs(c.value))
				values[d].add(placeOf(e.places, c.feature), e.valueOf(doc, c.feature))
			}
			x.Per = max(x.Per, len(each[d]))
		}
		x.Systems, x.Largest, x.Mean = append(x.Systems, s), append(x.Largest, rounded(largest, 4)), append(x.Mean, rounded(e.score, 6))
		for d := range each {
			for k := range each[d] {
				each[d][k].feature = placeOf(e.places, each[d][k].feature)
			}
		}
		all = append(all, each)
	}
	if x.Systems == nil {
		return nil, nil
	}
	x.pack(all, values, r.data.FeatureDigits)
	return x, nil
}

// pack sets the contributions, padded with zero ones, and the values.
func (x *explained) pack(all [][][]contribution, values []valueList, digits int) {
	var parts, text []byte
	for k, each := range all {
		for _, list := range each {
			for p := range x.Per {
				var c contribution
				if p < len(list) {
					c = list[p]
				}
				parts = packed(parts, c.feature, digits)
				parts = between(parts, c.value, -x.Largest[k], x.Largest[k])
			}
		}
	}
	for _, list := range values {
		text = packed(text, len(list), valueCountDigits)
		for _, v := range list {
			text = packedValue(packed(text, v.feature, digits), v.value)
		}
	}
	x.Parts, x.Values = string(parts), string(text)
}

// valueList has the values of some of a document's features.
type valueList []struct {
	feature int // of the page
	value   float32
}

// add adds a feature that is not there yet.
func (l *valueList) add(feature int, value float32) {
	for _, v := range *l {
		if v.feature == feature {
			return
		}
	}
	*l = append(*l, struct {
		feature int
		value   float32
	}{feature, value})
}

// leading returns the given number of contributions of largest magnitude, or all.
func leading(all []contribution, most int) []contribution {
	slices.SortStableFunc(all, func(a, b contribution) int { return cmp.Compare(math.Abs(b.value), math.Abs(a.value)) })
	return all[:min(len(all), most)]
}

package explain

import (
	"errors"
	"fmt"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/fuse"
)

// fusionParts divides the scores of a fusion. The features are the contributors if the rule is linear
// in a query's scores (combsum with any scale) and all members can be explained. Otherwise the members
// are the contributors, with their weighted votes.
type fusionParts struct {
	fusion  *model.Fusion
	weights []float64
	members []*Explainer
	place   [][]int   // for each member, the fusion's term of each of its terms; nil if members contribute
	means   []float64 // mean vote of each member over the background, if members contribute
	about   string
}

// takeApart initializes e for a fusion.
func (e *Explainer) takeApart(background *dataset.Dataset, o Options) error {
	f := e.model.Scorer.(*model.Fusion)
	p := &fusionParts{fusion: f, weights: e.model.Params}
	e.fusion = p
	why := fmt.Sprintf("the rule %s is not linear in the members' scores", f.Rule.Kind)
	linear := f.Rule.Kind == fuse.CombSUM
	for s, m := range f.Members {
		member, err := newExplainer(m, background, memberColumns(e, f, s, background), o)
		if refused, ok := errors.AsType[*RefusedError](err); ok {
			if linear {
				why = fmt.Sprintf("member %d is of the kind %s: %s", s+1, refused.Kind, refused.Reason)
			}
			linear = false
		} else if err != nil {
			return fmt.Errorf("member %d: %w", s+1, err)
		}
		p.members = append(p.members, member)
	}
	if linear {
		return e.throughFeatures(background)
	}
	return e.byMembers(background, why)
}

// memberColumns returns the data column of each feature of a member, −1 if the data lack the feature.
func memberColumns(e *Explainer, f *model.Fusion, member int, d *dataset.Dataset) []int {
	own := f.Columns(member)
	columns := make([]int, f.Members[member].NumFeatures())
	for j := range columns {
		c := j
		if own != nil {
			c = own[j]
		}
		switch {
		case e.columns != nil:
			c = e.columns[c]
		case c >= d.Features:
			c = -1
		}
		columns[j] = c
	}
	return columns
}

func (e *Explainer) throughFeatures(background *dataset.Dataset) error {
	p := e.fusion
	p.about = fmt.Sprintf("fusion of %d models by %s, which is linear in a query's scores: the sum of the members' contributions, each by its weight and scale within the query", len(p.members), ruleText(p.fusion.Rule))
	for j := range e.model.Scorer.NumFeatures() {
		e.terms = append(e.terms, termOf(e.model, background, e.columns, j))
	}
	for s, member := range p.members {
		if member.fusion != nil && member.fusion.place == nil {
			return e.byMembers(background, fmt.Sprintf("member %d is a fusion by %s, which is not", s+1, member.fusion.fusion.Rule.Kind))
		}
		place := p.fusion.Columns(s)
		if place == nil {
			for j := range member.terms {
				place = append(place, j)
			}
		}
		p.place = append(p.place, place)
	}
	return nil
}

// byMembers makes the members the terms of e. why says why features are not.
func (e *Explainer) byMembers(background *dataset.Dataset, why string) error {
	p := e.fusion
	p.place, e.terms = nil, nil
	p.about = fmt.Sprintf("fusion of %d models by %s: contributions of its members, weighted votes above their means over the background, and none of features, since %s", len(p.members), ruleText(p.fusion.Rule), why)
	for s, m := range p.fusion.Members {
		e.terms = append(e.terms, Term{fmt.Sprintf("member %d (%s)", s+1, m.Method), -1})
	}
	p.means = make([]float64, len(p.fusion.Members))
	for i := range background.Queries {
		q := &background.Queries[i]
		for s, votes := range p.fusion.Votes(e.model.Inputs(nil, q, e.columns), q.Len()) {
			p.means[s] += sum(votes) / float64(background.Docs())
		}
	}
	return nil
}

func ruleText(r fuse.Rule) string {
	if r.Kind.UsesScale() {
		return fmt.Sprintf("%s (%s)", r.Kind, r.Scale)
	}
	return r.Kind.String()
}

// explainFusion sets the contributions for a query.
func (e *Explainer) explainFusion(out *Query, q *dataset.Query) error {
	p, x := e.fusion, e.model.Inputs(nil, q, e.columns)
	p.fusion.Score(out.Scores, p.weights, x, nil)
	votes := p.fusion.Votes(x, q.Len())
	n := len(e.terms)
	for s, w := range p.weights {
		if p.place == nil {
			out.Base += float64(w * p.means[s])
			for i, v := range votes[s] {
				out.Parts[i*n+s] = w * (v - p.means[s])
			}
			continue
		}
		member, err := p.members[s].Explain(q)
		if err != nil {
			return err
		}
		slope, intercept := linearVotes(member.Scores, votes[s])
		if p.fusion.Rule.Scale == fuse.Raw {
			slope, intercept = 1, 0
		}
		out.Base += float64(w * (intercept + float64(slope*member.Base)))
		for i := range q.Len() {
			for j, v := range member.Row(i) {
				out.Parts[i*n+p.place[s][j]] += float64(w * slope * v)
			}
		}
	}
	return nil
}

// linearVotes returns the slope and the intercept of votes as a linear function of scores. The slope is
// 0 if all scores are equal.
func linearVotes(scores, votes []float64) (slope, intercept float64) {
	low, high := 0, 0
	for i, s := range scores {
		if s < scores[low] {
			low = i
		}
		if s > scores[high] {
			high = i
		}
	}
	if scores[low] == scores[high] {
		return 0, votes[0]
	}
	slope = (votes[high] - votes[low]) / (scores[high] - scores[low])
	return slope, votes[low] - float64(slope*scores[low])
}

package objective

import "github.com/listwise/listwise/internal/parallel"

// Terms returns the number of terms of the sum over queries: Queries().
func (r *Risk) Terms() int { return len(r.queries) }

// QueryID returns the id of the query of term i.
func (r *Risk) QueryID(i int) string { return r.queries[i].id }

// InTurn says that terms are evaluated one after the other, each in the turn in which [Risk.Soon] announces it, and
// lends a team (nil for none) among which the scorer may divide the work on a query, if that is found
// to be the faster way. EvalTerm may then be called by one goroutine at a time. It changes no bit of the results.
func (r *Risk) InTurn(team *parallel.Team) {
	r.inTurn, r.team = true, team
	if r.announcer == nil {
		r.window = 1
	}
}

// EvalTerm returns the loss of the query of term i, 0 ≤ i < Terms(), times its weight, at w and adds its
// gradient to grad; both slices have Dim elements. The penalty ‖w‖²/C is no part of it.
// Where λ is no gradient, what is added is −λ propagated back to the parameters.
//
// The result depends on i and w alone, and several goroutines may call it at once,
// each with a grad of its own, unless terms come [Risk.InTurn]. Working memory is pooled.
func (r *Risk) EvalTerm(i int, w, grad []float64) float64 {
	ws := r.terms.Get().(*workspace)
	defer r.terms.Put(ws)
	ws.scorer.Next = nil
	switch {
	case r.inTurn:
		ws.scorer.Next = r.next
		ws.scorer.Team = nil
		if r.team != nil && r.divide.Second(r.queries[i].docs) {
			ws.scorer.Team, r.team.Ahead = r.team, r.next
		}
	case i == ws.term+1: // they come in order, so that the next is known
		ws.scorer.Next = r.after(i)
	}
	ws.term = i
	return r.term(r.evalQuery, i, w, grad, -1, ws) // λ points downhill
}

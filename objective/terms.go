package objective

// Terms returns the number of terms of the sum over queries: Queries().
func (r *Risk) Terms() int { return len(r.queries) }

// QueryID returns the id of the query of term i.
func (r *Risk) QueryID(i int) string { return r.queries[i].id }

// EvalTerm returns the loss of the query of term i, 0 ≤ i < Terms(), times its weight, at w and adds its
// gradient to grad; both slices have Dim elements. The penalty ‖w‖²/C is no part of it.
// Where λ is no gradient, what is added is −λ propagated back to the parameters.
//
// The result depends on i and w alone, and several goroutines may call it at once,
// each with a grad of its own. Working memory is pooled.
func (r *Risk) EvalTerm(i int, w, grad []float64) float64 {
	ws := r.terms.Get().(*workspace)
	defer r.terms.Put(ws)
	ws.scorer.Next = nil
	if i == ws.term+1 { // they come in order, so that the next is known
		ws.scorer.Next = r.after(i)
	}
	ws.term = i
	return r.term(r.evalQuery, i, w, grad, -1, ws) // λ points downhill
}

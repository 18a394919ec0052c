package objective

// Penalty returns the c of the penalty ‖w‖²/c, 0 if there is none. Eval adds it;
// EvalTerm, which is one query's loss, does not.
func (r *Risk) Penalty() float64 {
	if r.inverse == 0 {
		return 0
	}
	return r.c
}

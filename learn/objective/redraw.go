package objective

// Redraw binds the loss anew, with other random numbers in every round, and those of
// [New] in round 0. What is drawn depends on the seed, the round and the query alone. The
// risk is then another function: no method of r may run at the same time, nor an
// optimiser that compares values from before and after. After an error, which names the
// query, r must not be used.
func (r *Risk) Redraw(round int) error { return r.functional.Redraw(round) }

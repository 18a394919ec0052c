package objective

// Redraw binds the loss anew to the queries it learns from, so that it draws again
// what it draws: other random numbers in every round, and those of [New] in round
// 0. What is drawn depends on the seed, the round and the query alone. The risk
// is then another function: no method of r may run at the same time, and an
// optimiser that takes it for one function must not be under way. After an error,
// which names the query, r must not be used.
func (r *Risk) Redraw(round int) error { return r.functional.Redraw(round) }

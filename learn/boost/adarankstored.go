package boost

// readOnce puts the features of streamed data in a file, and has those of queries that count visited meanwhile.
func (a *AdaRank) readOnce(keep, part int, visit func(worker, i int, x []float32)) (featureColumns, error) {
	counting := make([]int32, len(a.data.Queries)) // from 1
	for i := range a.standings.queries {
		counting[a.standings.queries[i].number] = int32(i) + 1
	}
	l := wholeLayout(a.data)
	l.visit = func(worker, number int, x []float32) {
		if i := int(counting[number]); i > 0 {
			visit(worker, i-1, x)
		}
	}
	s, err := newStored(a.data, l, false, part, Options{Workers: a.options.Workers, Note: a.options.Note})
	return featureColumns{data: a.data, most: keep, stored: s}, err
}

// plan returns how many columns of streamed data are kept and how many bytes of values are held when these are put
// into columns, for the memory there is, or an error that says what would be needed.
func (a *AdaRank) plan() (keep, part int, err error) {
	if a.options.Memory <= 0 {
		return keptFeatures, mostPart, nil
	}
	d, held := a.data, a.held()
	column := 4 * float64(padded(d.Docs()))
	need := max(column, float64(PartBytes(d.Docs(), d.LongestQuery(), d.Features)))
	left := float64(a.options.Memory) - held
	if left < need {
		return 0, 0, tooLarge(d.Docs(), d.Features, held+need, a.options.Memory)
	}
	return int(min(keptFeatures, left/column)), int(min(mostPart, left)), nil
}

// held returns the bytes that AdaRank holds wherever features are.
func (a *AdaRank) held() float64 {
	const (
		document = 8 + 4     // the score and the place in the order
		query    = 2*8 + 128 // the weight and the value, and what standings and the reading know
	)
	docs := float64(a.data.Docs())
	held := float64(document*docs) + float64(float64(len(a.data.Queries))*float64(query+8*a.weak()))
	if a.takesBack() {
		held += float64(8 * docs)
	}
	return held
}

package click

import "fmt"

// checkInterleaved returns an error if the members about interleaving break a rule of the format.
func (p *Page) checkInterleaved() error {
	if p.Softmax != nil && len(p.Softmax) != len(p.Docs) {
		return bad(fmt.Sprintf("%d pairs in softmax", len(p.Softmax)), fmt.Sprintf("%d, one for each document", len(p.Docs)))
	}
	for r, v := range p.Softmax {
		if !(v[0] >= 0 && v[0] <= 1 && v[1] >= 0 && v[1] <= 1 && v[0]+v[1] > 0) {
			return bad(fmt.Sprintf("softmax probabilities %v of document %q", v, p.Docs[r]), "two from 0 to 1 that are not both 0")
		}
	}
	for _, ranking := range p.Balanced {
		if d, twice := repeated(ranking); twice {
			return bad(fmt.Sprintf("document %q twice in a ranking of balanced", d), "each document once")
		}
	}
	return nil
}

// softmax reads a list of pairs of numbers.
func (b *batch) softmax(p *Page, at int) (next int, err error) {
	return b.scanner.List(at, "softmax", func(_, at int) (int, error) {
		var pair []float64
		next, err := b.numberList(at, "softmax", &pair)
		if err == nil && len(pair) != 2 {
			err = bad(fmt.Sprintf("%d probabilities in softmax", len(pair)), "two of each document")
		}
		if err == nil {
			p.Softmax = append(p.Softmax, [2]float64(pair))
		}
		return next, err
	})
}

// balanced reads two rankings.
func (b *batch) balanced(p *Page, at int) (next int, err error) {
	rankings := 0
	next, err = b.scanner.List(at, "balanced", func(i, at int) (int, error) {
		if rankings++; i > 1 {
			return at, bad("a third ranking in balanced", "two")
		}
		return b.list(at, "balanced", false, &p.Balanced[i])
	})
	if err == nil && rankings != 2 {
		err = bad(fmt.Sprintf("%d rankings in balanced", rankings), "two")
	}
	return next, err
}

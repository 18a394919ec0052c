// Command clicks learns from what users clicked. The quality of documents is x + 10 y. The old ranking is by x, so users
// see few of the best documents. They look at rank k with probability 1/k. Click rates alone therefore overrate x.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/listwise/listwise"
	"github.com/listwise/listwise/click/propensity"
	"github.com/listwise/listwise/click/simulate"
	"github.com/listwise/listwise/click/weigh"
	"github.com/listwise/listwise/dataset/synth"
)

func main() {
	ctx := context.Background()
	data, err := synth.Square{Queries: 100, Docs: 6, Seed: 1}.Generate()
	check(err)
	old := make([]float64, data.Docs())
	for i := range old {
		old[i] = float64(data.X()[2*i])
	}
	users, err := simulate.ParseModel("pbm:eta=1")
	check(err)
	s := simulate.Simulation{Queries: simulate.Queries(data, old), Rankers: []simulate.Ranker{{}}, Order: simulate.Order{Kind: simulate.Swap}, Clicks: users, Top: 6}
	check(s.Prepare())
	// Count the pages for two purposes. click.Read reads them from a file.
	var propensities propensity.Log
	var clicks weigh.Log
	for pages, n := s.Drawer(), 0; n < 10_000; n++ {
		page := pages.Draw(n)
		check(errors.Join(propensities.Add(page), clicks.Add(page)))
	}
	e, err := propensities.Estimate(ctx, propensity.Options{}) // from pages on which chance swapped documents
	check(err)
	fmt.Printf("method %s: slot 2 is seen %.2f times as often as slot 1\n", e.Method, e.Slots[1].Theta)

	// Train on click rates, then on clicks over examinations. The grades of the data are not used.
	for _, debias := range []weigh.Debias{weigh.None, weigh.Examinations} {
		o := weigh.Defaults(debias)
		o.Propensities = e
		table, err := clicks.Table(ctx, data, o)
		check(err)
		m, err := listwise.Train(ctx, table.Data, listwise.Options{Method: "listnet"})
		check(err)
		fmt.Printf("%-12s y weighs %.1f times as much as x\n", debias, m.Params[1]/m.Params[0])
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

package propensity_test

import (
	"context"
	"fmt"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/click/propensity"
)

// Chance exchanged the two documents on half of the pages. Users clicked half as often in the second slot.
func ExampleLog() {
	var log propensity.Log
	for _, swap := range []bool{false, true} {
		docs := []string{"a", "b"}
		if swap {
			docs = []string{"b", "a"}
		}
		for i := range 100 {
			clicks := []int{0, 0}
			switch {
			case i < 40:
				clicks[0] = 1
			case i < 60:
				clicks[1] = 1
			}
			p := &click.Page{Query: "q", Docs: docs, Clicks: clicks, Swapped: [2]int{0, 1}, Swap: swap, Weight: 1}
			if err := log.Add(p); err != nil {
				fmt.Println(err)
				return
			}
		}
	}
	e, err := log.Estimate(context.Background(), propensity.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range e.Slots {
		fmt.Printf("slot %s: %.2f\n", s.Slot, s.Theta)
	}
	fmt.Println(e.Method)
	// Output:
	// slot 1: 1.00
	// slot 2: 0.50
	// swap
}

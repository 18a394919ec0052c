package propensity

import (
	"cmp"
	"fmt"
	"slices"

	clickmodel "github.com/listwise/listwise/click/model"
)

// Model is the method of FromModel.
const Model Method = "model"

// FromModel returns the examination of a position-based model as propensities, without errors and counts. That of
// other click models depends on the clicks above and is no propensity.
func FromModel(m *clickmodel.Model) (*Estimate, error) {
	if m.Name != "pbm" {
		return nil, fmt.Errorf("found a model %s, expected pbm, whose examination depends on the slot alone", m.Name)
	}
	if len(m.Slots) < 2 {
		return nil, fmt.Errorf("found %d slot, expected two or more", len(m.Slots))
	}
	e := &Estimate{Method: Model, Pages: m.Pages, Weight: float64(m.Pages), Level: Level}
	for i, name := range m.Slots {
		e.Slots = append(e.Slots, Slot{Slot: name, Theta: m.Shared[i]})
	}
	slices.SortStableFunc(e.Slots, func(a, b Slot) int {
		return cmp.Or(cmp.Compare(number(a.Slot), number(b.Slot)), cmp.Compare(a.Slot, b.Slot))
	})
	first := e.Slots[0].Theta
	for i := range e.Slots {
		e.Slots[i].Theta /= first
	}
	return e, nil
}

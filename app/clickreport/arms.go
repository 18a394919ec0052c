package clickreport

import (
	"strings"

	"github.com/listwise/listwise/click"
)

// Arm is a ranker of the log. Its numbers are of pages with known clicks, by weight.
type Arm struct {
	Experiment string  `json:"experiment,omitempty"`
	Arm        string  `json:"arm,omitempty"`
	Version    string  `json:"version,omitempty"`
	Weight     float64 `json:"weight"`
	Clicks     float64 `json:"clicked"`
	Clicked    float64 `json:"pages_with_clicks"`
}

// arms are the arms in the order of their first page.
type arms struct {
	of  map[[3]string]int
	all []Arm
}

func (a *arms) add(p *click.Page) {
	key := [3]string{p.Experiment, p.Arm, p.Version}
	i, known := a.of[key]
	if !known {
		if a.of == nil {
			a.of = map[[3]string]int{}
		}
		for j := range key {
			key[j] = strings.Clone(key[j]) // it is part of a line
		}
		i = len(a.all)
		a.of[key] = i
		a.all = append(a.all, Arm{Experiment: key[0], Arm: key[1], Version: key[2]})
	}
	arm, clicks := &a.all[i], 0.0
	for r := range p.Docs {
		if p.Clicked(r) {
			clicks++
		}
	}
	arm.Weight += p.Weight
	arm.Clicks += float64(p.Weight * clicks)
	if clicks > 0 {
		arm.Clicked += p.Weight
	}
}

func (a *arms) list() []Arm { return append([]Arm{}, a.all...) }

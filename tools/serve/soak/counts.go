package main

import (
	"fmt"
	"maps"
	"slices"
	"sync"
)

// counts counts the requests of clients and the faults.
type counts struct {
	mu      sync.Mutex
	done    map[string]int
	wrong   []string
	nWrong  int
	version map[string]float64 // the scale of every version, see scaled
}

// add counts a request by kind and outcome.
func (c *counts) add(kind, outcome string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done == nil {
		c.done = make(map[string]int)
	}
	c.done[kind+": "+outcome]++
}

// fault records a fault.
func (c *counts) fault(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	const most = 20
	if c.nWrong++; len(c.wrong) < most {
		c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
	}
}

// scaled reports whether a version has the same scale as in earlier answers.
func (c *counts) scaled(version string, scale float64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.version == nil {
		c.version = make(map[string]float64)
	}
	if known, ok := c.version[version]; ok {
		return known == scale
	}
	c.version[version] = scale
	return true
}

func (c *counts) models() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.version)
}

func (c *counts) faults() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nWrong
}

func (c *counts) print() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(c.done)) {
		fmt.Printf("%9d  %s\n", c.done[key], key)
	}
	for _, w := range c.wrong {
		fmt.Println("FAULT", w)
	}
}

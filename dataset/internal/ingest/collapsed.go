package ingest

import (
	"math"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/decimal"
)

// Different decimals may be one float32. A sketch of each feature keeps the float32 values with the smallest
// hashes, with the least and the largest decimal of each. It is a sample of the distinct values, the same for
// any order of them and any number of workers. Other values cost a comparison.

const (
	// sketchSize values of a feature are kept, of at most maxWatched features.
	sketchSize = 16
	maxWatched = 1 << 14

	// LongNumber is the least length of a number to call Watches for; shorter ones have at most seven digits.
	LongNumber = 9

	// noise is the relative difference of decimals that the arithmetic of doubles makes.
	noise = 1e-12

	// manyValues is the number of distinct float32 values of a feature from which on its resolution is
	// enough.
	manyValues = 1 << 16
)

// sketched is a value with the decimals that are rounded to it.
type sketched struct {
	hash           uint32 // which tells the value
	least, largest float64
	last           shortText // that was read last, and need not be read again
}

// shortText is a text of 8 to 16 bytes: the first 8, the last 8, and their number; zero for another.
type shortText struct {
	first, last uint64
	size        int
}

// Watches reports whether Watch wants a number of a feature, which was read as v.
func (c *Collector) Watches(feature int, v float32) bool {
	return feature < len(c.limits) && hashOf(v) <= c.limits[feature]
}

// hashOf mixes the bits of a value; different values have different hashes.
func hashOf(v float32) uint32 {
	h := math.Float32bits(v)
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	return h ^ h>>16
}

// WatchText is Watch for a decimal whose text is b[from:to], of LongNumber bytes at least.
func (c *Collector) WatchText(feature int, v float32, b []byte, from, to int) {
	var text shortText
	if to-from <= 16 {
		text = shortText{decimal.Load8(b, from), decimal.Load8(b, to-8), to - from}
		if at, known := place(c.sketches[feature], hashOf(v)); known && c.sketches[feature][at].last == text {
			return
		}
	}
	d, _ := decimal.Scan(b, from)
	exact := d.Float64(b[from:to])
	c.watch(feature, sketched{hashOf(v), exact, exact, text})
}

// Watch notes a number of a feature, which was read as v. Different goroutines may have it note
// different features.
func (c *Collector) Watch(feature int, v float32, exact float64) {
	c.watch(feature, sketched{hash: hashOf(v), least: exact, largest: exact})
}

func (c *Collector) watch(feature int, s sketched) {
	list := keep(c.sketches[feature], s)
	c.sketches[feature] = list
	if len(list) == sketchSize {
		c.limits[feature] = list[sketchSize-1].hash
	}
}

// place returns where a value of that hash is in a sketch, or belongs.
func place(list []sketched, hash uint32) (at int, known bool) {
	for at < len(list) && list[at].hash < hash {
		at++
	}
	return at, at < len(list) && list[at].hash == hash
}

// keep adds a value to a sketch in the order of hashes.
func keep(list []sketched, s sketched) []sketched {
	at, known := place(list, s.hash)
	if known {
		e := &list[at]
		e.least, e.largest, e.last = min(e.least, s.least), max(e.largest, s.largest), s.last
		return list
	}
	if at == sketchSize {
		return list
	}
	if list == nil {
		list = make([]sketched, 0, sketchSize+1)
	}
	return slices.Insert(list, at, s)[:min(len(list)+1, sketchSize)]
}

// CollapsedWarning names the features of a file whose different numbers are one as float32, "" if
// there are none. Features whose whole numbers are rounded have a warning already.
func CollapsedWarning(file string, names []string, collectors ...*Collector) string {
	width := 0
	for _, c := range collectors {
		width = max(width, len(c.sketches))
	}
	var features []int
	var example sketched
	for f := range width {
		var list []sketched
		rounded := false
		for _, c := range collectors {
			_, is := c.rounded[f]
			rounded = rounded || is
			if f < len(c.sketches) {
				for _, s := range c.sketches[f] {
					list = keep(list, s)
				}
			}
		}
		if first, ok := collapsed(list); ok && !rounded {
			if features = append(features, f); len(features) == 1 {
				example = first
			}
		}
	}
	if features == nil {
		return ""
	}
	return dataset.CollapsedWarning(file, featureNames(features, names), example.least, example.largest)
}

// collapsed reports whether a tenth of the distinct values in float32 are of several decimals, and
// there are few of them, with the first such value.
func collapsed(list []sketched) (first sketched, ok bool) {
	several := 0
	for _, s := range list {
		if s.largest-s.least > noise*max(math.Abs(s.least), math.Abs(s.largest)) {
			if several++; several == 1 {
				first = s
			}
		}
	}
	distinct := float64(len(list))
	if len(list) == sketchSize {
		distinct = (sketchSize - 1) / (float64(list[sketchSize-1].hash) + 1) * (1 << 32)
	}
	return first, several > 0 && 10*several >= len(list) && distinct < manyValues
}

package ingest

import (
	"math"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/decimal"
)

// Features are stored as float32, so different decimals of the text may become the same float32. To detect
// this, a sketch of each feature keeps the distinct float32 values with the smallest hashes. For each value
// it keeps the smallest and the largest decimal. This sample of distinct values does not depend on the order
// of the values or the number of workers. A value that is not in the sample costs one comparison.

const (
	// sketchSize is the number of values in a sketch, and maxWatched the number of features with sketches.
	sketchSize = 16
	maxWatched = 1 << 14

	// LongNumber is the smallest length of a number for which Watches must be called. Shorter numbers have
	// at most seven digits, which float32 distinguishes.
	LongNumber = 9

	// noise is a relative difference that rounding in float64 arithmetic explains.
	noise = 1e-12

	// manyValues is a number of distinct float32 values. A feature with so many has enough resolution, even
	// if decimals are merged.
	manyValues = 1 << 16
)

// sketched is a value with the decimals that are rounded to it.
type sketched struct {
	hash           uint32 // identifies the float32 value
	least, largest float64
	last           shortText // text of the last such number, to skip repetitions
}

// shortText is a text of 8 to 16 bytes: its first 8 bytes, its last 8 bytes and its size. It is zero for
// texts of other sizes.
type shortText struct {
	first, last uint64
	size        int
}

// Watches reports whether Watch must be called for a number of a feature that was rounded to v.
func (c *Collector) Watches(feature int, v float32) bool {
	return feature < len(c.limits) && hashOf(v) <= c.limits[feature]
}

// hashOf returns a hash of a value. Values with different bits have different hashes.
func hashOf(v float32) uint32 {
	h := math.Float32bits(v)
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	return h ^ h>>16
}

// WatchText does the work of Watch for the number with the text b[from:to], which has at least LongNumber
// bytes.
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

// Watch adds a number of a feature to the feature's sketch. exact is the number, and v its float32.
// Different goroutines may call Watch for different features at once.
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

// place returns the index of the value with the hash in a sketch, or the index at which to insert it.
func place(list []sketched, hash uint32) (at int, known bool) {
	for at < len(list) && list[at].hash < hash {
		at++
	}
	return at, at < len(list) && list[at].hash == hash
}

// keep adds a value to a sketch, which is sorted by hash, and returns the sketch.
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

// CollapsedWarning returns a warning with the features of a file that have different numbers with the
// same float32. It returns "" if there are none. It omits features about which roundedWarning warns.
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

// collapsed reports whether at least a tenth of the float32 values of a sketch represent several decimals
// each, and the feature has fewer than manyValues distinct values. first is the first such value.
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

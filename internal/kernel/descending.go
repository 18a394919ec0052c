package kernel

// SortDescending sorts keys in descending order and applies the same permutation to values. Equal
// keys keep their order. The work slices have the length of keys, and SortDescending overwrites
// them. Some losses sort at every evaluation, so SortDescending avoids comparison functions and
// allocation.
func SortDescending(keys, values, workKeys, workValues []float64) {
	const run = 8
	n := len(keys)
	for from := 0; from < n; from += run {
		InsertDescending(keys[from:min(from+run, n)], values[from:min(from+run, n)])
	}
	k, v, wk, wv := keys, values, workKeys, workValues
	for width := run; width < n; width *= 2 {
		for from := 0; from < n; from += 2 * width {
			mid, to := min(from+width, n), min(from+2*width, n)
			MergeDescending(wk[from:to], wv[from:to], k[from:to], v[from:to], mid-from)
		}
		k, v, wk, wv = wk, wv, k, v
	}
	if n > 0 && &k[0] != &keys[0] {
		copy(keys, k)
		copy(values, v)
	}
}

// InsertDescending sorts keys and values as [SortDescending] does, by insertion, which is faster
// for short lists.
func InsertDescending(keys, values []float64) {
	for i := 1; i < len(keys); i++ {
		k, v := keys[i], values[i]
		j := i
		for ; j > 0 && keys[j-1] < k; j-- {
			keys[j], values[j] = keys[j-1], values[j-1]
		}
		keys[j], values[j] = k, v
	}
}

// MergeDescending merges the two descending runs k[:mid] and k[mid:] into dk, and their values from
// v into dv. Equal keys keep their order. The inner loop chooses the run without a branch, because
// the branch would be unpredictable.
func MergeDescending(dk, dv, k, v []float64, mid int) {
	v, dk, dv = v[:len(k)], dk[:len(k)], dv[:len(k)]
	i, j, o := 0, mid, 0
	for i < mid && j < len(k) {
		second := 0
		if k[j] > k[i] {
			second = 1
		}
		next := i + (j-i)&-second
		dk[o], dv[o] = k[next], v[next]
		i += 1 - second
		j += second
		o++
	}
	copy(dv[o:], v[i:mid])
	o += copy(dk[o:], k[i:mid])
	copy(dk[o:], k[j:])
	copy(dv[o:], v[j:])
}

// AverageTies replaces each element of x by the mean of the elements with the same key. Equal keys
// must be adjacent.
func AverageTies(x, keys []float64) {
	for from := 0; from < len(keys); {
		to := from + 1
		sum := x[from]
		for ; to < len(keys) && keys[to] == keys[from]; to++ {
			sum += x[to]
		}
		if to > from+1 {
			for i := from; i < to; i++ {
				x[i] = sum / float64(to-from)
			}
		}
		from = to
	}
}

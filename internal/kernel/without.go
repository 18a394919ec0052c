package kernel

// Without brings the words that differ from a given one to the front of words, in their order,
// and their values to the front of kept. It returns their number, and the sum of the values of
// the others. All have the same length; what is behind the number in words and kept is
// unspecified.
func Without(words, kept, values []uint64, word uint64) (left int, dropped uint64) {
	mustMatch(len(kept), len(words))
	mustMatch(len(values), len(words))
	return without(words, kept, values, word)
}

func withoutGo(words, kept, values []uint64, word uint64) (left int, dropped uint64) {
	return withoutFrom(0, 0, words, kept, values, word)
}

// withoutFrom processes the words from index from on, after kept words before it. It writes every word and
// overwrites it if it is not kept, so that there is no branch to predict.
func withoutFrom(from, left int, words, kept, values []uint64, word uint64) (all int, dropped uint64) {
	kept, values = kept[:len(words)], values[:len(words)]
	for i := from; i < len(words); i++ {
		w, v := words[i], values[i]
		words[left], kept[left] = w, v
		other := 0
		if w != word {
			other = 1
		}
		left += other
		dropped += v & (uint64(other) - 1)
	}
	return left, dropped
}

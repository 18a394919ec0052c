package kernel

// Without removes the words that equal word. It moves the remaining words to the front of words, in
// their order, and copies the values of these words to the front of kept. left is the number of
// remaining words. dropped is the sum of the values of the removed words. The three slices have the
// same length. The elements of words and kept from index left on are unspecified.
func Without(words, kept, values []uint64, word uint64) (left int, dropped uint64) {
	mustMatch(len(kept), len(words))
	mustMatch(len(values), len(words))
	return without(words, kept, values, word)
}

func withoutGo(words, kept, values []uint64, word uint64) (left int, dropped uint64) {
	return withoutFrom(0, 0, words, kept, values, word)
}

// withoutFrom processes the words from index from on, after left remaining words. It writes every
// word without a branch, and the next word overwrites a removed word.
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

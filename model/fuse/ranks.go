package fuse

import "slices"

// voteByRank replaces a system's scores by votes that depend on the ranks alone. The function vote
// returns the vote for a rank from 1 to n. Documents with equal scores get the mean of the votes for
// their ranks.
func voteByRank(s []float64, vote func(rank, n int) float64) {
	n := len(s)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case s[a] > s[b]:
			return -1
		case s[a] < s[b]:
			return 1
		}
		return 0
	})
	values := slices.Clone(s)
	for first := 0; first < n; {
		end, sum := first, 0.0
		for ; end < n && values[order[end]] == values[order[first]]; end++ {
			sum += vote(end+1, n)
		}
		for _, i := range order[first:end] {
			s[i] = sum / float64(end-first)
		}
		first = end
	}
}

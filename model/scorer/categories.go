package scorer

import (
	"fmt"
	"math"
	"slices"
)

// checkCategories returns an error if a node's categories are not finite or not ascending, or if the
// node has categories and also a threshold or MissingLeft.
func (n *TreeNode) checkCategories(node int) error {
	for i, v := range n.Categories {
		switch {
		case math.IsNaN(float64(v)) || math.IsInf(float64(v), 0):
			return fmt.Errorf("found the category %v in node %d, expected a finite number", v, node)
		case i > 0 && !(n.Categories[i-1] < v):
			return fmt.Errorf("found the category %v after %v in node %d, expected ascending ones", v, n.Categories[i-1], node)
		}
	}
	if n.Categories != nil && (len(n.Categories) == 0 || n.Threshold != 0 || n.MissingLeft) {
		return fmt.Errorf("found %d categories, the threshold %v and missing values to the left (%t) in node %d, expected one category or more and neither of the others",
			len(n.Categories), n.Threshold, n.MissingLeft, node)
	}
	return nil
}

// contains reports whether v is an element of a slice in ascending order.
func contains(ascending []float32, v float32) bool {
	_, found := slices.BinarySearch(ascending, v)
	return found
}

//go:build linux && amd64 && !noasm

package kernel

import "testing"

// without512 runs a test as on a processor that has no 512-bit instructions.
func without512(t *testing.T, test func(t *testing.T)) {
	defer func(have bool) { haveAVX512 = have }(haveAVX512)
	haveAVX512 = false
	test(t)
}

// The 256-bit loops of trees give the same as the 512-bit ones.
func TestForestWithout512Bits(t *testing.T) {
	without512(t, TestForestAddsTheValuesOfTheLeaves)
	without512(t, TestCodesCountTheCutsBelow)
	without512(t, TestForestReadsNothingBeyondItsSlices)
	without512(t, TestWithoutKeepsTheOthers)
}

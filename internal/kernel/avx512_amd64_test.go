//go:build linux && amd64 && !noasm

package kernel

import (
	"math"
	"syscall"
	"testing"
	"unsafe"
)

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

// The 256-bit exponentials and logarithms give the bits of the reference, as the 512-bit ones
// do where the processor has these.
func TestMapsWithout512Bits(t *testing.T) {
	without512(t, TestMappingsGiveTheReferencesBits)
	without512(t, TestReductionsGiveTheReferencesBits)
	without512(t, TestNothingReadsBeyondItsSlices)
}

// The last elements of a sum are loaded, by masks, from an address before the first one where
// there are fewer than four: nothing there is read, or a fault would end the test.
func TestNothingReadsBeforeItsSlices(t *testing.T) {
	const page = 4096
	memory, err := syscall.Mmap(-1, 0, 2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skipf("no memory map: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(memory) })
	if err := syscall.Mprotect(memory[:page], syscall.PROT_NONE); err != nil {
		t.Skipf("no protection: %v", err)
	}
	x := unsafe.Slice((*float64)(unsafe.Pointer(&memory[page])), page/8)
	for n := range 40 {
		for i := range x[:n] {
			x[i] = 1
		}
		if got, want := ExpSum(x[:n], x[:n], 1), float64(n); got != want {
			t.Errorf("ExpSum of %d ones, less 1, is %v, expected %v", n, got, want)
		}
		if got, want := LogSumExp(x[:n]), 1+math.Log(float64(n)); !(math.Abs(got-want) < 1e-14) && n > 0 {
			t.Errorf("LogSumExp of %d ones is %v, expected %v", n, got, want)
		}
	}
}

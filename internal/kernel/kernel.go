// Package kernel has the vector loops that take most of the time of training, and of scoring with trees.
// The reference of every function is portable Go. On amd64, generated assembly for AVX2 is chosen when the
// program starts; functions for trees, exponentials and logarithms also have AVX-512. Most functions have
// NEON on arm64. All give the same bits for any alignment of the slices, so that a model does not depend
// on the machine. (Only the payload of a NaN is unspecified.) The build tag noasm excludes the assembly,
// noavx512 the assembly for AVX-512.
//
// Start reading at dot.go. The other files follow its pattern: an exported function that checks shapes, a
// reference whose name ends in Go, and a choice between it and the assembly in dispatch_amd64.go. The
// assembly comes from tools/kernelgen.
//
// The package works only on slices and must not know of queries, losses or scorers. Lengths that do not
// match and indices out of range are a programmer's mistake and panic before anything is written. Slices
// that are written must not overlap others, unless a comment allows the same slice. Only [NewPairs]
// allocates. Everything may be called concurrently on different memory.
package kernel

import "fmt"

//go:generate go -C ../../tools run ./kernelgen -pkg kernel -out ../internal/kernel/avx2_amd64.s -stubs ../internal/kernel/avx2_amd64.go -coefficients ../internal/elementary/coefficients.go -neon ../internal/kernel/neon_arm64

// mustMatch panics unless a slice has the length that is needed.
func mustMatch(got, want int) {
	if got != want {
		panic(lengthError{got, want})
	}
}

// lengthError is what mustMatch panics with; making its text later keeps the
// callers small enough to be inlined.
type lengthError struct{ got, want int }

func (e lengthError) Error() string {
	return fmt.Sprintf("kernel: a slice has length %d where %d is needed", e.got, e.want)
}

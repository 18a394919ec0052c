// Package kernel contains the vector loops that take most of the time of training and of scoring
// with trees. Portable Go is the reference of every function. On amd64, a program selects generated
// AVX2 assembly when it starts. Functions for trees, exponentials and logarithms also have AVX-512
// assembly. On arm64, most functions have NEON assembly. All variants give the same bits for any
// alignment of the slices, so a model does not depend on the machine. (Only the payload of a NaN is
// unspecified.) The build tag noasm excludes all assembly, and noavx512 excludes the AVX-512
// assembly.
//
// Start reading at dot.go. The other files follow its pattern. An exported function checks shapes.
// A reference has a name that ends in Go. dispatch_amd64.go chooses between the reference and the
// assembly, which tools/kernelgen generates.
//
// The package works only on slices and must not know of queries, losses or scorers. Mismatched
// lengths and indices out of range are programming errors and panic. Slices that a function writes
// must not overlap other slices, unless the function's comment allows the same slice. Only the
// constructors allocate. All functions may be called concurrently on different memory.
package kernel

import "fmt"

//go:generate go -C ../../tools run ./kernelgen -pkg kernel -out ../internal/kernel/avx2_amd64.s -stubs ../internal/kernel/avx2_amd64.go -coefficients ../internal/elementary/coefficients.go -neon ../internal/kernel/neon_arm64

// mustMatch panics unless got equals want. Both are lengths of slices.
func mustMatch(got, want int) {
	if got != want {
		panic(lengthError{got, want})
	}
}

// lengthError is the value of mustMatch's panics. Its text is formatted later, which keeps the
// callers small enough for inlining.
type lengthError struct{ got, want int }

func (e lengthError) Error() string {
	return fmt.Sprintf("kernel: a slice has length %d where %d is needed", e.got, e.want)
}

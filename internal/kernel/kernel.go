// Package kernel contains the vector loops that take most of the time of training and of scoring
// with trees. Every function has a reference in portable Go. On amd64, the package uses generated
// AVX2 assembly if the processor supports AVX2. Functions for trees, exponentials and logarithms
// also have AVX-512 assembly. On arm64, most functions have NEON assembly. The reference and the
// assembly return the same bits for any alignment of the slices, so a model does not depend on the
// machine. (Only the payload of a NaN is unspecified.) The build tag noasm excludes all assembly,
// and noavx512 excludes the AVX-512 assembly.
//
// Start reading at dot.go, whose structure the other files share. An exported function checks the
// lengths of its arguments. The reference has the same name with the ending Go. dispatch_amd64.go
// chooses between the reference and the assembly, which tools/kernelgen generates. A lane is one of
// the partial sums that a vector register accumulates side by side.
//
// The package works only on slices and must not depend on queries, losses or scorers. Mismatched
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

// lengthError is the value with which mustMatch panics. The Error method formats the text, so that
// the callers of mustMatch are small enough for inlining.
type lengthError struct{ got, want int }

func (e lengthError) Error() string {
	return fmt.Sprintf("kernel: a slice has length %d where %d is needed", e.got, e.want)
}

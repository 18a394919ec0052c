// Package elementary contains exponentials, logarithms and related functions, with the same bits on
// every architecture. The standard library's functions differ in the last digit between
// architectures, because some use assembly or fused products. Models trained with them would
// differ, too.
//
// Start reading at exponential.go and logarithm.go. Every product is either fused by math.FMA or
// converted to float64, so that the compiler fuses none. The package must not import other
// packages of the module. Package kernel has the same functions for slices, and its assembly has
// the bits of [Exp] and [Log]. All functions are safe for concurrent use and do not allocate.
// For infinities and NaN they return the results of package math.
package elementary

// Package elementary has exponentials, logarithms and functions made of them, with the same bits on every
// architecture. The standard library's functions differ in the last digit between architectures, by
// assembly on some and fused products on others. Models trained with them would differ, too.
//
// Start reading at exponential.go and logarithm.go. Every product is either fused by math.FMA or
// converted, so that the compiler fuses none of its own. The package must not know what is computed.
// Package kernel has the same functions of whole slices; its assembly has the bits of [Exp] and [Log]. All
// functions are safe for concurrent use and allocate nothing. For infinities and NaN they return what
// package math does.
package elementary

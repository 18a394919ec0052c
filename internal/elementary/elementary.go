// Package elementary has the exponential function, logarithms and what is made of them, with
// the same bits on every architecture. Those of the standard library differ in their last
// digit between architectures, by assembly on some and by fused products on others, and then
// so do the models that are trained with them.
//
// Start reading at exponential.go and logarithm.go. Every product is either fused by math.FMA or converted,
// so that the compiler fuses none of its own. The package must not know what is computed; the
// same functions of whole slices are in package kernel, whose assembly has the bits of [Exp]
// and [Log]. All functions are safe for concurrent use and allocate nothing. Infinities and
// NaN give what package math gives for them.
package elementary

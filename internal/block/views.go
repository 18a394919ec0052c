package block

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// Files hold numbers in little-endian order.

// Float32s returns the little-endian numbers in b: the same memory if the processor is little-endian and b
// aligned, else a copy.
func Float32s(b []byte) []float32 {
	return view(b, New, func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) })
}

// Float64s is Float32s for float64.
func Float64s(b []byte) []float64 {
	return view(b, heap, func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) })
}

// Uint32s is Float32s for 32-bit integers.
func Uint32s(b []byte) []uint32 { return view(b, heap, binary.LittleEndian.Uint32) }

// Words is Float32s for 64-bit words.
func Words(b []byte) []uint64 { return view(b, heap, binary.LittleEndian.Uint64) }

func heap[T any](n int) []T { return make([]T, n) }

// view returns the numbers in b, or in new memory the numbers that one decodes from their bytes.
func view[T any](b []byte, memory func(n int) []T, one func([]byte) T) []T {
	var zero T
	size := int(unsafe.Sizeof(zero))
	n := len(b) / size
	if native(b, unsafe.Alignof(zero)) {
		return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
	}
	x := memory(n)
	for i := range x {
		x[i] = one(b[size*i:])
	}
	return x
}

// Text returns bytes that do not change as a string in the same memory.
func Text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

func native(b []byte, align uintptr) bool {
	little := binary.NativeEndian.Uint16([]byte{1, 0}) == 1
	return little && uintptr(unsafe.Pointer(unsafe.SliceData(b)))%align == 0
}

// AppendFloat64s appends numbers as little-endian bytes.
func AppendFloat64s(b []byte, values []float64) []byte {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

// LittleEndian returns the values as the bytes of a file: the same memory where
// the processor is little-endian, else a copy.
func LittleEndian(values []float32) []byte {
	if binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), 4*len(values))
	}
	b := make([]byte, 0, 4*len(values))
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// Halves returns words as numbers of half their size, in the same memory.
func Halves(words []uint64) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(words))), 2*len(words))
}

// Numbers returns words as float64, in the same memory.
func Numbers(words []uint64) []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(words))), len(words))
}

// Bytes returns the memory of words.
func Bytes(words []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
}

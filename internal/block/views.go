package block

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// Numbers in files are little-endian.

// Float32s returns the little-endian numbers in b. The result shares the memory of b if the
// processor is little-endian and b is aligned. Otherwise it is a copy.
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

// view returns the numbers in b. If it cannot share the memory of b, it allocates by memory and
// decodes each number by one.
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

// Text returns b as a string in the same memory. The caller must not change b afterwards.
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

// LittleEndian returns values as the bytes of a file. The result shares the memory of values if the
// processor is little-endian. Otherwise it is a copy.
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

// Halves returns words as 32-bit integers in the same memory.
func Halves(words []uint64) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(words))), 2*len(words))
}

// Numbers returns words as float64s in the same memory.
func Numbers(words []uint64) []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(words))), len(words))
}

// Bytes returns words as bytes in the same memory.
func Bytes(words []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
}

//go:build amd64 && !noasm && !noavx512

package kernel

// useAVX512 is whether the 512-bit loops are used where the processor has them; the build tag
// noavx512 leaves them out, and so does the environment's GODEBUG=cpu.avx512f=off.
const useAVX512 = true

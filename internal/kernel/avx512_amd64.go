//go:build amd64 && !noasm && !noavx512

package kernel

// useAVX512 reports whether the build includes the AVX-512 assembly. The build tag noavx512
// excludes the assembly. The environment variable GODEBUG=cpu.avx512f=off disables it at run time.
const useAVX512 = true

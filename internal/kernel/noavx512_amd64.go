//go:build amd64 && !noasm && noavx512

package kernel

const useAVX512 = false

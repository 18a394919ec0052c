// Command kernelgen writes the vector kernels of internal/kernel: AVX2 and NEON assembly, AVX-512
// assembly for trees, exponentials and logarithms, and the Go declarations. It also writes the
// polynomial coefficients that the assembly and the portable Go reference share.
//
// Every generated routine has a reference in internal/kernel, a Go function with the same
// arithmetic: the same accumulators, order of operations and fused multiply-adds. A change of a
// routine needs the same change of its reference. The tests of internal/kernel compare the bits of
// both. `go generate ./internal/kernel` runs this command.
//
// Start reading at dot.go, the simplest routine. vector.go has the shared parts. The files neon*.go
// are for arm64, and the other files use package avo for amd64. The functions of this package run
// at generation time, and each call of an instruction such as VADDPD writes one instruction. A
// comment such as "adds x to y" describes the code that the function writes. A vector is the
// content of one register: four float64 with AVX2, eight with AVX-512.
package main

import (
	"flag"
	"log"

	. "github.com/mmcloughlin/avo/build"
)

func main() {
	coefficients := flag.String("coefficients", "", "write the Go coefficients to this `file`")
	arm := flag.String("neon", "", "write NEON assembly to `file`.s and its declarations to file.go")
	flag.Parse()
	if *coefficients == "" || *arm == "" {
		log.Fatal("kernelgen: -coefficients and -neon are required")
	}
	if err := writeCoefficients(*coefficients); err != nil {
		log.Fatalf("kernelgen: %v", err)
	}
	if err := writeNEON(*arm+".s", *arm+".go"); err != nil {
		log.Fatalf("kernelgen: %v", err)
	}

	ConstraintExpr("amd64")
	ConstraintExpr("!noasm")
	dot()
	dot32()
	gemv()
	gemvT()
	gemms()
	elementwise()
	adam()
	sum()
	maximum()
	exponentials()
	logarithms()
	logisticRow()
	logisticRows()
	slopeRow()
	pairs()
	scanRows()
	forests()
	divisionBound()
	subtract()
	copyColumns()
	codesOfMany()
	without()
	addSwaps()
	divideByGaps()
	maps512()
	Generate()
}

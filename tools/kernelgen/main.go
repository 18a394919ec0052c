// Command kernelgen writes the vector kernels of internal/kernel: the AVX2 (for trees,
// exponentials and logarithms, AVX-512 too) and NEON assembly, its Go declarations, and the polynomial coefficients that the
// assembly and the portable Go reference share.
//
// Every routine here has a reference of the same arithmetic in internal/kernel:
// the same accumulators, the same order of operations, the same fused
// multiply-adds. Whoever changes one changes the other; the package's tests
// compare their bits, and `go generate ./internal/kernel` runs this. Start reading
// at dot.go, the simplest; vector.go holds what the routines share; neon.go and
// its neighbours are for arm64.
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

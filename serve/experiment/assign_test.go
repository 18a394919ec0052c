package experiment

import (
	"crypto/sha256"
	"math"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// Claim: the arms are those of the documented hash, which any program can compute.
func TestPickIsDocumented(t *testing.T) {
	for i := range 1000 {
		id := "user-" + strconv.Itoa(i)
		sum := sha256.Sum256([]byte("salt\x00" + id))
		u := 0.0
		for _, b := range sum[:8] {
			u = u*256 + float64(b)
		}
		u /= math.Exp2(64)
		want := 0
		if u >= 0.9 {
			want = 1
		}
		if got := Pick("salt", []byte(id), []int{9, 1}); got != want {
			t.Fatalf("%s gets arm %d, want %d of u = %v", id, got, want, u)
		}
	}
	// Printed by: python3 -c "import hashlib; print([int.from_bytes(hashlib.sha256(b'exp\0u%d'%i).digest()[:8],'big')*3>>64 for i in range(12)])"
	for i, want := range pythonsArms {
		if got := Pick("exp", []byte("u"+strconv.Itoa(i)), []int{1, 1, 1}); got != want {
			t.Errorf("u%d gets arm %d, want %d", i, got, want)
		}
	}
}

// chiSquare is the p value of counts against their expectations.
func chiSquare(counts []int, expected []float64) float64 {
	x := 0.0
	for i, n := range counts {
		x += (float64(n) - expected[i]) * (float64(n) - expected[i]) / expected[i]
	}
	return 1 - distuv.ChiSquared{K: float64(len(counts) - 1)}.CDF(x)
}

// Claim: of many ids the arms get their shares, whatever the ids look like, and the arms of
// experiments with different salts are independent. The test is deterministic.
func TestShares(t *testing.T) {
	const n = 100_000
	for _, shares := range [][]int{{1, 1}, {9, 1}, {50, 30, 20}, {1, 0, 3}} {
		total, left := 0, 0
		for _, s := range shares {
			total += s
		}
		for _, prefix := range []string{"", "user-", "00000000-0000-"} {
			counts, expected := make([]int, len(shares)), make([]float64, len(shares))
			for i := range n {
				counts[Pick("s", []byte(prefix+strconv.Itoa(i)), shares)]++
			}
			var used []int
			var want []float64
			for arm, s := range shares {
				if expected[arm] = n * float64(s) / float64(total); s > 0 {
					used, want = append(used, counts[arm]), append(want, expected[arm])
				} else if left += counts[arm]; left > 0 {
					t.Errorf("an arm without a share got %d ids", left)
				}
			}
			if p := chiSquare(used, want); p < 0.001 {
				t.Errorf("shares %v of ids %s…: counts %v, p %v", shares, prefix, counts, p)
			}
		}
	}
	var joint [4]int
	for i := range n {
		id := []byte(strconv.Itoa(i))
		joint[2*Pick("a", id, []int{1, 1})+Pick("b", id, []int{1, 1})]++
	}
	if p := chiSquare(joint[:], []float64{n / 4, n / 4, n / 4, n / 4}); p < 0.001 {
		t.Errorf("two experiments share their users as %v, p %v", joint, p)
	}
}

var pythonsArms = []int{2, 0, 2, 2, 0, 0, 0, 2, 1, 2, 1, 2}

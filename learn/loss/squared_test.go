package loss_test

import (
	"testing"

	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/losstest"
)

// Squared errors meet every loss's contract, second derivatives included.
func TestSquaredErrorConforms(t *testing.T) {
	for m := loss.LogMapping; m <= loss.ExpMapping; m++ {
		losstest.Run(t, losstest.Case{Name: "squared/" + m.String(), Loss: loss.SquaredError{Mapping: m}, Diagonal: true, OneGrade: true})
	}
}

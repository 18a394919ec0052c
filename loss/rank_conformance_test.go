package loss_test

import (
	"testing"

	"github.com/listwise/listwise/loss"
	"github.com/listwise/listwise/loss/losstest"
)

// TestRankNetConformance runs the suite on RankNet.
func TestRankNetConformance(t *testing.T) {
	losstest.Run(t, losstest.Case{Name: "plain", Loss: loss.RankNet{}})
	losstest.Run(t, losstest.Case{Name: "mean", Loss: loss.RankNet{Sigma: 1.7, Mean: true}})
}

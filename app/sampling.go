package app

import (
	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
)

// sampling is the flag that has only some of the queries read.
type sampling struct{ share float64 }

func (s *sampling) addTo(cmd *cobra.Command) {
	cmd.Flags().Float64Var(&s.share, "sample", 1, "`share` of the queries to read, such as 0.1")
}

// sampled adds the flag to the options of reading.
func (s *sampling) sampled(opts *dataset.Options) error {
	if !(s.share > 0 && s.share <= 1) {
		return usageErrorf("--sample: found %v, expected a share above 0, up to 1", s.share)
	}
	if s.share < 1 {
		opts.Keep = dataset.SampleQueries(s.share, 0)
	}
	return nil
}

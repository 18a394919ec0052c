package bridge

import (
	"context"
	"errors"

	"github.com/listwise/listwise/click"
	clickmodel "github.com/listwise/listwise/click/model"
)

// clicksRequest is a request for probabilities of clicks by a click model, whose file is the first array.
type clicksRequest struct {
	Pages []string // files
	Full  bool     // the clicks above are not known
}

// predictClicks answers with the probability of a click on each document, in the order of the files.
func (j *job) predictClicks(ctx context.Context, r clicksRequest, arrays Arrays) (any, error) {
	first := 0
	file, err := array[byte](arrays, &first, "model")
	if err != nil {
		return nil, err
	}
	m, err := clickmodel.Decode("model", file)
	if err != nil {
		return nil, err
	}
	predict := m.Conditional
	if r.Full {
		predict = m.Full
	}
	all := []float64{}
	o := click.Options{Tally: new(click.Tally)}
	for _, path := range r.Pages {
		err := click.Read(ctx, path, o, func(p *click.Page) error {
			if p.Clicks == nil && !r.Full {
				return errors.New("found no clicks, expected clicks, or conditional=False")
			}
			probabilities, err := predict(p)
			all = append(all, probabilities...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	j.arrays = []any{all}
	return map[string]any{}, nil
}

package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/listwise/listwise/app"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/strictjson"
)

// operation answers a request in JSON with its arrays.
type operation func(*job, context.Context, []byte, Arrays) (any, error)

// operations are the operations by their names in requests.
var operations = map[string]operation{
	"auto":                taking((*job).auto),
	"clicks evaluate":     calling(app.ClicksEvaluate),
	"clicks fit":          calling(app.ClicksFit),
	"clicks judge":        calling(app.ClicksJudge),
	"clicks predict":      taking((*job).predictClicks),
	"clicks propensities": calling(app.ClicksPropensities),
	"clicks simulate":     calling(app.ClicksSimulate),
	"clicks weigh":        calling(app.ClicksWeigh),
	"compare":             calling(app.Compare),
	"evaluate":            taking((*job).evaluate),
	"evaluate files":      calling(app.Evaluate),
	"explain":             taking((*job).explain),
	"fit":                 (*job).fit,
	"fuse":                taking((*job).fuse),
	"hyperparameters":     (*job).hyperparameters,
	"load":                taking((*job).load),
	"read":                taking((*job).read),
	"read run":            taking((*job).readRun),
	"report":              calling(app.Report),
	"score":               taking((*job).score),
	"tune":                calling(app.Tune),
	"write":               taking((*job).write),
}

// perform runs the operation that the request names.
func (j *job) perform(ctx context.Context, request []byte, arrays Arrays) (answer any, err error) {
	defer dataset.GuardFaults(&err)()
	var head struct{ Op string }
	if err := decode(request, &head); err != nil {
		return nil, err
	}
	do, ok := operations[head.Op]
	if !ok {
		return nil, fmt.Errorf("found no operation %q", head.Op)
	}
	return do(j, ctx, request, arrays)
}

// taking returns the operation that decodes its request for do.
func taking[R any](do func(*job, context.Context, R, Arrays) (any, error)) operation {
	return func(j *job, ctx context.Context, request []byte, arrays Arrays) (any, error) {
		var r R
		if err := decode(request, &r); err != nil {
			return nil, err
		}
		return do(j, ctx, r, arrays)
	}
}

// decode reads a request.
func decode(request []byte, into any) error {
	_, err := strictjson.Plain(json.Unmarshal(request, into))
	return err
}

// failure is the answer of a job that failed.
type failure struct {
	Kind    string `json:"kind"` // cancelled, file, memory, internal, or value for all else
	Message string `json:"message"`
}

// kindOf returns the kind of a failure.
func kindOf(ctx context.Context, err error) string {
	_, internal := errors.AsType[*internalError](err)
	switch {
	case ctx.Err() != nil:
		return "cancelled"
	case internal:
		return "internal"
	case errors.Is(err, fs.ErrNotExist):
		return "file"
	case errors.Is(err, dataset.ErrTooLarge):
		return "memory"
	}
	return "value"
}

// messageOf returns an error's text, without the flags that keyword arguments have no need of.
func messageOf(err error) string {
	if text, ok := strings.CutPrefix(err.Error(), "set: "); ok {
		return text
	}
	return strings.TrimPrefix(err.Error(), "--")
}

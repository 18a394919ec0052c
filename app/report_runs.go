package app

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	page "github.com/listwise/listwise/app/report"
	"github.com/listwise/listwise/app/runs"
)

// numbered returns the run that an argument, [NAME=]NUMBER, stands for; ok is false
// if it is no number, or a file is called so.
func numbered(arg string) (name, id string, ok bool) {
	name, id, named := strings.Cut(arg, "=")
	if !named {
		name, id = "", arg
	}
	n, err := strconv.ParseInt(id, 10, 64)
	return name, id, err == nil && n > 0 && !exists(arg) && !exists(id)
}

// ofRun returns the systems of a recorded run and their learning curves: the model of
// train, every method of tune, what eval measured.
func ofRun(name, id string) (systems []*contestant, curves []page.Curve, err error) {
	list, err := runsNamed([]string{id})
	if err != nil {
		return nil, nil, err
	}
	r := list[0]
	systems, curves = filesOf(r), curvesOf(r)
	if r.Status != runs.Finished {
		return nil, nil, usageErrorf("run %s is %s, expected one that is finished", id, r.Status)
	}
	if systems == nil {
		return nil, nil, usageErrorf("run %s: the record has no model or scores for it", id)
	}
	if name != "" && len(systems) > 1 {
		return nil, nil, usageErrorf("run %s has %d methods, expected one to be called %s", id, len(systems), name)
	}
	for _, s := range systems {
		if p := s.runs[0].path; !exists(p) {
			return nil, nil, usageErrorf("run %s: %w", id, &fs.PathError{Op: "open", Path: p, Err: errors.New("the file that the run wrote no longer exists")})
		}
		if name != "" {
			s.name = name
		}
	}
	for i := range curves {
		if name != "" {
			curves[i].Name = name
		}
	}
	return systems, curves, nil
}

// filesOf returns a run's models or scores as systems.
func filesOf(r *runs.Run) []*contestant {
	system := func(name, path string) *contestant {
		return &contestant{name: name, given: true, runs: []run{{path: path}}}
	}
	suffix := " #" + strconv.FormatInt(r.ID, 10)
	var systems []*contestant
	switch r.Kind {
	case runs.Train:
		if len(r.Files) > 0 && len(r.Methods) == 1 {
			systems = append(systems, system(r.Methods[0]+suffix, r.Files[0]))
		}
	case runs.Tune:
		for _, m := range r.Methods {
			i := slices.IndexFunc(r.Files, func(f string) bool { return filepath.Base(filepath.Dir(f)) == m })
			if i >= 0 {
				systems = append(systems, system(m+suffix, filepath.Dir(r.Files[i])))
			}
		}
	case runs.Auto: // the folds' fusions or, where they were not trained anew, the one model
		path := r.Files[0]
		if i := slices.IndexFunc(r.Files, func(f string) bool { return filepath.Base(filepath.Dir(f)) == autoSystem }); i >= 0 {
			path = filepath.Dir(r.Files[i])
		}
		systems = append(systems, system(autoSystem+suffix, path))
	case runs.Eval:
		i := slices.IndexFunc(r.Data, func(d runs.Data) bool { return d.Role == "model" || d.Role == "scores" })
		if i >= 0 {
			systems = append(systems, system(shortName(r.Data[i].Path)+suffix, r.Data[i].Path))
		}
	}
	return systems
}

// curvesOf returns a run's learning curves, one a ranker and fold.
func curvesOf(r *runs.Run) []page.Curve {
	var curves []page.Curve
	for _, p := range r.Curve {
		name := strings.TrimSpace(p.Ranker + " " + p.Fold)
		name += " #" + strconv.FormatInt(r.ID, 10)
		i := slices.IndexFunc(curves, func(c page.Curve) bool { return c.Name == name })
		if i < 0 {
			i = len(curves)
			curves = append(curves, page.Curve{Name: name})
		}
		point := page.Point{Epoch: p.Step, Restart: p.Start, Cost: float64(p.Objective), Best: p.Best}
		if v := float64(p.Validation); number(v) != nil {
			point.Validation = &v
		}
		curves[i].Points = append(curves[i].Points, point)
	}
	return curves
}

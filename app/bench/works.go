package bench

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Names of the files of one size.
const (
	dataFile  = "data.lwd"
	textFile  = "data.txt"
	modelFile = "model.json"
	otherFile = "other"
)

// Work is something the program does.
type Work struct {
	Name string `json:"name"`

	// Args is the command line, in which DATA, TEXT, MODEL and OTHER stand for files.
	Args []string `json:"args"`

	// Knob is the hyperparameter that bounds the passes over the data, "" for what has none;
	// Few and Many are two values of it, and Usual the number of passes that a training is
	// reckoned with. Unit names a pass.
	Knob  string `json:"knob,omitempty"`
	Few   int    `json:"-"`
	Many  int    `json:"-"`
	Usual int    `json:"usual_passes,omitempty"`
	Unit  string `json:"unit,omitempty"`

	// Whole says that it takes all features at once, and so does without reading them from the disk
	// while it runs where they do not fit into memory: it needs a machine with more.
	Whole bool `json:"needs_memory,omitempty"`

	// Where the features do not fit into memory, each pass behind the first reads Reads times their bytes, and a
	// document takes Least bytes of memory all the same, and each of its features Cell.
	Reads float64 `json:"reads_per_pass,omitempty"`
	Least float64 `json:"least_bytes_per_document,omitempty"`
	Cell  float64 `json:"least_bytes_per_value,omitempty"`

	// Most is the number of documents up to which it is measured, 0 for any.
	Most int `json:"-"`
}

// arguments is the command line with a value of the knob and the files of this size.
func (s *size) arguments(w *Work, value int) []string {
	names := strings.NewReplacer("DATA", s.file(dataFile), "TEXT", s.file(textFile), "MODEL", s.file(modelFile), "OTHER", s.file(otherFile))
	args := make([]string, len(w.Args), len(w.Args)+2)
	for i, a := range w.Args {
		args[i] = a
		if slices.Contains([]string{"DATA", "TEXT", "MODEL", "OTHER"}, strings.SplitN(a, ".", 2)[0]) {
			args[i] = names.Replace(a)
		}
	}
	if w.Knob != "" {
		args = append(args, "--set", w.Knob+"="+strconv.Itoa(value))
	}
	return args
}

func (s *size) file(name string) string { return filepath.Join(s.dir, name) }

// textMost is the number of documents beyond which text, three times as large as a cache, is
// not made.
const textMost = 12_000_000

// Programs returns what is measured beside training.
func Programs() []Work {
	return []Work{
		{Name: "write text", Args: words("data convert DATA --out TEXT --max-memory 1000000 -q"), Most: textMost},
		{Name: "convert text", Args: words("data convert TEXT --out OTHER.lwd --max-memory 1000000 -q"), Most: textMost},
		{Name: "regression", Args: training("regression")}, // which leaves the model of the next two
		{Name: "eval", Args: words("eval --data DATA --model MODEL --max-memory 1000000 --no-record --format json")},
		{Name: "score", Args: words("score --data DATA --model MODEL --out OTHER.scores --max-memory 1000000 -q")},
	}
}

// Trainings returns the methods that are measured unless others are asked for. What L-BFGS stops at
// depends on the data; 100 evaluations are what the plans reckon with.
func Trainings() []Work {
	evaluations := func(name string, more ...string) Work {
		return Work{Name: name, Args: training(name, more...), Knob: "iterations", Few: 2, Many: 32, Usual: 100, Unit: "evaluation", Reads: 1}
	}
	epochs := func(name, title string, more ...string) Work {
		return Work{Name: title, Args: training(name, more...), Knob: "epochs", Few: 1, Many: 6, Usual: 100, Unit: "epoch", Reads: 1}
	}
	rounds := func(name, knob string, usual int, more ...string) Work {
		return Work{Name: name, Args: training(name, more...), Knob: knob, Few: 2, Many: 32, Usual: usual, Unit: strings.TrimSuffix(knob, "s"), Whole: true}
	}
	// Newton's method ends by itself after a few iterations, which take unlike numbers of passes: a training is
	// measured as a whole. It reads its features 52 and 54 times (two sets of 136 features).
	newton := Work{Name: "ranksvm", Args: training("ranksvm"), Usual: 1, Unit: "training", Reads: 52}
	// ConvexLoss holds what it knows of the rankings of every query: 0.196 GB of a million documents, 100 a query.
	convex := evaluations("convexloss")
	convex.Least = 200
	return []Work{
		evaluations("mle"), evaluations("listnet"), evaluations("listmle"), convex, newton,
		epochs("lambdarank", "lambdarank"), epochs("ranknet", "ranknet-net", "--scorer", "net"),
		rounds("adarank", "rounds", 500), rounds("rankboost", "rounds", 300), codes(rounds("lambdamart", "trees", 300)),
		{Name: "coordascent", Args: training("coordascent", "--set", "restarts=0"), Knob: "sweeps", Few: 1, Many: 2, Usual: 25, Unit: "sweep", Whole: true},
	}
}

// codes says of trees what they take of data larger than memory: what they know of a document, and a byte a cell
// (docs/out-of-core.md).
func codes(w Work) Work {
	w.Whole, w.Least, w.Cell = false, 80, 1
	return w
}

// training is the command line of a method's training.
func training(method string, more ...string) []string {
	return append(words("train --method "+method+" --train DATA --model MODEL --max-memory 1000000 --no-record --format json"), more...)
}

// Select returns the trainings of these names, all for none. The error names one that is
// unknown.
func Select(names []string) ([]Work, error) {
	all := Trainings()
	if len(names) == 0 {
		return all, nil
	}
	var known []string
	for _, w := range all {
		known = append(known, w.Name)
	}
	var chosen []Work
	for _, name := range names {
		i := slices.Index(known, name)
		if i < 0 {
			return nil, &UnknownError{Name: name, Known: known}
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// UnknownError is the error about a training that is not among those measured.
type UnknownError struct {
	Name  string
	Known []string
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("found %q, expected %s", e.Name, strings.Join(e.Known, ", "))
}

func words(line string) []string { return strings.Fields(line) }

package interchange

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/listwise/listwise/model"
)

// svmlight is a model file of SVM-light or SVM-rank with the linear kernel. A score is
// Σ_i α_i y_i x_i·x − b over the support vectors.
var svmlight = format{
	name: "svmlight", title: "SVM-light and SVM-rank (linear kernel)",
	is: func(head []byte) bool {
		return bytes.HasPrefix(head, []byte("SVM-light Version")) || bytes.HasPrefix(head, []byte("SVM-rank Version"))
	},
	read: readSVMLight,
}

// svmlightHead are the comments in the lines between the version and the support vectors.
var svmlightHead = []string{"kernel type", "kernel parameter -d", "kernel parameter -g", "kernel parameter -s", "kernel parameter -r", "kernel parameter -u",
	"highest feature index", "number of training documents", "number of support vectors plus 1", "threshold b"}

func readSVMLight(data []byte, _ ReadOptions) (*model.Model, []string, error) {
	var sum linear
	values := map[string]float64{}
	number, vectors := 0, 0
	for text := range strings.Lines(string(data)) {
		number++
		text, comment, _ := strings.Cut(text, "#")
		text = strings.TrimSpace(text)
		at := number - 2 // index in svmlightHead
		switch {
		case number == 1:
		case at < len(svmlightHead):
			key := svmlightHead[at]
			if !strings.HasPrefix(strings.TrimSpace(comment), key) {
				return nil, nil, errorAt(number, "found the comment %.40q, expected %q, as SVM-light writes it", strings.TrimSpace(comment), key)
			}
			v, err := javaFloat(text, 64)
			if err != nil && key != "kernel parameter -u" { // a string, usually "empty"
				return nil, nil, errorAt(number, "found %.40q as %s, expected a finite number", text, key)
			}
			if key == "kernel type" && v != 0 {
				return nil, nil, errorAt(number, "found the kernel %v, expected 0, the linear one: others have no weights of features", v)
			}
			values[key] = v
		case text != "":
			vectors++
			if err := sum.addVector(text); err != nil {
				return nil, nil, errorAt(number, "%w", err)
			}
		}
	}
	if want := values["number of support vectors plus 1"] - 1; float64(vectors) != want {
		return nil, nil, errorAt(max(number, 1), "found %d support vectors, expected %v, as the head says", vectors, want)
	}
	highest := values["highest feature index"]
	if float64(len(sum.weights)) > highest {
		return nil, nil, errorAt(max(number, 1), "found feature %d, expected at most %v, as the head says", len(sum.weights), highest)
	}
	if highest >= 1 && highest <= mostFeatures && highest > float64(len(sum.weights)) {
		sum.weights = append(sum.weights, make([]float64, int(highest)-len(sum.weights))...)
	}
	sum.constant = -values["threshold b"]
	m, err := sum.model("svmlight", nil)
	if err != nil {
		return nil, nil, errorAt(max(number, 1), "%w", err)
	}
	return m, nil, nil
}

// addVector adds a support vector, times its factor, to the weights. text is the line of the
// vector, ALPHA FEATURE:VALUE ….
func (l *linear) addVector(text string) error {
	fields := strings.Fields(text)
	alpha, err := javaFloat(fields[0], 64)
	if err != nil {
		return fmt.Errorf("found %.40q as the coefficient of a support vector, expected a finite number", fields[0])
	}
	for _, pair := range fields[1:] {
		key, value, _ := strings.Cut(pair, ":")
		if key == "qid" || key == "sid" || key == "cost" {
			continue
		}
		feature, err := strconv.Atoi(key)
		if err != nil {
			return fmt.Errorf("found %.40q, expected FEATURE:VALUE", pair)
		}
		v, err := javaFloat(value, 64)
		if err != nil {
			return fmt.Errorf("found the value %.40q of feature %d, expected a finite number", value, feature)
		}
		if err := l.add(feature, alpha*v); err != nil {
			return err
		}
	}
	return nil
}

// liblinear is a model file of LIBLINEAR for two classes or regression.
var liblinear = format{
	name: "liblinear", title: "LIBLINEAR (two classes, regression)",
	is: func(head []byte) bool { return bytes.HasPrefix(head, []byte("solver_type ")) }, read: readLIBLINEAR,
}

// readLIBLINEAR reads the keys of the head, then a weight per line. If the bias is 0 or more, the
// last weight is the factor of the bias. For two classes, a higher score means that the larger
// label is more likely.
func readLIBLINEAR(data []byte, _ ReadOptions) (_ *model.Model, _ []string, err error) {
	defer catch(&err)
	keys := map[string]textLine{}
	var sum linear
	number, weights := 0, false
	for text := range strings.Lines(string(data)) {
		number++
		text = strings.TrimSpace(text)
		switch {
		case text == "":
		case weights:
			w, err := javaFloat(text, 64)
			if err != nil {
				return nil, nil, errorAt(number, "found %.40q, expected one finite weight a line: models of more than two classes give no score", text)
			}
			sum.weights = append(sum.weights, w)
		case text == "w":
			weights = true
		default:
			key, value, _ := strings.Cut(text, " ")
			if _, twice := keys[key]; twice {
				return nil, nil, errorAt(number, "found %.40q a second time", key)
			}
			keys[key] = textLine{number, strings.TrimSpace(value)}
		}
	}
	h := liblinearHead{keys, max(number, 1)}
	check(h.settle(&sum))
	flipped := must(h.flipped())
	var notes []string
	if flipped {
		for j := range sum.weights {
			sum.weights[j] = -sum.weights[j]
		}
		sum.constant = -sum.constant
		notes = append(notes, fmt.Sprintf("the labels are %s: scores are minus LIBLINEAR's decision values, which are for the first", keys["label"].text))
	}
	m, err := sum.model("liblinear", map[string]any{"solver": keys["solver_type"].text})
	if err != nil {
		return nil, nil, errorAt(h.end, "%w", err)
	}
	return m, notes, nil
}

// liblinearHead contains the keys before the weights.
type liblinearHead struct {
	keys map[string]textLine
	end  int // number of the last line
}

func (h liblinearHead) number(key string) (float64, int, error) {
	line, ok := h.keys[key]
	if !ok {
		return 0, 0, errorAt(h.end, "found no %q, expected it before the weights", key)
	}
	v, err := strconv.ParseFloat(line.text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, 0, errorAt(line.number, "found %.40q as %s, expected a finite number", line.text, key)
	}
	return v, line.number, nil
}

// settle checks the number of weights. It removes the last weight, which is the factor of the bias,
// and sets the constant to the bias times this weight.
func (h liblinearHead) settle(sum *linear) (err error) {
	defer catch(&err)
	if rho, ok := h.keys["rho"]; ok {
		return errorAt(rho.number, "found a one-class model, expected one of two classes or of a regression")
	}
	classes, line, err := h.number("nr_class")
	if err == nil && classes > 2 {
		err = errorAt(line, "found %v classes, expected 2: models of more give no score", classes)
	}
	if err != nil {
		return err
	}
	features, line, err := h.number("nr_feature")
	if err == nil && !(features >= 1 && features <= mostFeatures) {
		err = errorAt(line, "found %v features, expected 1 to %d", features, mostFeatures)
	}
	if err != nil {
		return err
	}
	bias, _ := must2(h.number("bias"))
	want := int(features)
	if bias >= 0 {
		want++
	}
	if len(sum.weights) != want {
		return errorAt(h.end, "found %d weights, expected %d for %v features and the bias %v", len(sum.weights), want, features, bias)
	}
	if bias >= 0 {
		sum.constant = bias * sum.weights[want-1]
		sum.weights = sum.weights[:want-1]
	}
	return nil
}

// flipped reports whether a higher decision value means that the smaller label is more likely.
func (h liblinearHead) flipped() (bool, error) {
	line, ok := h.keys["label"]
	if !ok {
		return false, nil // a regression
	}
	var labels []int
	for _, text := range strings.Fields(line.text) {
		v, err := strconv.Atoi(text)
		if err != nil {
			return false, errorAt(line.number, "found the label %.40q, expected a whole number", text)
		}
		labels = append(labels, v)
	}
	if classes, _, err := h.number("nr_class"); err != nil || float64(len(labels)) != classes {
		return false, cmp.Or(err, errorAt(line.number, "found %d labels, expected %v, as nr_class says", len(labels), classes))
	}
	return len(labels) == 2 && labels[0] < labels[1], nil
}

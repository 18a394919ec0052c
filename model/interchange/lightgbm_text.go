package interchange

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"
)

// keyed is a block of lines KEY=VALUE.
type keyed struct {
	line   int // of its beginning
	values map[string]keyedValue
}

type keyedValue struct {
	text string
	line int
}

// lgbmBlocks divides a file into its header and trees.
func lgbmBlocks(data []byte) (header *keyed, trees []*keyed, err error) {
	header = &keyed{1, map[string]keyedValue{}}
	block, line, ended := header, 0, false
	for text := range strings.Lines(string(data)) {
		line++
		text = strings.TrimRight(text, "\r\n")
		switch {
		case text == "end of trees" || strings.HasPrefix(text, "feature importances") || strings.HasPrefix(text, "feature_importances"):
			ended = true
		case strings.HasPrefix(text, "Tree="):
			if number := strings.TrimPrefix(text, "Tree="); number != strconv.Itoa(len(trees)) {
				return nil, nil, errorAt(line, "found Tree=%.20s, expected Tree=%d: the file is not whole", number, len(trees))
			}
			block = &keyed{line, map[string]keyedValue{}}
			trees = append(trees, block)
			continue
		case text == "":
			continue
		}
		if ended {
			break
		}
		key, value, _ := strings.Cut(text, "=")
		if _, ok := block.values[key]; ok {
			return nil, nil, errorAt(line, "found %s a second time, expected it once", key)
		}
		block.values[key] = keyedValue{value, line}
	}
	if !ended {
		return nil, nil, errorAt(line, `found no line "end of trees": the file is not whole`)
	}
	if _, after, ok := bytes.Cut(data, []byte("\nparameters:")); ok && !bytes.Contains(after, []byte("\nend of parameters")) {
		// Categories of a data frame come after these.
		return nil, nil, errorAt(1+bytes.Count(data, []byte("\n")), `found no line "end of parameters": the file is not whole`)
	}
	if sizes, ok := header.values["tree_sizes"]; ok {
		if n := len(strings.Fields(sizes.text)); n != len(trees) {
			return nil, nil, errorAt(sizes.line, "found the sizes of %d trees, expected those of %d: the file is not whole", n, len(trees))
		}
	}
	return header, trees, nil
}

// errorOf makes an error about the line of a key, or of the block if there is none.
func (b *keyed) errorOf(key, text string, args ...any) error {
	line := b.line
	if v, ok := b.values[key]; ok {
		line = v.line
	}
	return errorAt(line, text, args...)
}

// integer returns the whole number of a key, otherwise where there is none.
func (b *keyed) integer(key string, otherwise int) (int, error) {
	v, ok := b.values[key]
	if !ok {
		return otherwise, nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(v.text))
	if err != nil {
		return 0, errorAt(v.line, "found %s=%.40s, expected a whole number", key, v.text)
	}
	return n, nil
}

// listOf returns the numbers of a key, which must be n.
func listOf[T any](b *keyed, key string, n int, parse func(string) (T, error)) ([]T, error) {
	v, ok := b.values[key]
	words := strings.Fields(v.text)
	if !ok || len(words) != n {
		return nil, b.errorOf(key, "found %d numbers of %s, expected %d", len(words), key, n)
	}
	list := make([]T, n)
	for i, w := range words {
		x, err := parse(w)
		if err != nil {
			return nil, errorAt(v.line, "found %.40q as number %d of %s, expected %s", w, i+1, key, kindOf(list))
		}
		list[i] = x
	}
	return list, nil
}

func kindOf[T any](list []T) string {
	if _, ok := any(list).([]float64); ok {
		return "a number"
	}
	return "a whole number"
}

// parseReal reads a number that may be infinite, but not NaN.
func parseReal(word string) (float64, error) {
	x, err := strconv.ParseFloat(word, 64)
	if errors.Is(err, strconv.ErrRange) {
		err = nil // infinite, as LightGBM reads it
	}
	if err == nil && math.IsNaN(x) {
		err = strconv.ErrSyntax
	}
	return x, err
}

func parseWord(word string) (uint32, error) {
	x, err := strconv.ParseUint(word, 10, 32)
	return uint32(x), err
}

package interchange

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/strictjson"
)

// lgbmFrame sets the categories of a model that learned from a data frame of pandas. LightGBM puts
// the places of values in the lists that it keeps behind the trees in place of the values. There is
// a list for each column of pandas' type category, in the order of the columns. The file does not
// say which these are, but which columns LightGBM divided by categories; an ordered column is none
// of them.
func (e *ensemble) lgbmFrame(data []byte, infos []string) error {
	const key = "\npandas_categorical:"
	at := bytes.LastIndex(data, []byte(key))
	if at < 0 {
		return nil
	}
	line := 2 + bytes.Count(data[:at], []byte("\n"))
	text, _, _ := bytes.Cut(data[at+len(key):], []byte("\n"))
	if text = bytes.TrimSpace(text); len(text) == 0 || string(text) == "null" || string(text) == "[]" {
		return nil
	}
	if err := strictjson.Check(text); err != nil {
		return errorAt(line, "found what is not JSON as pandas_categorical, expected the lists of categories: %w", err)
	}
	lists, err := elementsOf(strictjson.Whole(text), "pandas_categorical")
	if err != nil {
		return errorAt(line, "%w", err)
	}
	sets := make([]*dataset.Categories, len(lists))
	for k, v := range lists {
		if sets[k], err = readCategories(v); err != nil {
			return errorAt(line, "list %d of pandas_categorical: %w", k+1, err)
		}
	}
	if len(infos) != e.features {
		return errorAt(line, "found pandas_categorical without feature_infos, expected these to say which columns have categories")
	}
	places, ok := placeLists(sets, infos, lgbmDeclared(data))
	if !ok {
		return errorAt(line, "found %d lists of categories in pandas_categorical that do not tell their columns, expected one for each column of categories (with pandas_categorical:null data have the codes)", len(sets))
	}
	e.categories = make([]*dataset.Categories, e.features)
	for k, column := range places {
		e.categories[column] = sets[k]
	}
	return nil
}

var lgbmCategoricalLine = regexp.MustCompile(`(?m)^\[categorical_feature: ([0-9,]*)\]\r?$`)

// lgbmDeclared returns the columns that the parameters in a file call categorical.
func lgbmDeclared(data []byte) map[int]bool {
	found := lgbmCategoricalLine.FindSubmatch(data)
	if found == nil {
		return nil
	}
	declared := make(map[int]bool)
	for word := range strings.SplitSeq(string(found[1]), ",") {
		if column, err := strconv.Atoi(word); err == nil {
			declared[column] = true
		}
	}
	return declared
}

// placeLists returns the column of each list of categories: in ascending order, with a column for
// each list that its info allows, and all columns that have categories among them. ok is false
// unless there is one way to do that. Where LightGBM was told which columns have categories, these may be more.
func placeLists(sets []*dataset.Categories, infos []string, declared map[int]bool) (places []int, ok bool) {
	needed := make([]bool, len(infos))
	for c, info := range infos {
		needed[c] = declared[c] || info != "none" && !strings.HasPrefix(info, "[")
	}
	fits := func(k, c int) bool {
		return infoAllows(infos[c], len(sets[k].Texts)+len(sets[k].Numbers))
	}
	if len(sets)*len(infos) > mostPlaces {
		return nil, false
	}
	if places, ok = placeOnce(len(sets), needed, fits); ok {
		return places, true
	}
	return placeOnce(len(sets), make([]bool, len(infos)), fits)
}

// mostPlaces bounds the memory for the places of lists among columns.
const mostPlaces = 1 << 26

// placeOnce returns the ascending columns of so many lists, each of which fits, with all that are
// needed among them, if there is exactly one way.
func placeOnce(lists int, needed []bool, fits func(list, column int) bool) (places []int, ok bool) {
	// ways[c][k] is in how many ways, 2 for more, lists from k on stand in columns from c on.
	columns := len(needed)
	ways := make([][]uint8, columns+1)
	ways[columns] = make([]uint8, lists+1)
	ways[columns][lists] = 1
	for c, n := range slices.Backward(needed) {
		ways[c] = make([]uint8, lists+1)
		for k := range ways[c] {
			if !n {
				ways[c][k] = ways[c+1][k]
			}
			if k < lists && fits(k, c) {
				ways[c][k] = min(2, ways[c][k]+ways[c+1][k+1])
			}
		}
	}
	if ways[0][0] != 1 {
		return nil, false
	}
	for c, k := 0, 0; k < lists; c++ {
		if fits(k, c) && ways[c+1][k+1] == 1 {
			places = append(places, c)
			k++
		}
	}
	return places, true
}

// infoAllows reports whether a column of that info may have held codes below n: categories, as in
// 3:1:-1:2, or the range of an ordered column, as in [0:3]; of "none" nothing is known.
func infoAllows(info string, n int) bool {
	if info == "none" {
		return true
	}
	least := -1 // a missing category
	if bounds, ok := strings.CutPrefix(info, "["); ok {
		info, least = strings.TrimSuffix(bounds, "]"), 0
	}
	for word := range strings.SplitSeq(info, ":") {
		if v, err := strconv.Atoi(word); err != nil || v < least || v >= n {
			return false
		}
	}
	return true
}

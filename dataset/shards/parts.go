package shards

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/dataset"
)

// partName matches the name of a part of a table. Spark, pyarrow, Dask, fastparquet and DuckDB write a prefix,
// a number and sometimes a suffix, which are the groups of the expression. polars writes eight hexadecimal
// digits.
var partName = regexp.MustCompile(`^(?:(part[-.]|data_|[0-9a-f]{32}-)([0-9]+)(-.*)?|[0-9a-f]{8})\.parquet$`)

// Parts returns the files of a folder that contains one Parquet table, in the order of their numbers. It
// returns nil for any other path. It ignores names that begin with a dot or an underscore.
func Parts(path string) ([]string, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, nil //nolint:nilerr // not a folder: opening path returns the error
	}
	var parts []string
	other := ""
	for _, e := range entries {
		switch name := e.Name(); {
		case partName.MatchString(name):
			parts = append(parts, filepath.Join(path, name))
		case name == "_temporary" || !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "_"):
			other = name
		}
	}
	if parts != nil && other != "" {
		expected := "parts of one table alone"
		if other == "_temporary" {
			expected = "a table that is written to its end"
		}
		return nil, &dataset.SyntaxError{File: path, Found: other + " among the parts of a Parquet table", Expected: expected}
	}
	slices.SortStableFunc(parts, byNumber)
	for i := 1; i < len(parts); i++ {
		if gapBetween(parts[i-1], parts[i]) {
			return nil, &dataset.SyntaxError{File: path, Found: fmt.Sprintf("no part between %s and %s", filepath.Base(parts[i-1]), filepath.Base(parts[i])), Expected: "all parts of a table"}
		}
	}
	return parts, nil
}

// gapBetween reports whether a part is missing between two parts. It returns false for names by Spark. Spark
// writes no empty parts, so its numbers may have gaps.
func gapBetween(a, b string) bool {
	x, y := partName.FindStringSubmatch(filepath.Base(a)), partName.FindStringSubmatch(filepath.Base(b))
	m, err := strconv.Atoi(x[2])
	n, failed := strconv.Atoi(y[2])
	return err == nil && failed == nil && x[1] == y[1] && x[3] == "" && y[3] == "" && n > m+1
}

// byNumber compares the names of parts by their prefix and then by their number. Numbers may lack leading
// zeros: part.10 comes after part.9.
func byNumber(a, b string) int {
	x, y := partName.FindStringSubmatch(filepath.Base(a)), partName.FindStringSubmatch(filepath.Base(b))
	m, n := strings.TrimLeft(x[2], "0"), strings.TrimLeft(y[2], "0")
	return cmp.Or(cmp.Compare(x[1], y[1]), cmp.Compare(len(m), len(n)), cmp.Compare(m, n), cmp.Compare(a, b))
}

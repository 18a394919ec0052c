package main

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// column is a column of the table: a time in milliseconds or microseconds, or a number without a unit.
type column struct {
	title string
	width int
	form  string
}

var columns = []column{
	{"requests/s", 10, "%.0f"}, {"p50", 10, "%.2f ms"}, {"p99", 10, "%.2f ms"}, {"server CPU", 11, "%.0f µs"}, {"client CPU", 11, "%.0f µs"},
	{"open loop", 10, "%.0f"}, {"p50", 9, "%.2f ms"}, {"p99", 9, "%.2f ms"}, {"p99.9", 9, "%.2f ms"}, {"late p99", 9, "%.2f ms"}, {"second p99", 10, "%.2f ms"}, {"failed", 7, "%.0f"},
}

// closedColumns is the number of columns of the closed loop, which come first.
const closedColumns = 5

// openP99 is the index of the column with the open loop's p99.
const openP99 = 7

// row is a line of the table. It has a value for each column, or NaN for a value that could not be
// measured.
type row struct {
	name   string
	values []float64
}

// in returns d in the given unit.
func in(d, unit time.Duration) float64 { return float64(d) / float64(unit) }

// header prints the titles of the columns.
func header() {
	fmt.Printf("%-8s", "")
	for i, c := range columns {
		fmt.Printf("%s %*s", divider(i), c.width, c.title)
	}
	fmt.Println()
}

// divider returns the separator before column i.
func divider(i int) string {
	if i == closedColumns {
		return " |"
	}
	return ""
}

func (r row) print() {
	fmt.Printf("%-8s", r.name)
	for i, c := range columns {
		text := "-"
		if v := r.values[i]; !math.IsNaN(v) {
			text = fmt.Sprintf(c.form, v)
		}
		fmt.Printf("%s %*s", divider(i), c.width, text)
	}
	fmt.Println()
}

// medians prints the median of each column over the rows of each name, and the range of the open
// loop's p99.
func medians(rows []row) {
	for len(rows) > 0 {
		name := rows[0].name
		var of []row
		rows = slices.DeleteFunc(slices.Clone(rows), func(r row) bool {
			if r.name == name {
				of = append(of, r)
			}
			return r.name == name
		})
		middle := row{name, make([]float64, len(columns))}
		var p99 []float64
		for i := range columns {
			var values []float64
			for _, r := range of {
				if v := r.values[i]; !math.IsNaN(v) {
					values = append(values, v)
				}
			}
			slices.Sort(values)
			middle.values[i] = median(values)
			if i == openP99 {
				p99 = values
			}
		}
		middle.print()
		if len(p99) > 0 {
			fmt.Printf("%-8s p99 of the open loop from %.2f to %.2f ms\n", "", p99[0], p99[len(p99)-1])
		}
	}
}

// median returns the median of sorted values, or NaN if there are none.
func median(sorted []float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

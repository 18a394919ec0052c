package measure

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Column is a measure of which only the name is known, because another program computed its values.
type Column string

// Name implements Measure.
func (c Column) Name() string { return string(c) }

// Value implements Measure. A Column computes nothing, so ok is false.
func (Column) Value([]float64) (value float64, ok bool) { return math.NaN(), false }

// ReadCSV reads what [Result.WriteCSV] wrote, such as the files queries.csv of tune. It reads the
// columns of the given measures by their names and ignores the columns of other measures. The file has
// no conventions, thresholds and tie policy, so the caller states them: measures has the measures with
// their thresholds, and ties is the policy of the values. The values have the same bits as before.
//
// If measures is nil, ReadCSV reads all columns. The measure of each is a [Column].
//
// The file has no tie-neutral values. TieNeutral returns NaN unless ties is TiesAverage, and TieStats
// counts no pairs.
//
// ReadCSV returns an error with the number of the line for a missing column, a query that occurs twice,
// or a cell that is not a number.
func ReadCSV(r io.Reader, measures []Measure, ties TiePolicy) (*Result, error) {
	in := csv.NewReader(r)
	in.ReuseRecord = true
	header, err := in.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("found no lines, expected a header that begins with query")
	}
	if err != nil {
		return nil, err
	}
	if measures == nil {
		measures = namedIn(header)
	}
	columns, weighted, err := columnsOf(header, measures)
	if err != nil {
		return nil, fmt.Errorf("line 1: %w", err)
	}
	result := newResult(nil, measures, slices.Clone(measures), ties)
	first := make(map[string]int) // line of each query
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		line, _ := in.FieldPos(0)
		id := strings.Clone(record[0])
		if other, ok := first[id]; ok {
			return nil, fmt.Errorf("line %d: found query %s, which is in line %d too, expected each query once", line, id, other)
		}
		first[id] = line
		if err := result.addLine(id, record, columns, weighted); err != nil {
			return nil, fmt.Errorf("line %d, query %s: %w", line, id, err)
		}
	}
	return result, nil
}

// hasWeights reports whether the second column has the weights of queries.
func hasWeights(header []string) bool { return len(header) > 1 && header[1] == "weight" }

// namedIn returns the measures that a header names.
func namedIn(header []string) []Measure {
	first := 1
	if hasWeights(header) {
		first = 2
	}
	measures := make([]Measure, len(header)-first)
	for i, name := range header[first:] {
		measures[i] = Column(strings.Clone(name))
	}
	return measures
}

// columnsOf returns the column of each measure, and whether the second column has weights.
func columnsOf(header []string, measures []Measure) (columns []int, weighted bool, err error) {
	if header[0] != "query" {
		return nil, false, fmt.Errorf("found %q, expected the column query", header[0])
	}
	weighted = hasWeights(header)
	seen := make(map[string]bool)
	for i, m := range measures {
		switch {
		case m == nil:
			return nil, false, fmt.Errorf("measure %d of %d is nil, expected one", i+1, len(measures))
		case seen[m.Name()]:
			return nil, false, fmt.Errorf("measure %s is given twice", m.Name())
		}
		column := slices.Index(header, m.Name())
		if column < 1 {
			return nil, false, fmt.Errorf("found the columns %s, expected one named %s", strings.Join(header, ", "), m.Name())
		}
		columns, seen[m.Name()] = append(columns, column), true
	}
	return columns, weighted, nil
}

// addLine adds a query, its weight and its values.
func (r *Result) addLine(id string, record []string, columns []int, weighted bool) error {
	if weighted {
		w, err := strconv.ParseFloat(record[1], 64)
		if err != nil || !(w >= 0) || math.IsInf(w, 1) {
			return fmt.Errorf("found the weight %q, expected a finite number of at least 0", record[1])
		}
		r.weights = append(r.weights, w)
	}
	r.queries, r.pairs = append(r.queries, id), append(r.pairs, pairCount{})
	for m, column := range columns {
		value := math.NaN()
		if cell := record[column]; cell != "" {
			var err error
			if value, err = strconv.ParseFloat(cell, 64); err != nil || value-value != 0 {
				return fmt.Errorf("found %q as %s, expected a finite number, or nothing for a query that does not count", cell, r.measures[m].Name())
			}
		}
		neutral := math.NaN()
		if r.ties == TiesAverage {
			neutral = value
		}
		r.values[m], r.neutral[m] = append(r.values[m], value), append(r.neutral[m], neutral)
	}
	return nil
}

package app

import (
	"fmt"
	"math"
	"strconv"

	"github.com/spf13/pflag"
)

// listFlag is the value of a repeatable flag. Help shows the form of a value after the flag's name,
// so the description need not repeat it.
type listFlag struct {
	pflag.Value
	pflag.SliceValue
	form string
}

// addList adds a repeatable flag whose values have a form such as NAME=FILE.
func addList(fl *pflag.FlagSet, values *[]string, name, form, usage string) {
	fl.StringArrayVar(values, name, nil, usage)
	f := fl.Lookup(name)
	f.Value = listFlag{f.Value, f.Value.(pflag.SliceValue), form} //nolint:forcetypeassert // a stringArray is one
	f.DefValue = ""
}

// Type implements pflag.Value.
func (f listFlag) Type() string { return f.form }

// The flags below accept numbers within a range. For other values, flagError prints the range.

const mostOf = math.MaxInt32

type wholeFlag struct {
	value *int
	least int
}

// addWhole adds a flag for an int from least to mostOf. The default may be outside this range.
func addWhole(fl *pflag.FlagSet, value *int, name string, standard, least int, usage string) {
	*value = standard
	fl.Var(&wholeFlag{value, least}, name, usage)
}

func (f *wholeFlag) Set(text string) error {
	v, err := strconv.Atoi(text)
	if err != nil || v < f.least || v > mostOf {
		return fmt.Errorf("expected a whole number from %d to %d", f.least, mostOf)
	}
	*f.value = v
	return nil
}

func (f *wholeFlag) String() string {
	if f.value == nil {
		return "0"
	}
	return strconv.Itoa(*f.value)
}

// Type implements pflag.Value.
func (*wholeFlag) Type() string { return "int" }

// realFlag is the value of a flag for a finite float64 from least to most. If open is set, least is
// excluded.
type realFlag struct {
	value       *float64
	least, most float64
	open        bool
}

// addReal adds a flag for a number from 0 to most.
func addReal(fl *pflag.FlagSet, value *float64, name string, standard, most float64, usage string) {
	*value = standard
	fl.Var(&realFlag{value: value, most: most}, name, usage)
}

// addPositive adds a flag for a positive number up to most.
func addPositive(fl *pflag.FlagSet, value *float64, name string, standard, most float64, usage string) {
	*value = standard
	fl.Var(&realFlag{value: value, most: most, open: true}, name, usage)
}

func (f *realFlag) Set(text string) error {
	v, err := strconv.ParseFloat(text, 64)
	if err == nil && v >= f.least && v <= f.most && !(f.open && v == f.least) {
		*f.value = v
		return nil
	}
	if f.open {
		return fmt.Errorf("expected a number above %g, %g at most", f.least, f.most)
	}
	return fmt.Errorf("expected a number from %g to %g", f.least, f.most)
}

func (f *realFlag) String() string {
	if f.value == nil {
		return "0"
	}
	return strconv.FormatFloat(*f.value, 'g', -1, 64)
}

// Type implements pflag.Value.
func (*realFlag) Type() string { return "float" }

package dataset

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Categories are the categories of a feature. A model sees their codes 0, 1, … in the order of Texts or
// Numbers. Data contain numbers as they are. Readers replace a text by its code or, if all Texts are numbers,
// by its number.
//
// Without Texts and Numbers any value is accepted, because the model does not use the feature. A text is then
// 0.
type Categories struct {
	Texts   []string  // the categories if they are texts, otherwise nil
	Numbers []float64 // the categories if they are numbers, otherwise nil

	texts   map[string]float32  // value in the data for each text
	numbers map[float32]float32 // code of each number
}

// maxCategories limits codes to whole numbers that float32 represents exactly.
const maxCategories = 1 << 24

// NewTextCategories returns the categories of a feature whose values are texts. It is an error if a text
// occurs twice.
func NewTextCategories(values []string) (*Categories, error) {
	c := &Categories{Texts: values, texts: make(map[string]float32, len(values))}
	for code, v := range values {
		if _, twice := c.texts[v]; twice {
			return nil, fmt.Errorf("found the category %q twice, expected different ones", v)
		}
		c.texts[v] = float32(code)
	}
	if !slices.ContainsFunc(values, func(v string) bool { return !plainNumber.MatchString(v) }) {
		c.readNumbers()
	}
	return c, checkCategories(len(values))
}

// plainNumber matches a number in JSON.
var plainNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// readNumbers sets c.texts and c.numbers by the numbers that the texts represent. It does nothing if float32
// does not distinguish these numbers.
func (c *Categories) readNumbers() {
	numbers := make(map[float32]float32, len(c.Texts))
	for code, text := range c.Texts {
		v, err := strconv.ParseFloat(text, 32)
		if _, twice := numbers[float32(v)]; twice || err != nil {
			return
		}
		numbers[float32(v)] = float32(code)
	}
	c.numbers = numbers
	for text := range c.texts {
		v, _ := strconv.ParseFloat(text, 32)
		c.texts[text] = float32(v)
	}
}

// NewNumberCategories returns the categories of a feature whose values are numbers. Numbers that are equal as
// float32, the type of features, are an error.
func NewNumberCategories(values []float64) (*Categories, error) {
	c := &Categories{Numbers: values, numbers: make(map[float32]float32, len(values))}
	for code, v := range values {
		key := float32(v)
		if !(math.Abs(float64(key)) <= math.MaxFloat32) {
			return nil, fmt.Errorf("found the category %v, expected a finite value within the range of float32", v)
		}
		if other, twice := c.numbers[key]; twice {
			return nil, fmt.Errorf("found the categories %s and %s, expected numbers that float32 tells apart", whole(values[int(other)]), whole(v))
		}
		c.numbers[key] = float32(code)
	}
	return c, checkCategories(len(values))
}

// NewUnusedCategories returns the categories of a feature that the model does not use.
func NewUnusedCategories() *Categories { return &Categories{} }

func checkCategories(n int) error {
	switch {
	case n == 0:
		return errors.New("found no categories, expected at least one")
	case n > maxCategories:
		return fmt.Errorf("found %d categories, expected at most %d", n, maxCategories)
	}
	return nil
}

// TextValue returns the feature value that stands for a text: its code, or its number if all texts are numbers.
// ok is false for other texts. For unused categories, every text gives 0 and true.
func (c *Categories) TextValue(text []byte) (v float32, ok bool) {
	if c.texts == nil {
		return 0, c.numbers == nil
	}
	v, ok = c.texts[string(text)]
	return v, ok
}

// Code returns the code of a value in the data. The value is a number among Numbers or Texts, or a code of
// Texts that are not all numbers. ok is false for other values. For NaN, a missing value, Code returns NaN.
func (c *Categories) Code(v float32) (code float32, ok bool) {
	switch {
	case v != v || c.texts == nil && c.numbers == nil:
		return v, true
	case c.numbers == nil:
		return v, v >= 0 && v < float32(len(c.texts)) && v == float32(int(v))
	}
	code, ok = c.numbers[v]
	return code, ok
}

// Codes reports whether values in the data may equal their codes. The categories are then texts that are not
// all numbers, or the numbers 0, 1, … in this order.
func (c *Categories) Codes() bool {
	for v, code := range c.numbers {
		if v != code {
			return false
		}
	}
	return true
}

// Unused reports whether any value is accepted because the model does not use the feature.
func (c *Categories) Unused() bool { return c.texts == nil && c.numbers == nil }

// Equal reports whether both have the same categories in the same order.
func (c *Categories) Equal(o *Categories) bool {
	return c == o || c != nil && o != nil && slices.Equal(c.Texts, o.Texts) && slices.Equal(c.Numbers, o.Numbers)
}

// String lists the first categories for errors and notes.
func (c *Categories) String() string {
	const most = 6
	var list []string
	for i := range min(most, len(c.Texts)) {
		list = append(list, strconv.Quote(c.Texts[i]))
	}
	for i := range min(most, len(c.Numbers)) {
		list = append(list, whole(c.Numbers[i]))
	}
	text := strings.Join(list, ", ")
	if more := len(c.Texts) + len(c.Numbers) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Expected returns the values that the categories allow, for errors.
func (c *Categories) Expected() string {
	if c.numbers != nil {
		return "one of the model's categories: " + c.String()
	}
	return fmt.Sprintf("one of the model's categories: %s, or its code, a number from 0 to %d", c, len(c.Texts)-1)
}

package interchange

import (
	"fmt"
	"strconv"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/strictjson"
)

// readCategories reads the categories of a feature from a JSON list. They are texts, numbers, or false
// and true, which become 0 and 1.
func readCategories(v strictjson.Value) (_ *dataset.Categories, err error) {
	defer catch(&err)
	elements := must(elementsOf(v, "the categories of a feature"))
	var texts []string
	var numbers []float64
	for _, e := range elements {
		switch {
		case e.Text[0] == '"':
			text := must(textOf(e, "a category"))
			texts = append(texts, text)
		case string(e.Text) == "true":
			numbers = append(numbers, 1)
		case string(e.Text) == "false":
			numbers = append(numbers, 0)
		default:
			number := must(numberOf(e, "a category"))
			numbers = append(numbers, number)
		}
	}
	if len(texts) > 0 && len(numbers) > 0 {
		return nil, wrong(v, "found the categories %.60s, expected texts alone or numbers alone", v.Text)
	}
	if texts != nil {
		c, err := dataset.NewTextCategories(texts)
		return c, inCategories(v, err)
	}
	c, err := dataset.NewNumberCategories(numbers)
	return c, inCategories(v, err)
}

// inCategories adds the position of v to err, which may be nil.
func inCategories(v strictjson.Value, err error) error {
	if err != nil {
		return wrong(v, "%w", err)
	}
	return nil
}

// categoryNotes returns notes on the features whose categories are numbers other than codes, and on
// features that no tree uses.
func (e *ensemble) categoryNotes() (notes []string) {
	name := func(j int) string {
		if e.names != nil {
			return e.names[j]
		}
		return strconv.Itoa(j + 1)
	}
	var numbers, unused []int
	for j, c := range e.categories {
		switch {
		case c == nil:
		case c.Unused():
			unused = append(unused, j)
		case c.Codes():
		default:
			numbers = append(numbers, j)
		}
	}
	if len(numbers) > 0 {
		notes = append(notes, fmt.Sprintf("data have the categories of %s as the numbers that they are, such as %s, not as their codes (pandas_categorical, cats)", columnList(numbers, name), e.categories[numbers[0]]))
	}
	if len(unused) > 0 {
		notes = append(notes, fmt.Sprintf("no tree uses %s, whose values are not looked at", columnList(unused, name)))
	}
	return notes
}

// listCodes returns a note for each feature with categories. The note states the code of each category.
func listCodes(categories []*dataset.Categories, names []string) (notes []string) {
	for j, c := range categories {
		if c == nil || c.Unused() {
			continue
		}
		name := strconv.Itoa(j + 1)
		if names != nil {
			name = names[j]
		}
		notes = append(notes, fmt.Sprintf("the file takes the codes 0, 1, … of the categories of feature %s, in the order of the model: %s", name, c))
	}
	return notes
}

package interchange

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// readRankLibTrees reads LambdaMART, MART and Random Forests. A score is Σ weight·output in float32.
// The score of a forest is the mean over its ensembles.
func readRankLibTrees(t *rankLibText) (_ *model.Model, err error) {
	defer catch(&err)
	r := rankLibXML{forest: t.ranker == "random forests"}
	check(r.run(t.lines))
	if t.bags > 0 && r.ensembles != t.bags {
		return nil, errorAt(t.lines[0].number, "found %d ensembles, expected %d, as the number of bags says: the file is not whole", r.ensembles, t.bags)
	}
	if t.trees > 0 && len(r.trees) > t.trees*r.ensembles {
		return nil, errorAt(t.lines[0].number, "found %d trees, expected at most %d, as the number of trees says", len(r.trees), t.trees*r.ensembles)
	}
	e := &ensemble{features: max(r.features, t.features, 1), trees: r.trees}
	for _, t := range e.trees {
		for i := range t.values {
			t.values[i] /= float64(r.ensembles)
		}
	}
	if len(e.trees) == 0 {
		return nil, errorAt(t.lines[0].number, "found no trees, expected at least one")
	}
	check(e.foldFeatures(&model.Model{Missing: dataset.MissingZero}))
	m := must(e.model("ranklib", t.origin()))
	m.Missing = dataset.MissingZero
	return m, nil
}

// rankLibXML reads ensembles element by element. open contains the elements around the current
// position, with the innermost last.
type rankLibXML struct {
	forest    bool
	ensembles int
	features  int
	trees     []tree

	open   []rankLibElement
	weight float64 // of the current tree
	nodes  []scorer.TreeNode
	values []float64
	text   strings.Builder // text of the innermost element
}

// rankLibElement is an open XML element, with the number of its parts read so far. An element split
// becomes a node when its feature is read, or a leaf when its output is read. place is then the
// number of the node or leaf, in the encoding of TreeNode.Left.
type rankLibElement struct {
	name  string
	parts int
	place int
}

func (r *rankLibXML) run(lines []textLine) error {
	var b strings.Builder
	numbers := make([]int, 0, len(lines))
	for _, l := range lines {
		b.WriteString(l.text)
		b.WriteByte('\n')
		numbers = append(numbers, l.number)
	}
	d := xml.NewDecoder(strings.NewReader(b.String()))
	for {
		token, err := d.Token()
		at, _ := d.InputPos()
		line := numbers[min(at, len(numbers))-1]
		switch {
		case errors.Is(err, io.EOF):
			if r.ensembles == 0 {
				return errorAt(line, "found no <ensemble>, expected one")
			}
			return nil
		case err != nil:
			if syntax, ok := errors.AsType[*xml.SyntaxError](err); ok {
				return errorAt(line, "found what is not XML (%s), expected trees", syntax.Msg)
			}
			return errorAt(line, "%w", err)
		}
		if err := r.take(token); err != nil {
			return errorAt(line, "%w", err)
		}
	}
}

func (r *rankLibXML) take(token xml.Token) error {
	switch t := token.(type) {
	case xml.StartElement:
		return r.begin(t)
	case xml.EndElement:
		return r.end()
	case xml.CharData:
		text := strings.TrimSpace(string(t))
		if text == "" {
			return nil
		}
		if name := r.innermost().name; name != "feature" && name != "threshold" && name != "output" {
			return fmt.Errorf("found the text %.40q within <%s>, expected elements", text, name)
		}
		r.text.WriteString(text)
	case xml.Comment:
	default:
		return errors.New("found an instruction of XML, expected elements alone")
	}
	return nil
}

// outside represents the file outside all elements.
var outside = rankLibElement{name: "file"}

func (r *rankLibXML) innermost() *rankLibElement {
	if len(r.open) == 0 {
		return &outside
	}
	return &r.open[len(r.open)-1]
}

// begin processes the start of an element. It returns an error if the element is not allowed in the
// current position.
func (r *rankLibXML) begin(e xml.StartElement) error {
	parent, name := r.innermost(), e.Name.Local
	switch {
	case name == "ensemble" && parent.name == "file":
		if r.ensembles++; r.ensembles > 1 && !r.forest {
			return errors.New("found a second <ensemble>, expected one: only Random Forests have several")
		}
	case name == "tree" && parent.name == "ensemble":
		return r.beginTree(e)
	case name == "split" && parent.name == "tree" && parent.parts == 0,
		(name == "feature" || name == "output") && parent.name == "split" && parent.parts == 0,
		name == "threshold" && parent.name == "split" && parent.parts == 1:
	case name == "split" && parent.name == "split" && (parent.parts == 2 || parent.parts == 3):
		want := [...]string{"left", "right"}[parent.parts-2]
		if pos := attribute(e, "pos"); pos != "" && pos != want {
			return fmt.Errorf("found the %s side of a split, expected the %s one", pos, want)
		}
	default:
		return fmt.Errorf("found <%s> as part %d of <%s>, expected ensemble > tree > split > feature, threshold, split, split or output", name, parent.parts+1, parent.name)
	}
	r.open = append(r.open, rankLibElement{name: name})
	return nil
}

func (r *rankLibXML) beginTree(e xml.StartElement) error {
	weight, err := javaFloat(attribute(e, "weight"), 32)
	if err != nil {
		return fmt.Errorf("found the weight %.40q of a tree, expected a finite number", attribute(e, "weight"))
	}
	r.weight, r.nodes, r.values = weight, nil, nil
	r.open = append(r.open, rankLibElement{name: "tree"})
	return nil
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// end processes the end of the innermost element and stores its content in the element around it.
func (r *rankLibXML) end() (err error) {
	defer catch(&err)
	own := *r.innermost()
	r.open = r.open[:len(r.open)-1]
	parent := r.innermost()
	text := r.text.String()
	r.text.Reset()
	parent.parts++
	switch own.name {
	case "feature":
		feature := must(featureNumber(text))
		parent.place = len(r.nodes)
		r.features = max(r.features, feature)
		r.nodes = append(r.nodes, scorer.TreeNode{Feature: feature - 1})
	case "threshold":
		v, err := javaFloat(text, 32)
		if err != nil {
			return fmt.Errorf("found the threshold %.40q, expected a finite number", text)
		}
		r.nodes[parent.place].Threshold = float32(v)
	case "output":
		v, err := javaFloat(text, 32)
		if err != nil {
			return fmt.Errorf("found the output %.40q, expected a finite number", text)
		}
		r.values = append(r.values, float64(v*r.weight))
		parent.place, parent.parts = -len(r.values), 4
	case "split":
		return r.endSplit(own, parent)
	case "tree":
		if own.parts != 1 {
			return errors.New("found a tree without a split, expected one")
		}
		r.trees = append(r.trees, tree{r.nodes, r.values})
	}
	return nil
}

func (r *rankLibXML) endSplit(own rankLibElement, parent *rankLibElement) error {
	if own.parts != 4 {
		return fmt.Errorf("found a split of %d parts, expected feature, threshold and two splits, or an output", own.parts)
	}
	switch {
	case parent.name == "split" && parent.parts == 3:
		r.nodes[parent.place].Left = own.place
	case parent.name == "split":
		r.nodes[parent.place].Right = own.place
	}
	return nil
}

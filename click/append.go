package click

import (
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"
)

// AppendJSON appends a page as a line of JSON.
func AppendJSON(dst []byte, p *Page) []byte {
	dst = append(dst, '{')
	text := func(name, value string) {
		if value != "" {
			dst = appendString(appendName(dst, name), value)
		}
	}
	text("page", p.ID)
	if !p.Time.IsZero() {
		dst = append(p.Time.UTC().AppendFormat(append(appendName(dst, "time"), '"'), time.RFC3339Nano), '"')
	}
	text("user", p.User)
	text("query", p.Query)
	text("experiment", p.Experiment)
	text("arm", p.Arm)
	text("version", p.Version)
	dst = appendStrings(appendName(dst, "docs"), p.Docs)
	if p.Slots != nil {
		dst = appendStrings(appendName(dst, "slots"), p.Slots)
	}
	if p.Clicks != nil {
		dst = appendInts(appendName(dst, "clicks"), p.Clicks, 0)
	}
	if p.Order != nil {
		dst = appendInts(appendName(dst, "order"), p.Order, 1)
	}
	if p.Team != nil {
		dst = appendInts(appendName(dst, "team"), p.Team, 0)
	}
	if p.Softmax != nil {
		dst = appendSoftmax(appendName(dst, "softmax"), p.Softmax)
	}
	if p.Balanced[0] != nil {
		dst = appendBalanced(appendName(dst, "balanced"), p.Balanced)
	}
	if p.Propensity != 0 {
		dst = appendFloat(appendName(dst, "propensity"), p.Propensity)
	}
	if p.Propensities != nil {
		dst = append(appendName(dst, "propensities"), '[')
		for i, v := range p.Propensities {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendFloat(dst, v)
		}
		dst = append(dst, ']')
	}
	if p.Swapped != [2]int{} {
		dst = appendInts(appendName(dst, "swapped"), p.Swapped[:], 1)
		dst = strconv.AppendBool(appendName(dst, "swap"), p.Swap)
	}
	if p.Pairs != 0 {
		dst = strconv.AppendInt(appendName(dst, "pairs"), int64(p.Pairs), 10)
		dst = appendInts(appendName(dst, "exchanged"), p.Exchanged, 1)
	}
	if p.Shuffled != 0 {
		dst = strconv.AppendInt(appendName(dst, "shuffled"), int64(p.Shuffled), 10)
	}
	if p.Candidates != nil {
		dst = appendStrings(appendName(dst, "candidates"), p.Candidates)
	}
	if p.Orders != nil {
		dst = appendOrders(appendName(dst, "orders"), p.Orders)
	}
	if p.Weight != 1 {
		dst = appendFloat(appendName(dst, "weight"), p.Weight)
	}
	return append(dst, "}\n"...)
}

// appendName appends the name of a member, after a comma unless it is the first.
func appendName(dst []byte, name string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(append(append(dst, '"'), name...), `":`...)
}

// appendString appends a string. Only unusual strings need encoding/json.
func appendString(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			text, err := json.Marshal(s)
			if err != nil {
				panic(err) // a string can always be encoded
			}
			return append(dst, text...)
		}
	}
	return append(append(append(dst, '"'), s...), '"')
}

func appendStrings(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, s)
	}
	return append(dst, ']')
}

// appendInts appends numbers plus an offset.
func appendInts(dst []byte, list []int, offset int) []byte {
	dst = append(dst, '[')
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, int64(v+offset), 10)
	}
	return append(dst, ']')
}

func appendOrders(dst []byte, orders []Order) []byte {
	dst = append(dst, '[')
	for i, o := range orders {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendFloat(append(appendStrings(append(dst, '['), o.Docs), ','), o.Probability), ']')
	}
	return append(dst, ']')
}

func appendSoftmax(dst []byte, softmax [][2]float64) []byte {
	dst = append(dst, '[')
	for i, v := range softmax {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendFloat(append(appendFloat(append(dst, '['), v[0]), ','), v[1]), ']')
	}
	return append(dst, ']')
}

func appendBalanced(dst []byte, rankings [2][]string) []byte {
	return append(appendStrings(append(appendStrings(append(dst, '['), rankings[0]), ','), rankings[1]), ']')
}

func appendFloat(dst []byte, v float64) []byte { return strconv.AppendFloat(dst, v, 'g', -1, 64) }

package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
)

var errDifferences = errors.New("found differences that end too soon")

// differences decodes numbers in the encoding DELTA_BINARY_PACKED. It returns them and the bytes after them.
// It is an error if there are more than most numbers.
func differences(text []byte, most int) (numbers []int64, rest []byte, err error) {
	var head [4]uint64 // numbers in a block, parts of a block, total of numbers, first number
	for i := range head {
		v, n := binary.Uvarint(text)
		if n <= 0 {
			return nil, nil, errDifferences
		}
		head[i], text = v, text[n:]
	}
	block, parts, all := head[0], head[1], head[2]
	if block == 0 || block > 1<<16 || parts == 0 || block%parts != 0 || block/parts%8 != 0 || all > uint64(most) {
		return nil, nil, fmt.Errorf("found %d differences in %d parts of blocks of %d, expected at most %d", all, parts, block, most)
	}
	if all == 0 {
		return nil, text, nil
	}
	d := decoder{last: zigzag(head[3]), left: int(all) - 1}
	d.numbers = append(d.numbers, d.last)
	for d.left > 0 {
		least, n := binary.Uvarint(text)
		if n <= 0 || uint64(len(text)-n) < parts {
			return nil, nil, errDifferences
		}
		widths := text[n : n+int(parts)]
		text = text[n+int(parts):]
		for _, width := range widths {
			if d.left == 0 {
				break
			}
			size := int(block/parts) / 8 * int(width)
			if width > 64 || size > len(text) {
				return nil, nil, errDifferences
			}
			d.part(text[:size], uint(width), int(block/parts), zigzag(least))
			text = text[size:]
		}
	}
	return d.numbers, text, nil
}

// decoder sums differences.
type decoder struct {
	numbers []int64
	last    int64
	left    int
}

// part decodes a part of a block: n differences, each reduced by least.
func (d *decoder) part(text []byte, width uint, n int, least int64) {
	for i := range uint(min(n, d.left)) {
		d.last += least + int64(bitsAt(text, i*width, width)) // may overflow, as in the encoder
		d.numbers = append(d.numbers, d.last)
	}
	d.left -= min(n, d.left)
}

// bitsAt returns the integer in the bits from index at to index at+width. width is at most 64.
func bitsAt(text []byte, at, width uint) (v uint64) {
	if width <= 56 && at>>3+8 <= uint(len(text)) {
		return binary.LittleEndian.Uint64(text[at>>3:]) >> (at & 7) & (1<<width - 1)
	}
	for have := uint(0); have < width; {
		shift := (at + have) & 7
		v |= uint64(text[(at+have)>>3]>>shift) << have
		have += 8 - shift
	}
	if width < 64 {
		v &= 1<<width - 1
	}
	return v
}

func zigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// differenceTexts decodes texts in the encoding DELTA_LENGTH_BYTE_ARRAY or, with shared, DELTA_BYTE_ARRAY. In
// the latter, a text may share its beginning with the text before. room counts the memory of the texts. It is
// an error if there are more than most texts.
func differenceTexts(text []byte, most int, shared bool, room func(n int64) error) (v values, err error) {
	var begin []int64
	if shared {
		if begin, text, err = differences(text, most); err != nil {
			return v, err
		}
	}
	lengths, text, err := differences(text, most)
	if err != nil {
		return v, err
	}
	if shared && len(begin) != len(lengths) {
		return v, fmt.Errorf("found %d beginnings of %d texts", len(begin), len(lengths))
	}
	sum, last := int64(0), int64(0)
	for i, n := range lengths {
		if n < 0 || n > int64(len(text)) || shared && (begin[i] < 0 || begin[i] > last) {
			return v, errDifferences
		}
		last = n
		if shared {
			last += begin[i]
		}
		if sum += last; sum > maxText {
			return v, errors.New("found texts of more than 4 GiB in a page")
		}
	}
	if err := room(sum); err != nil {
		return v, err
	}
	v.data, v.offsets = make([]byte, 0, sum), make([]uint32, 1, len(lengths)+1)
	before := 0
	for i, n := range lengths {
		if n > int64(len(text)) {
			return v, errDifferences
		}
		at := len(v.data)
		if shared {
			v.data = append(v.data, v.data[before:before+int(begin[i])]...)
		}
		v.data = append(v.data, text[:n]...)
		text, before = text[n:], at
		v.offsets = append(v.offsets, uint32(len(v.data)))
	}
	v.n = len(lengths)
	return v, nil
}

// maxText is the largest length of the text in a page in bytes.
const maxText = 1<<32 - 1

package parquet

import (
	"encoding/binary"
)

// Values in encodings that are seldom are turned into plain ones.

// plainBits returns at most n booleans that are encoded in runs, as bits.
func plainBits(text []byte, most int) ([]byte, error) {
	_, _, err := splitLevels(text) // their length stands before them, as before levels
	if err != nil {
		return nil, errRuns
	}
	runs := runs{text: text[4 : 4+binary.LittleEndian.Uint32(text)], bits: 1}
	plain := make([]byte, (most+7)/8)
	n := 0
	for n < most && len(runs.text) > 0 {
		if err := runs.next(); err != nil {
			return nil, err
		}
		for ; runs.left > 0 && n < most; n++ {
			bit := byte(runs.value)
			if runs.packed != nil {
				bit = runs.packed[runs.from>>3] >> (runs.from & 7) & 1
				runs.from++
			}
			plain[n/8] |= bit << (n % 8)
			runs.left--
		}
	}
	return plain[:(n+7)/8], nil
}

// plainDifferences returns at most n integers of the given width that are encoded as differences.
func plainDifferences(text []byte, most, width int) ([]byte, error) {
	numbers, _, err := differences(text, most)
	if err != nil {
		return nil, err
	}
	plain := make([]byte, 0, width*len(numbers))
	for _, v := range numbers {
		if width == 4 {
			plain = binary.LittleEndian.AppendUint32(plain, uint32(v))
		} else {
			plain = binary.LittleEndian.AppendUint64(plain, uint64(v))
		}
	}
	return plain, nil
}

// joinStreams returns values of a number of bytes that are stored as a stream of all first bytes, one of all
// second bytes, and so on.
func joinStreams(text []byte, width int) []byte {
	n := len(text) / width
	plain := make([]byte, n*width)
	for k := range width {
		stream := text[k*n : (k+1)*n]
		for i, b := range stream {
			plain[i*width+k] = b
		}
	}
	return plain
}

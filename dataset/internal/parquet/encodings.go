package parquet

import (
	"encoding/binary"
)

// Values in rare encodings are converted to plain values.

// plainBits decodes booleans in runs, and returns them as bits. most is the largest number of booleans to
// return.
func plainBits(text []byte, most int) ([]byte, error) {
	_, _, err := splitLevels(text) // their length precedes them, as it precedes levels
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

// plainDifferences decodes integers that are encoded as differences. width is their size in bytes, 4 or 8. It
// is an error if there are more than most integers.
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

// joinStreams decodes values of width bytes in the encoding BYTE_STREAM_SPLIT: a stream of all first bytes, a
// stream of all second bytes, and so on.
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

package compress

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
)

// zstandard returns a frame of a short text that has a window of 2^log bytes, by RFC 8878, section 3.1.1.
func zstandard(text string, log int) []byte {
	frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, byte(log-10) << 3}
	block := len(text)<<3 | 1 // raw, and the last
	return append(append(frame, byte(block), byte(block>>8), byte(block>>16)), text...)
}

// Claim: a window above 8 MiB takes a quarter of the memory at most, with one and a half times its size, and one that is larger, or
// larger than 128 MiB, is refused by its name and not taken for damage; the limit is to blame only where a higher one helps.
func TestWindowsFitTheMemory(t *testing.T) {
	const text = "0 qid:1 1:2\n"
	for _, c := range []struct {
		log     int
		memory  int64
		want    string
		tooLong bool
	}{
		{23, 1, "", false},
		{24, 6 << 24, "", false},
		{24, 6<<24 - 1, "found zstandard data with a window of more than 16 MiB, expected at most that in 96 MiB of memory", true},
		{24, 1, "found zstandard data with a window of more than 8 MiB", true},
		{27, math.MaxInt64, "", false},
		{28, math.MaxInt64, "found zstandard data with a window of more than 128 MiB, expected at most that (only", false},
		{28, 6 << 27, "found zstandard data with a window of more than 128 MiB, expected at most that (only", false},
	} {
		var got []byte
		z, err := Reader(bytes.NewReader(zstandard(text, c.log)), Zstandard, c.memory)
		if err == nil {
			got, err = io.ReadAll(z)
			err = errors.Join(err, z.Close())
		}
		switch {
		case c.want == "" && (err != nil || string(got) != text):
			t.Errorf("2^%d in %d: %q, %v", c.log, c.memory, got, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, dataset.ErrTooLarge) != c.tooLong):
			t.Errorf("2^%d in %d: %v, want %q", c.log, c.memory, err, c.want)
		}
	}
}

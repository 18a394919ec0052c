package model

import (
	"fmt"
	"hash/crc32"

	"github.com/listwise/listwise/internal/strictjson"
)

// sumKey is the key of the checksum in a model file.
const sumKey = "sum"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sumOf returns the checksum of a model file: the CRC-32C of all keys and values except "sum", in order
// and without white space.
func sumOf(o strictjson.Object) string {
	h := crc32.New(castagnoli)
	for _, m := range o {
		if m.Key == sumKey {
			continue
		}
		fmt.Fprintf(h, "%q:", m.Key)
		strictjson.Compact(h, m.Value)
		fmt.Fprint(h, ",")
	}
	return fmt.Sprintf("crc32c:%08x", h.Sum32())
}

// checkSum returns an error if sum is not nil and differs from the checksum of o.
func checkSum(o strictjson.Object, sum *string) error {
	if sum == nil {
		return nil
	}
	if want := sumOf(o); *sum != want {
		return fmt.Errorf("found %q: %q, expected %q: the file was damaged, or edited after it was written; a model edited on purpose must lose its %[1]q",
			sumKey, *sum, want)
	}
	return nil
}

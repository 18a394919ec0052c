package strictjson

import (
	"fmt"
	"hash/crc32"
)

// SumKey is the key of the checksum of an object.
const SumKey = "sum"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// SumOf returns the checksum of an object: the CRC-32C of all keys and values except "sum", in order
// and without white space.
func SumOf(o Object) string {
	h := crc32.New(castagnoli)
	for _, m := range o {
		if m.Key == SumKey {
			continue
		}
		fmt.Fprintf(h, "%q:", m.Key)
		Compact(h, m.Value)
		fmt.Fprint(h, ",")
	}
	return fmt.Sprintf("crc32c:%08x", h.Sum32())
}

// AppendSum adds the checksum to an object at the end of text.
func AppendSum(text []byte) ([]byte, error) {
	members, err := Members(Whole(text))
	if err != nil {
		return nil, err
	}
	return AppendMember(text, SumKey, []byte(`"`+SumOf(members)+`"`)), nil
}

// CheckSum returns an error if sum is not nil and differs from the checksum of o.
func CheckSum(o Object, sum *string) error {
	if sum == nil {
		return nil
	}
	if want := SumOf(o); *sum != want {
		return fmt.Errorf("found %q: %q, expected %q: the file was damaged, or edited after it was written; a model edited on purpose must lose its %[1]q",
			SumKey, *sum, want)
	}
	return nil
}

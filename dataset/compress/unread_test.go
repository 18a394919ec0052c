package compress

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

// Claim: what other programs compress is refused by its name, with the command that makes text of it,
// and no name of an output makes data of another kind. The bytes are the beginnings of what xz, bzip2,
// lz4 and zip write.
func TestUnreadEncodings(t *testing.T) {
	for _, c := range []struct{ head, name, is, command string }{
		{"\xfd7zXZ\x00\x00\x04\xe6\xd6\xb4\x46", "data.csv.xz", "xz", "xz -dc FILE"},
		{"\xfd7zXZ\x00\x00\x04\xe6\xd6\xb4\x46", "standard input", "xz", "xz -dc FILE"},
		{"BZh91AY&SY", "data.bz2", "bzip2", "bzip2 -dc FILE"},
		{"\x04\x22\x4d\x18\x64\x40\xa7", "data", "LZ4", "lz4 -dc FILE"},
		{"PK\x03\x04\x14\x00", "data.zip", "zip", "unzip -p FILE"},
	} {
		e := Detect([]byte(c.head[:HeadSize]), c.name)
		_, err := Reader(strings.NewReader(c.head), e, math.MaxInt64)
		want := "found data compressed by " + c.is + ", expected text, plain or compressed by gzip or zstandard (" + c.command + " decompresses it, and - reads the result from standard input)"
		if err == nil || strings.TrimPrefix(err.Error(), ": ") != want {
			t.Errorf("%s: error %v, expected %s", c.name, err, want)
		}
	}
	for _, name := range []string{"a.txt.xz", "a.csv.bz2", "a.zip", "a.lz4"} {
		if _, err := Writer(new(bytes.Buffer), ByName(name)); err == nil {
			t.Errorf("%s is written", name)
		}
	}
	if e := Detect([]byte("B"), "a.txt"); e != Plain {
		t.Errorf("text is taken for %v", e)
	}
}

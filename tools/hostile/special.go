package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// bombs are texts that are many times larger than their compressed files.
var bombs = []struct {
	name, text string
	times      int // size in units of 16 MiB
}{
	{"newlines", "\n", 4},
	{"one-line", "x", 4},
	{"digits", "1", 4},
	{"blanks", " ", 4},
	{"NUL", "\x00", 4},
	{"comment", "#", 4},
	{"documents", "1 qid:1 1:1\n", 1},
	{"queries", "1 qid:%d 1:1\n", 1},
}

// bomb returns the compressed text. It repeats one gzip stream, since gzip streams may be
// concatenated.
func bomb(text string, times int) []byte {
	const size = 16 << 20
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	var plain []byte
	for i := 0; len(plain) < size; i++ {
		line := text
		if strings.Contains(text, "%d") {
			line = fmt.Sprintf(text, i)
		}
		plain = append(plain, line...)
		if i == 0 && line == text {
			plain = append(plain, bytes.Repeat([]byte(text), size/len(text))...)
		}
	}
	_, _ = z.Write(plain) // a buffer takes everything
	_ = z.Close()
	return bytes.Repeat(b.Bytes(), times)
}

// specialDataCases pass inputs that are not data files: devices, folders and bombs.
func specialDataCases() []Case {
	var cases []Case
	for _, path := range []string{"/dev/zero", "/dev/null", "/dev/stdin", ".", "/", "/proc/self/mem", "linear.json", "vali.lwd"} {
		for _, line := range []string{"data info PATH", "score --model linear.json --data PATH", "train --method mle --train PATH --model out.json --no-record", "eval --data data.txt --scores PATH --no-record", "data fold PATH --folds 3 --out out",
			"compare --data data.txt linear.json PATH", "fuse --data data.txt --out out.scores linear.json PATH", "report --data data.txt --out out.html --curve l=PATH l=linear.json"} {
			if path == "linear.json" && (strings.HasPrefix(line, "compare") || strings.HasPrefix(line, "fuse")) {
				continue // these commands accept model files
			}
			args := words(strings.ReplaceAll(line, "PATH", path))
			cases = append(cases, Case{Name: "data/special/" + strings.Join(args, "_"), Files: []string{"linear.json", "data.txt"}, Args: args, Outs: []string{"out", "out.json", "out.html", "out.scores", ".listwise"},
				Judge: func(*box, *Result) (Verdict, string) { return silent, path + " was taken" }})
		}
	}
	for _, b := range bombs {
		for i, line := range []string{"score --model linear.json --data d.txt.gz --max-memory 1", "data info d.txt.gz --max-memory 1"} {
			cases = append(cases, Case{Name: fmt.Sprintf("data/bomb/%s/%d", b.name, i), Files: []string{"linear.json"}, Args: words(line),
				Harm: func(dir string) error {
					return os.WriteFile(filepath.Join(dir, "d.txt.gz"), bomb(b.text, b.times), 0o600)
				}})
		}
	}
	return cases
}

// parquetBombs are false claims in a Parquet file's headers: bytes that overwrite the file at a
// position. A negative position counts from the end.
var parquetBombs = []struct {
	name  string
	place int
	bytes string
}{
	{"description-length", -8, "\xff\xff\xff\x7f"},
	{"description-zero", -8, "\x00\x00\x00\x00"},
	{"page-size", 6, "\xfe\xff\xff\xff\x0f\x15\xfe\xff\xff\xff\x0f"},
	{"page-values", 16, "\xfe\xff\xff\xff\x0f"},
	{"encrypted", -4, "PARE"},
	{"head", 0, "PARE"},
}

// parquetCases write these claims, and false lengths of every list of the description.
func parquetCases() []Case {
	var cases []Case
	add := func(name string, harm func(text []byte) []byte) {
		for i, line := range []string{"score --model linear.json --data data.parquet --max-memory 1", "data convert data.parquet --out out.lwd --max-memory 1"} {
			cases = append(cases, Case{Name: fmt.Sprintf("data/parquet/%s/%d", name, i), Files: []string{"data.parquet", "linear.json"}, Args: words(line), Outs: []string{"out.lwd"}, Harm: change("data.parquet", harm)})
		}
	}
	for _, b := range parquetBombs {
		add(b.name, func(text []byte) []byte {
			at := b.place
			if at < 0 {
				at += len(text)
			}
			copy(text[at:], b.bytes)
			return text
		})
	}
	for k := range 60 {
		add(fmt.Sprintf("list-%d", k), func(text []byte) []byte { return claimList(text, k) })
	}
	return cases
}

// claimList makes a list of the description claim 2^31 - 1 elements. k selects the list among the
// bytes that may be the header of one.
func claimList(text []byte, k int) []byte {
	size := int(binary.LittleEndian.Uint32(text[len(text)-8:]))
	from := len(text) - 8 - size
	for i := from; i < len(text)-8; i++ {
		if kind := text[i] & 15; kind != 12 && kind != 8 && kind != 5 || text[i]>>4 == 0 {
			continue
		}
		if k--; k < 0 {
			claim := append(append(append([]byte{}, text[:i]...), 0xf0|text[i]&15, 0xff, 0xff, 0xff, 0xff, 0x07), text[i+1:len(text)-8]...)
			return append(binary.LittleEndian.AppendUint32(claim, uint32(size+5)), "PAR1"...)
		}
	}
	return text[:len(text)-1]
}

// scoreFileCases replace a score by a token, and change the number of scores.
func scoreFileCases() []Case {
	var cases []Case
	add := func(name, args string, harm func(lines []string) []string, fine bool) {
		cases = append(cases, Case{Name: "data/scores/" + name, Files: []string{"data.txt", "a.scores", "b.scores"}, Args: words(args), Outs: []string{"out.scores"},
			Harm: change("a.scores", func(text []byte) []byte {
				return []byte(strings.Join(harm(strings.SplitAfter(string(text), "\n")), ""))
			}),
			Judge: func(_ *box, r *Result) (Verdict, string) {
				if fine || warned(r) {
					return right, ""
				}
				return silent, "the scores were taken"
			}})
	}
	for i, args := range []string{"eval --data data.txt --scores a.scores --no-record", "compare --data data.txt --permutations 100 --resamples 100 a.scores b.scores", "fuse --data data.txt --rule combsum --out out.scores a.scores b.scores"} {
		for t, token := range tokens {
			_, err := readNumber(strings.TrimSpace(token), 64)
			add(fmt.Sprintf("%d-%d", i, t), args, func(lines []string) []string { lines[3] = token + "\n"; return lines }, err == nil)
		}
		add(fmt.Sprintf("%d-few", i), args, func(lines []string) []string { return lines[1:] }, false)
		add(fmt.Sprintf("%d-many", i), args, func(lines []string) []string { return append(lines, lines[0]) }, false)
		add(fmt.Sprintf("%d-two-columns", i), args, func(lines []string) []string { lines[0] = "1 2\n"; return lines }, false)
		add(fmt.Sprintf("%d-none", i), args, func([]string) []string { return nil }, false)
	}
	return cases
}

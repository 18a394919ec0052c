package rows

import (
	"errors"
	"strconv"
	"strings"
	"testing"
)

// Claim: floats keep every digit, nil is empty, and text that needs it is quoted.
func TestWriteCSV(t *testing.T) {
	var b strings.Builder
	err := WriteCSV(&b, []string{"name", "value"}, [][]any{{"a, b", 0.30000000000000004}, {"c", 7}, {nil, 1e-300}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "name,value\n\"a, b\",0.30000000000000004\nc,7\n,1e-300\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Claim: no cell of a CSV is one that a spreadsheet would run, but identifiers, which stay as they
// are; numbers, also those in text, stay numbers.
func TestFormulasAreText(t *testing.T) {
	var b strings.Builder
	err := WriteCSV(&b, []string{"a", "b", "c"}, [][]any{
		{"=HYPERLINK(\"http://x\")", "+cmd|' /C calc'!A0", "-2+3"},
		{"@SUM(A1)", "\t=1", "\r=1"},
		{"-3", "+1.5e-3", "-.5"},
		{-3, -1.5, "a=b"},
		{ID("=1"), ID("-a"), ID("@,")},
		{"--1", "-", "1=1"},
	})
	want := "a,b,c\n" +
		"\"'=HYPERLINK(\"\"http://x\"\")\",'+cmd|' /C calc'!A0,'-2+3\n" +
		"'@SUM(A1),'\t=1,\"'\r=1\"\n" +
		"-3,+1.5e-3,-.5\n" +
		"-3,-1.5,a=b\n" +
		"=1,-a,\"@,\"\n" +
		"'--1,'-,1=1\n"
	if err != nil || b.String() != want {
		t.Errorf("%v, wrote\n%s\nwant\n%s", err, b.String(), want)
	}
}

// FuzzText: a cell changes by an apostrophe in front at most, and then only if it is
// no number; what comes out begins with no character that begins a formula, or is a
// number.
func FuzzText(f *testing.F) {
	for _, text := range []string{"=1", "-1", "+1e5", "-0x1p-2", "@", "-Inf", "q7"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Text(text)
		if got != text && got != "'"+text {
			t.Fatalf("%q has become %q", text, got)
		}
		_, err := strconv.ParseFloat(got, 64)
		if got != "" && strings.IndexAny(got, "=+-@\t\r\n") == 0 && err != nil && !errors.Is(err, strconv.ErrRange) {
			t.Errorf("%q stays as it is", got)
		}
	})
}

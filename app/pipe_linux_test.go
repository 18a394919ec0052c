package app

import (
	"bytes"
	"context"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Claim: a named pipe with more than the memory is scored like the file, and one that is refused ends the command.
func TestNamedPipeLargerThanMemory(t *testing.T) {
	t.Chdir(t.TempDir())
	mustCall(t, "data", "synth", "--queries", "60", "--docs", "50", "--features", "20", "--out", "d.txt")
	mustCall(t, "train", "--method", "mle", "--train", "d.txt", "--model", "m.json")
	want := mustCall(t, "score", "--data", "d.txt", "--model", "m.json")
	text, err := os.ReadFile("d.txt")
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo("fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	through := func(args string) (code int, out, errs bytes.Buffer) {
		go func() {
			if f, err := os.OpenFile("fifo", os.O_WRONLY, 0); err == nil {
				_, _ = f.Write(text) // which fails where the command does not want the rest
				_ = f.Close()
			}
		}()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		code = Run(ctx, strings.Fields(args), strings.NewReader(""), &out, &errs)
		return code, out, errs
	}
	if code, out, errs := through("score --data fifo --model m.json --max-memory 0.0001"); code != 0 || out.String() != want {
		t.Errorf("exit code %d, %q", code, errs.String())
	}
	if code, _, errs := through("explain --model m.json --data fifo --max-memory 0.0001"); code != exitUsage || !strings.Contains(errs.String(), "fifo: found bytes of a stream") {
		t.Errorf("exit code %d, %q; want 2 and that the bytes are too many", code, errs.String())
	}
}

package datafile

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/letor"
)

// namedCache writes a cache of queries of named features, some missing, with grades in [0, 1].
func namedCache(t *testing.T, path string, missing dataset.Missing) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	const features = 12
	text := []byte("query,grade,doc")
	for j := range features {
		text = fmt.Appendf(text, ",name %d", j)
	}
	for q := range 30 {
		for i := range 1 + rng.IntN(40) {
			text = fmt.Appendf(text, "\nq%d,%v,d%d", q, rng.Float64(), i)
			for range features {
				if text = append(text, ','); rng.IntN(20) > 0 {
					text = fmt.Append(text, float32(rng.NormFloat64()))
				}
			}
		}
	}
	table := path + ".csv"
	if err := os.WriteFile(table, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Convert(Conversion{Inputs: []string{table}, Out: path, Options: dataset.Options{Missing: missing}}); err != nil {
		t.Fatal(err)
	}
}

// A cache that is larger than the limit is changed and written to the same bytes as one in memory.
func TestWhatIsStreamedIsWrittenAsInMemory(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "source.lwd")
	namedCache(t, source, dataset.MissingKeep)
	const little = 1 << 15
	for _, missing := range []dataset.Missing{dataset.MissingZero, dataset.MissingMin, dataset.MissingKeep} {
		for _, ending := range []string{"lwd", "csv", "jsonl.gz", "parquet", "txt"} {
			out := [2]string{filepath.Join(dir, "memory."+ending), filepath.Join(dir, "streamed."+ending)}
			for i, limit := range []int64{0, little} {
				c := Conversion{Inputs: []string{source}, Out: out[i], Options: dataset.Options{Missing: missing, MaxBytes: limit}}
				if _, err := Convert(c); err != nil {
					t.Fatal(err)
				}
			}
			sameFiles(t, out)
			for i, limit := range []int64{0, little} {
				d, err := Open(source, dataset.Options{Missing: missing, MaxBytes: limit, Stream: true})
				if err != nil {
					t.Fatal(err)
				}
				if d.Streamed() != (limit > 0) {
					t.Fatalf("limit %d: streamed %v", limit, d.Streamed())
				}
				if missing != dataset.MissingKeep {
					dataset.NormalizeInPlace(d, dataset.ZScore)
				}
				if err := Write(out[i], d, letor.WriteOptions{}); err != nil {
					t.Fatal(err)
				}
				if err := d.Close(); err != nil {
					t.Fatal(err)
				}
			}
			sameFiles(t, out)
		}
	}
}

func sameFiles(t *testing.T, paths [2]string) {
	t.Helper()
	a, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(paths[1])
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a, b) {
		t.Fatalf("%s and %s differ", paths[0], paths[1])
	}
}

// A cache that is damaged is not written as another file.
func TestDamageIsFoundAsACacheIsStreamed(t *testing.T) {
	dir := t.TempDir()
	source, out := filepath.Join(dir, "source.lwd"), filepath.Join(dir, "out.parquet")
	namedCache(t, source, dataset.MissingZero)
	b, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-3] ^= 1
	if err := os.WriteFile(source, b, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Convert(Conversion{Inputs: []string{source}, Out: out, Options: dataset.Options{MaxBytes: 1 << 14}})
	if err == nil {
		t.Fatal("the damage went unnoticed")
	}
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Fatalf("a file was written: %v", err)
	}
}

// Claim: shards of data that are larger than memory are those of data in it.
func TestShardsOfLargeData(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "source.lwd")
	namedCache(t, source, dataset.MissingKeep)
	for _, ending := range []string{".lwd", ".csv", ".jsonl.gz", ".parquet"} {
		var folders [2]string
		for i, limit := range []int64{0, 1 << 15} {
			folders[i] = filepath.Join(dir, []string{"memory", "streamed"}[i]+ending)
			c := Conversion{Inputs: []string{source}, Options: dataset.Options{Missing: dataset.MissingKeep, MaxBytes: limit}}
			if _, err := Shard(c, folders[i], ending, 3); err != nil {
				t.Fatal(err)
			}
		}
		for k := range 3 {
			name := fmt.Sprintf(shardTail, k, ending)
			sameFiles(t, [2]string{filepath.Join(folders[0], name), filepath.Join(folders[1], name)})
		}
		sameFiles(t, [2]string{filepath.Join(folders[0], "shards.json"), filepath.Join(folders[1], "shards.json")})
	}
}

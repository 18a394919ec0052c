// Command users simulates the users of a search page that ranks with "listwise serve".
//
//	users --data shop.csv --url http://localhost:8080/v1/models/web:rank --pages 5000 --clicks clicks.jsonl
//
// It shows what an application does: send the documents of a query with their features, show the ranking, and log each
// click with the id of the page. The users are simulated. They look at rank k with probability 1/k. The
// probability of a click on a document that they see rises with its grade. The server never sees a grade.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"time"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
)

// request and response are the parts of the server's API that the program needs. docs/serve.md has the rest.
type request struct {
	User      string     `json:"user"`
	Query     string     `json:"query"`
	Top       int        `json:"top"`
	Documents []document `json:"documents"`
}

type document struct {
	ID       string `json:"id"`
	Features []any  `json:"features"`
}

type response struct {
	Page    string
	Ranking []struct{ ID string }
}

func main() {
	data := flag.String("data", "", "judged queries of the simulated users, with document ids")
	url := flag.String("url", "", "address of a model or an experiment of the server")
	pages := flag.Int("pages", 1000, "number of rankings")
	users := flag.Int("users", 500, "number of users")
	seed := flag.Uint64("seed", 1, "random seed")
	clicks := flag.String("clicks", "clicks.jsonl", "file for the clicks")
	flag.Parse()
	log.SetFlags(0)
	if err := simulate(*data, *url, *clicks, *pages, *users, *seed); err != nil {
		log.Fatal("users: ", err)
	}
}

func simulate(data, url, clicks string, pages, users int, seed uint64) error {
	d, err := datafile.Open(data, dataset.Options{Missing: dataset.MissingKeep})
	if err != nil {
		return err
	}
	queries := make([]request, len(d.Queries))
	attraction := map[[2]string]float64{} // of a document for a query
	best := highest(d)
	for i := range d.Queries {
		q := &d.Queries[i]
		queries[i] = request{Query: q.ID, Top: 10}
		for doc := range q.Len() {
			queries[i].Documents = append(queries[i].Documents, document{q.DocID(doc), features(q.Row(doc))})
			attraction[[2]string{q.ID, q.DocID(doc)}] = 0.05 + 0.9*q.Grades[doc]/best
		}
	}
	file, err := os.Create(clicks)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // its error matters after all clicks alone
	rng, total := rand.New(rand.NewPCG(seed, 0)), 0
	for range pages {
		r := queries[rng.IntN(len(queries))]
		r.User = fmt.Sprint("u", 1+rng.IntN(users))
		page, err := rank(url, r)
		if err != nil {
			return err
		}
		for k, doc := range page.Ranking {
			if seen := rng.Float64() < 1/float64(k+1); !seen || rng.Float64() >= attraction[[2]string{r.Query, doc.ID}] {
				continue
			}
			total++
			line := map[string]any{"page": page.Page, "id": doc.ID, "time": time.Now().UTC()}
			if err := json.NewEncoder(file).Encode(line); err != nil {
				return err
			}
		}
	}
	fmt.Printf("%d users saw %d pages and clicked %d documents\n", users, pages, total)
	return file.Close()
}

// features returns a row for JSON, in which a missing value is null.
func features(row []float32) []any {
	x := make([]any, len(row))
	for i, v := range row {
		if !math.IsNaN(float64(v)) {
			x[i] = v
		}
	}
	return x
}

// highest returns the highest grade.
func highest(d *dataset.Dataset) float64 {
	best := 1.0
	for i := range d.Queries {
		for _, g := range d.Queries[i].Grades {
			best = max(best, g)
		}
	}
	return best
}

// rank asks the server for a ranking.
func rank(url string, r request) (*response, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	answer, err := http.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answers %s: %s", answer.Status, text)
	}
	var page response
	return &page, json.Unmarshal(text, &page)
}

package report

// data is what the scripts get, as JSON. Keys are short where there is one a query.
type data struct {
	Baseline int       `json:"baseline"`
	Best     int       `json:"best"` // the system, not the baseline unless it is alone, with the largest mean by the first measure
	Systems  []string  `json:"systems"`
	Measures []formula `json:"measures"`
	Folds    []string  `json:"folds,omitempty"`    // names of the divisions, if there are several
	Grades   []float64 `json:"grades"`             // that occur, ascending
	Relevant int       `json:"relevant"`           // the first of Grades that is
	Features []string  `json:"features,omitempty"` // names, if there are any

	FeatureDigits int `json:"featureDigits"` // of packed features

	Queries  queries     `json:"queries"`
	Values   [][]string  `json:"values"`  // of each system and measure: one packed value a query
	Cutoffs  cutoffs     `json:"cutoffs"` // NDCG at 1, 2, …
	Forest   []forest    `json:"forest"`
	Curves   []Curve     `json:"curves"`
	Tunings  []Tuning    `json:"tunings"`
	Weights  []weights   `json:"weights"`
	Samplers []diagnosis `json:"samplers"`
	Trees    []trees     `json:"trees"`
}

// queries are columns, one entry a query.
type queries struct {
	ID   []string `json:"id"`
	Fold []int    `json:"fold,omitempty"`
	Docs []int    `json:"docs"`
}

// cutoffs are the curves of NDCG@k over k = 1 … K, and how far each is above the baseline's.
type cutoffs struct {
	K      int         `json:"k"`
	Values [][]float64 `json:"values"` // of each system
	Above  []above     `json:"above"`  // of each system but the baseline
}

// above is a system's difference to the baseline at every cutoff with its 95 % interval.
type above struct {
	System int       `json:"system"`
	Mean   []float64 `json:"d"`
	Low    []float64 `json:"low"`
	High   []float64 `json:"high"`
}

// forest is a system's difference to the baseline by one measure.
type forest struct {
	System     int      `json:"system"`
	Measure    int      `json:"measure"`
	Difference float64  `json:"d"`
	Low        *float64 `json:"low,omitempty"` // nil without an interval
	High       *float64 `json:"high,omitempty"`
	P          float64  `json:"p"`
	Holm       float64  `json:"holm"`
	Wins       int      `json:"wins"`
	Ties       int      `json:"ties"`
	Losses     int      `json:"losses"`
}

// details are two systems' rankings, and more, of one query: those of the documents
// that any system ranks high or that are relevant.
type details struct {
	Query  int       `json:"q"`
	Docs   []string  `json:"d"`  // identifiers
	Grades string    `json:"g"`  // packed places in data.Grades
	Ranks  string    `json:"r"`  // packed, from 0, the number of the query's documents for one not retrieved; all documents of the first system, then of the next
	Scores string    `json:"s"`  // likewise, packed between Low and High
	Low    []float64 `json:"lo"` // of each system
	High   []float64 `json:"hi"`

	Explained *explained `json:"x,omitempty"`
}

// explained has the largest contributions of features to scores.
type explained struct {
	Docs    string    `json:"d"` // packed places in details of the documents that are explained
	Per     int       `json:"n"` // contributions a document and system; padded with zero ones
	Systems []int     `json:"y"`
	Largest []float64 `json:"m"` // of each of these systems: the largest contribution's magnitude
	Mean    []float64 `json:"b"` // of each system: the mean score of the query's documents, to which contributions are added
	Parts   string    `json:"c"` // of each system, document: pairs of a packed feature and contribution
	Values  string    `json:"v"` // of each document: how many, pairs of a packed feature and its value in the data
}

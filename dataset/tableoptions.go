package dataset

// TableOptions say what the columns of a table are: CSV, JSON lines, Parquet. The zero value
// finds query, grade and document by the usual names, and takes all other columns for
// features.
type TableOptions struct {
	// Query, Grade and Doc are the names of the columns with the query ids, the grades and
	// the document ids; "" for the first with a usual name, whatever its case. There may
	// be no column of document ids.
	Query, Grade, Doc string

	// Weight and QueryWeight are the names of the columns with weights of documents and of
	// queries, in which all rows of a query say the same; "" for columns called document_weight
	// and query_weight, if there are any.
	Weight, QueryWeight string

	// Features are the columns of features in the order wanted; nil for all that are left,
	// in their order, without Except.
	Features []string
	Except   []string

	// OneHot are columns of text, each of whose values becomes a feature COLUMN=VALUE that
	// is 1 where the value stands and else 0. The values stand in sorted order, in the
	// place of the column. OneHotAuto makes them of all columns with text in them.
	OneHot     []string
	OneHotAuto bool

	// Attributes are columns of what queries are, such as their country, in which all rows of a
	// query say the same; an empty cell says nothing. They are read beside what else is made of
	// them: that a column is an attribute makes it no feature, nor leaves it out of the features.
	Attributes []string

	// Ungraded allows a table without grades, or without some: they are 0.
	Ungraded bool

	// Delimiter stands between the cells of a line, 0 for a comma in CSV and a tab in TSV.
	Delimiter byte
}

// MaxOneHot is the largest number of values of a column that become features.
const MaxOneHot = 1000

package dataset

// TableOptions say what the columns of a table are: CSV, JSON lines, Parquet. The zero value
// finds query, grade and document by the usual names, and takes all other columns for
// features.
type TableOptions struct {
	// Query, Grade and Doc are the names of the columns with the query ids, the grades and the document ids; ""
	// selects the first column with a usual name, in upper or lower case. There may be no column of document
	// ids.
	Query, Grade, Doc string

	// Weight and QueryWeight are the names of the columns with weights of documents and of
	// queries, in which all rows of a query say the same; "" for columns called document_weight
	// and query_weight, if there are any.
	Weight, QueryWeight string

	// Features are the columns of features in the order wanted; nil for all that are left,
	// in their order, without Except.
	Features []string
	Except   []string

	// OneHot are columns of text, each of whose values becomes a feature COLUMN=VALUE that is 1 where the value
	// stands and else 0. The features replace the column and are sorted by value. OneHotAuto makes them of all
	// columns with text in them.
	OneHot     []string
	OneHotAuto bool

	// Attributes are columns that describe queries, such as their country. All rows of a query have the same
	// value; an empty cell means none. An attribute may have another use as well: naming a column here does not
	// change whether it is a feature.
	Attributes []string

	// Ungraded allows a table without grades, or without some: they are 0.
	Ungraded bool

	// Delimiter stands between the cells of a line, 0 for a comma in CSV and a tab in TSV.
	Delimiter byte
}

// MaxOneHot is the largest number of values of a column that become features.
const MaxOneHot = 1000

// Package table reads and writes judged queries as tables: CSV and TSV, whose first line
// names the columns. One row is one document; one column has the query's identifier, others
// the grade, the document's identifier and the features.
//
// Start reading at [Choose], which says what becomes of columns and is for tables of all
// kinds, then [ReadCSV]. Files of any format are opened by dataset/datafile.
package table

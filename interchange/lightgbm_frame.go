package interchange

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// lgbmFrame returns the note about a model that learned from a data frame of pandas with columns of
// categories, whose values LightGBM replaces by their places in the lists that it keeps behind the
// trees. The places are what the trees ask for; where they are the values themselves, there is
// nothing to note.
func lgbmFrame(data []byte) []string {
	const key = "\npandas_categorical:"
	at := bytes.LastIndex(data, []byte(key))
	if at < 0 {
		return nil
	}
	line, _, _ := bytes.Cut(data[at+len(key):], []byte("\n"))
	var lists [][]json.RawMessage
	if json.Unmarshal(line, &lists) != nil {
		return nil // null, or nothing that LightGBM writes
	}
	for _, values := range lists {
		for place, value := range values {
			if string(value) != strconv.Itoa(place) {
				return []string{"categories are the codes, from 0, that LightGBM stored for the values of a data frame (pandas_categorical)"}
			}
		}
	}
	return nil
}

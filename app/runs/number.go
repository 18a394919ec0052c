package runs

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"math"
)

// Number is a float64 for which the database has NULL where it is NaN, and JSON has
// null where it is not finite.
type Number float64

// NaN returns the Number that is not known.
func NaN() Number { return Number(math.NaN()) }

// MarshalJSON implements json.Marshaler.
func (n Number) MarshalJSON() ([]byte, error) {
	if v := float64(n); !math.IsNaN(v) && !math.IsInf(v, 0) {
		return json.Marshal(v)
	}
	return []byte("null"), nil
}

// Value implements driver.Valuer.
func (n Number) Value() (driver.Value, error) {
	if math.IsNaN(float64(n)) {
		return nil, nil
	}
	return float64(n), nil
}

// Scan implements sql.Scanner.
func (n *Number) Scan(value any) error {
	switch v := value.(type) {
	case nil:
		*n = NaN()
	case float64:
		*n = Number(v)
	case int64:
		*n = Number(v)
	default:
		return fmt.Errorf("found %T %v, expected a number", value, value)
	}
	return nil
}

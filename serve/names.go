package serve

import "fmt"

// maxName is the largest length of a name, and of a version.
const maxName = 64

// CheckName returns an error unless name is valid. A name has 1 to 64 characters from A–Z, a–z,
// 0–9, '.', '_' and '-', and begins with a letter or a digit. A version may follow: '@' and 1 to 64
// of the same characters. Valid names are safe in paths, metrics and logs.
func CheckName(name string) error {
	length := 0
	versions := 0
	for i := range len(name) {
		c := name[i]
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9':
			length++
		case (c == '.' || c == '_' || c == '-') && length > 0:
			length++
		case c == '@' && length > 0 && versions == 0:
			length, versions = 0, 1
		default:
			return badName(name)
		}
		if length > maxName {
			return badName(name)
		}
	}
	if length == 0 {
		return badName(name)
	}
	return nil
}

func badName(name string) error {
	return fmt.Errorf("found the name %.100q, expected 1 to %d letters, digits, dots, underscores and hyphens, such as web, or with a version web@2", name, maxName)
}

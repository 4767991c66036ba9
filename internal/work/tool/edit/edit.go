// Package edit replaces exact text, and says what is there instead where it
// is not found.
package edit

import (
	"errors"
	"fmt"
	"strings"
)

// Edit replaces a text that is there once, or everywhere with All.
type Edit struct {
	Old, New string
	All      bool
}

// Apply returns the text after all edits, made one after the other, or what is
// wrong with the first one that does not fit.
func Apply(text string, edits []Edit) (after string, did []string, err error) {
	for i, ed := range edits {
		n := strings.Count(text, ed.Old)
		switch {
		case ed.Old == "":
			err = errors.New("old is empty")
		case ed.Old == ed.New:
			err = errors.New("old and new are the same")
		case n == 0:
			err = errors.New(missed(text, ed))
		case n > 1 && !ed.All:
			err = fmt.Errorf("old is there %d times, on lines %s; give more lines around the one you mean, or set all", n, places(text, ed.Old))
		}
		if err != nil {
			if len(edits) > 1 {
				err = fmt.Errorf("edit %d of %d: %w", i+1, len(edits), err)
			}
			return "", nil, err
		}
		did = append(did, fmt.Sprintf("%d replaced at line %s", n, places(text, ed.Old)))
		text = strings.ReplaceAll(text, ed.Old, ed.New)
	}
	return text, did, nil
}

// places returns the first line numbers where old begins.
func places(text, old string) string {
	var found []string
	line, from := 1, 0
	for len(found) < 10 {
		i := strings.Index(text[from:], old)
		if i < 0 {
			return strings.Join(found, ", ")
		}
		line += strings.Count(text[from:from+i], "\n")
		found = append(found, fmt.Sprint(line))
		line += strings.Count(old, "\n")
		from += i + len(old)
	}
	return strings.Join(found, ", ") + ", ..."
}

package files

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// TextReplacement replaces a text that occurs once, or everywhere with All.
type TextReplacement struct {
	Old, New string
	All      bool
}

// applyEdits returns the text after all edits, made one after the other, or the problem with
// the first one that does not fit, with lines of the text as it is.
func applyEdits(text string, edits []TextReplacement) (after string, err error) {
	after = text
	for i, ed := range edits {
		if ed.Old != "" && !strings.Contains(after, ed.Old) {
			if ed, err = withoutLineNumbers(after, ed); err != nil {
				return "", numberEditError(i, edits, err)
			}
		}
		n := strings.Count(after, ed.Old)
		switch {
		case ed.Old == "":
			err = errors.New("old is empty; write_file makes a new file")
		case ed.Old == ed.New:
			err = errors.New("old and new are the same")
		case n == 0 && i > 0 && strings.Contains(text, ed.Old):
			err = fmt.Errorf("old is at line %s, but an edit before it in this call changes that; make one edit of both, or quote what is there after that edit", listPlaces(text, ed.Old))
		case n == 0:
			err = errors.New(explainMissingText(text, ed))
		case n > 1 && !ed.All && i > 0 && strings.Count(text, ed.Old) != n:
			err = fmt.Errorf("old is in the file %d times after the edits before it, now at lines %s; give more lines around the one you mean, or set all", n, cmp.Or(listPlaces(text, ed.Old), "none"))
		case n > 1 && !ed.All:
			err = fmt.Errorf("old is in the file %d times, on lines %s; give more lines around the one you mean, or set all", n, listPlaces(text, ed.Old))
		}
		if err != nil {
			return "", numberEditError(i, edits, err)
		}
		after = strings.ReplaceAll(after, ed.Old, ed.New)
	}
	return after, nil
}

// numberEditError adds to an error which of several edits it is about.
func numberEditError(i int, edits []TextReplacement, err error) error {
	if len(edits) == 1 {
		return err
	}
	return fmt.Errorf("edit %d of %d: %w", i+1, len(edits), err)
}

// withoutLineNumbers returns an edit without the line numbers that read_file showed before its lines,
// if it has them and its text occurs without them.
func withoutLineNumbers(text string, ed TextReplacement) (TextReplacement, error) {
	old, all, _ := stripNumbers(ed.Old)
	if !all || !strings.Contains(text, old) {
		return ed, nil
	}
	now, all, some := stripNumbers(ed.New)
	if some && !all {
		return ed, errors.New("old and some lines of new begin with line numbers, which are not in the file; leave them out")
	}
	ed.Old = old
	if all {
		ed.New = now
	}
	return ed, nil
}

// stripNumbers removes line numbers, and reports whether all lines, or some, begin with one.
func stripNumbers(text string) (rest string, all, some bool) {
	number := regexp.MustCompile(`^ *[0-9]+\t`)
	var b strings.Builder
	all = text != ""
	for l := range strings.Lines(text) {
		n := len(number.FindString(l))
		all, some = all && n > 0, some || n > 0
		b.WriteString(l[n:])
	}
	return b.String(), all, some
}

// listPlaces returns the first line numbers at which old begins.
func listPlaces(text, old string) string {
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

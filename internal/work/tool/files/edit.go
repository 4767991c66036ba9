package files

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const (
	maxDiff   = 1500 // bytes of a change in the result for the agent
	maxRanges = 20   // ranges of an edit in the result
)

// Edit makes edits in a file, all or none, and returns the changes.
func (t *Tree) Edit(name string, edits []Edit) (string, error) {
	if err := t.writes(name); err != nil {
		return "", err
	}
	d, err := t.load(name)
	if err != nil {
		return "", err
	}
	changes := t.seen.changes(name, d.text)
	if len(changes) > 0 {
		t.seen.keep(name, d.text) // the agent is informed now, whatever follows
	}
	for i := range edits {
		edits[i].Old, edits[i].New = d.form.plain(edits[i].Old), d.form.plain(edits[i].New)
	}
	after, err := applyEdits(d.text, edits)
	if err != nil {
		return "", fmt.Errorf("%s was not changed: %w%s", name, err, moved(d.text, changes))
	}
	if len(changes) > 0 && touches(Hunks(splitLines(d.text), splitLines(after)), unknown(d.text, changes, edits)) {
		return "", fmt.Errorf("%s was not changed: the text around the edit is not what you read; send the edit again if it is still right%s", name, moved(d.text, changes))
	}
	data, err := d.form.Write(after)
	if err != nil {
		return "", fmt.Errorf("%s was not changed: %w", name, err)
	}
	if err := t.put(name, data, &d); err != nil {
		return "", err
	}
	t.seen.keep(name, after)
	return fmt.Sprintf("edited %s: %s%s", name, ranges(Hunks(splitLines(d.text), splitLines(after))), moved(d.text, changes)), nil
}

// ranges returns the changed lines of the file as it is now, and the lines that they replaced.
func ranges(hunks []Hunk) string {
	var all []string
	for i, h := range hunks {
		if i == maxRanges {
			all = append(all, fmt.Sprintf("%d more places", len(hunks)-i))
			break
		}
		switch {
		case h.New == 0:
			all = append(all, fmt.Sprintf("%s deleted after line %d", span(h.From, h.Old), h.To))
		case h.Old == 0:
			all = append(all, span(h.To, h.New)+" added")
		default:
			all = append(all, fmt.Sprintf("%s changed (before: %s)", span(h.To, h.New), numbers(h.From, h.Old)))
		}
	}
	return strings.Join(all, "; ")
}

// span describes a range of lines, the first counted from 0.
func span(first, n int) string {
	if n == 1 {
		return "line " + numbers(first, n)
	}
	return "lines " + numbers(first, n)
}

func numbers(first, n int) string {
	if n == 1 {
		return strconv.Itoa(first + 1)
	}
	return fmt.Sprintf("%d-%d", first+1, first+n)
}

// unknown returns the changes whose lines no edit quotes.
func unknown(text string, changes []Hunk, edits []Edit) []Hunk {
	lines := splitLines(text)
	var left []Hunk
	for _, h := range changes {
		is := strings.Join(lines[h.To:h.To+h.New], "\n")
		if h.New == 0 || !slices.ContainsFunc(edits, func(ed Edit) bool { return strings.Contains(ed.Old, is) }) {
			left = append(left, h)
		}
	}
	return left
}

// moved describes changes that somebody else made.
func moved(text string, changes []Hunk) string {
	if len(changes) == 0 {
		return ""
	}
	return "\n[the file had changed since you read it:\n" + describeChanges(text, changes, maxDiff) + "]"
}

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

// EditFile makes edits in a file, all or none, and returns the changes.
func (t *AgentTree) EditFile(name string, edits []TextReplacement) (string, error) {
	if err := t.checkWritable(name); err != nil {
		return "", err
	}
	d, err := t.loadTextFile(name)
	if err != nil {
		return "", err
	}
	changes := t.seen.changesSinceRead(name, d.text)
	if len(changes) > 0 {
		t.seen.rememberVersion(name, d.text) // the agent is informed now, whatever follows
	}
	for i := range edits {
		edits[i].Old, edits[i].New = d.form.normaliseLineEnds(edits[i].Old), d.form.normaliseLineEnds(edits[i].New)
	}
	after, err := applyEdits(d.text, edits)
	if err != nil {
		return "", fmt.Errorf("%s was not changed: %w%s", name, err, changedSinceReadNote(d.text, changes))
	}
	if len(changes) > 0 && touchesUnseenChange(ComputeHunks(splitLines(d.text), splitLines(after)), unquotedChanges(d.text, changes, edits)) {
		return "", fmt.Errorf("%s was not changed: the text around the edit is not what you read; send the edit again if it is still right%s", name, changedSinceReadNote(d.text, changes))
	}
	data, err := d.form.Write(after)
	if err != nil {
		return "", fmt.Errorf("%s was not changed: %w", name, err)
	}
	if err := t.replaceFile(name, data, &d); err != nil {
		return "", err
	}
	t.seen.rememberVersion(name, after)
	return fmt.Sprintf("edited %s: %s%s", name, describeHunkRanges(ComputeHunks(splitLines(d.text), splitLines(after))), changedSinceReadNote(d.text, changes)), nil
}

// describeHunkRanges returns the changed lines of the file as it is now, and the lines that they replaced.
func describeHunkRanges(hunks []ReplacedLineHunk) string {
	var all []string
	for i, h := range hunks {
		if i == maxRanges {
			all = append(all, fmt.Sprintf("%d more places", len(hunks)-i))
			break
		}
		switch {
		case h.New == 0:
			all = append(all, fmt.Sprintf("%s deleted after line %d", lineSpan(h.From, h.Old), h.To))
		case h.Old == 0:
			all = append(all, lineSpan(h.To, h.New)+" added")
		default:
			all = append(all, fmt.Sprintf("%s changed (before: %s)", lineSpan(h.To, h.New), lineNumberRange(h.From, h.Old)))
		}
	}
	return strings.Join(all, "; ")
}

// lineSpan describes a range of lines, the first counted from 0.
func lineSpan(first, n int) string {
	if n == 1 {
		return "line " + lineNumberRange(first, n)
	}
	return "lines " + lineNumberRange(first, n)
}

func lineNumberRange(first, n int) string {
	if n == 1 {
		return strconv.Itoa(first + 1)
	}
	return fmt.Sprintf("%d-%d", first+1, first+n)
}

// unquotedChanges returns the changes whose lines no edit quotes.
func unquotedChanges(text string, changes []ReplacedLineHunk, edits []TextReplacement) []ReplacedLineHunk {
	lines := splitLines(text)
	var left []ReplacedLineHunk
	for _, h := range changes {
		is := strings.Join(lines[h.To:h.To+h.New], "\n")
		if h.New == 0 || !slices.ContainsFunc(edits, func(ed TextReplacement) bool { return strings.Contains(ed.Old, is) }) {
			left = append(left, h)
		}
	}
	return left
}

// changedSinceReadNote describes changes that somebody else made.
func changedSinceReadNote(text string, changes []ReplacedLineHunk) string {
	if len(changes) == 0 {
		return ""
	}
	return "\n[the file had changed since you read it:\n" + describeChanges(text, changes, maxDiff) + "]"
}

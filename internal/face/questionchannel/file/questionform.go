package file

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// Markers in a form. Text by other authors goes between them, and each of its lines is quoted so
// that it cannot imitate a marker.
const (
	head  = "<!-- nexus "
	entry = "Answer:"
)

// renderForm returns the form that shows an item to people. A note explains the problem with the
// last answer.
func renderForm(i humaninput.WaitingItem, note string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s %s -->\n# %s: an answer is needed\n\n%s\n", head, i.Run, i.ID, i.ID, quoteLines(i.Text))
	fmt.Fprintf(&b, "- Run: %s\n- Why: %s (%s)\n- Without an answer: %s\n", i.Run, i.Trigger, i.Severity, singleLine(i.Fallback))
	if !i.Deadline.IsZero() {
		fmt.Fprintf(&b, "- Until: %s\n", i.Deadline.UTC().Format(time.RFC3339))
	}
	if note != "" {
		fmt.Fprintf(&b, "- Not accepted: %s\n", singleLine(note))
	}
	fmt.Fprintf(&b, "\n%s Write it after the colon and save the file.\n\n%s\n", i.AnswerHint(), entry)
	return []byte(b.String())
}

// renderLateForm returns the form for a person who answered an item that is not open.
func renderLateForm(run nexus.RunID, id, why string) []byte {
	return fmt.Appendf(nil, "%s%s %s -->\n# %s: an answer is no longer needed\n\n%s.\n", head, run, id, singleLine(id), singleLine(why))
}

func quoteLines(text string) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		b.WriteString("> " + strings.TrimRight(l, "\r\n") + "\n")
	}
	return b.String()
}

// singleLine joins a text into one line.
func singleLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// parseFormHeader returns the run and the ID from the start of a form.
func parseFormHeader(data []byte) (run nexus.RunID, id string, ok bool) {
	first, _, _ := strings.Cut(string(data[:min(len(data), 1024)]), "\n")
	first, ok = strings.CutPrefix(strings.TrimRight(first, "\r"), head)
	if !ok {
		return "", "", false
	}
	first, ok = strings.CutSuffix(first, " -->")
	a, id, found := strings.Cut(first, " ")
	return nexus.RunID(a), id, ok && found && a != "" && id != ""
}

// writtenAnswer is an answer that a person wrote.
type writtenAnswer struct {
	Answer string `json:"answer"`
	By     string `json:"by,omitzero"`
}

// errWriting means that an answer is not finished.
var errWriting = errors.New("it is still being written")

// parseForm reads an answer from a form. An empty one means no answer yet.
func parseForm(data []byte) (writtenAnswer, error) {
	text, err := decodeText(data)
	if err != nil {
		return writtenAnswer{}, err
	}
	_, rest, found := cutEntry(text)
	switch {
	case !found:
		return writtenAnswer{}, errors.New("the line " + entry + " is gone")
	case strings.TrimSpace(rest) != "" && !strings.HasSuffix(rest, "\n"):
		return writtenAnswer{}, errWriting
	default:
		return writtenAnswer{Answer: strings.TrimSpace(rest)}, nil
	}
}

// cutEntry splits a form at the line in which the answer begins.
func cutEntry(text string) (before, after string, found bool) {
	for at := 0; ; {
		if strings.HasPrefix(text[at:], entry) {
			return text[:at], text[at+len(entry):], true
		}
		next := strings.IndexByte(text[at:], '\n')
		if next < 0 {
			return text, "", false
		}
		at += next + 1
	}
}

// parseAnswerFile reads an answer from a separate file, which contains its text or a JSON object.
func parseAnswerFile(data []byte) (writtenAnswer, error) {
	text, err := decodeText(data)
	if err != nil {
		return writtenAnswer{}, err
	}
	if !strings.HasSuffix(text, "\n") {
		return writtenAnswer{}, errWriting
	}
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") {
		return writtenAnswer{Answer: text}, nil
	}
	var s writtenAnswer
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return writtenAnswer{}, fmt.Errorf("it is not a JSON object with an answer: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return writtenAnswer{}, errors.New("it holds more than one JSON object")
	}
	if s.By = sanitize.RevealHidden(singleLine(s.By)); len(s.By) > 64 {
		return writtenAnswer{}, errors.New("the name in by is longer than 64 bytes")
	}
	return s, nil
}

func decodeText(data []byte) (string, error) {
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return "", errors.New("it is not UTF-8 text")
	}
	return strings.ReplaceAll(string(data), "\r\n", "\n"), nil
}

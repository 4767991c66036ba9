package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

const maxEdit = 8 << 20 // bytes of a file that can be edited

type edit struct {
	Old, New string
	All      bool
}

func editFile(e Env) Tool {
	return Tool{
		Name: "edit_file",
		Description: "Replace exact text in a file. old must be there once (give enough lines around it), or set all. " +
			"Edits apply in order, all or none.",
		Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"edits":{"type":"array","minItems":1,"maxItems":100,` +
			`"items":{"type":"object","properties":{"old":{"type":"string","minLength":1},"new":{"type":"string"},"all":{"type":"boolean"}},` +
			`"required":["old","new"],"additionalProperties":false}}},"required":["path","edits"],"additionalProperties":false}`),
		Run: func(_ context.Context, input json.RawMessage) (Output, error) {
			in, err := decode[struct {
				Path  string
				Edits []edit
			}](input)
			if err != nil {
				return Output{}, err
			}
			name, err := e.clean(in.Path, true)
			if err != nil {
				return Output{}, err
			}
			text, err := e.edit(name, in.Edits)
			return Output{Text: text, Changed: err == nil}, err
		},
	}
}

func (e Env) edit(name string, edits []edit) (string, error) {
	if !e.Writes {
		return "", errReadOnly
	}
	f, info, err := e.open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	if info.Size() > maxEdit {
		return "", fmt.Errorf("%s has %d bytes, too many to edit", name, info.Size())
	}
	data, err := io.ReadAll(io.LimitReader(f, maxEdit))
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	after, did, err := apply(string(data), edits)
	if err != nil {
		return "", fmt.Errorf("%s was not changed: %w", name, err)
	}
	if _, err := e.write(name, []byte(after)); err != nil {
		return "", err
	}
	return fmt.Sprintf("edited %s: %s", name, strings.Join(did, "; ")), nil
}

// apply returns the text after all edits, or what is wrong with the first one
// that does not fit. Line ends stay what they are.
func apply(text string, edits []edit) (after string, did []string, err error) {
	crlf := strings.Contains(text, "\r\n") && strings.Count(text, "\r\n") == strings.Count(text, "\n")
	for i, ed := range edits {
		if crlf {
			ed.Old, ed.New = toCRLF(ed.Old), toCRLF(ed.New)
		}
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

func toCRLF(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
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

// missed says why an edit's old text may not be there, with what is there
// instead.
func missed(text string, ed edit) string {
	if strings.TrimSpace(ed.New) != "" && strings.Contains(text, ed.New) {
		return "old is not there, and new already is: the edit may have been made before"
	}
	have, want := strings.Split(text, "\n"), strings.Split(strings.Trim(ed.Old, "\r\n"), "\n")
	at, equal := nearest(have, want)
	if at < 0 {
		return "old is not there, nor anything like it; read the file again"
	}
	end := min(at+len(want), len(have), at+20)
	shown := strings.Join(have[at:end], "\n")
	if equal == len(want) {
		return fmt.Sprintf("old is not there exactly; lines %d-%d differ from it in white space only. They are:\n%s", at+1, end, shown)
	}
	return fmt.Sprintf("old is not there. Nearest are lines %d-%d:\n%s", at+1, end, shown)
}

// nearest returns where have is most like want, and how many lines are equal
// there but for white space; -1 where nothing is alike.
func nearest(have, want []string) (at, equal int) {
	if len(have) > 20_000 || len(want) > 200 {
		return -1, 0
	}
	squeeze := func(lines []string) []string {
		out := make([]string, len(lines))
		for i, l := range lines {
			out[i] = strings.Join(strings.Fields(l), " ")
		}
		return out
	}
	h, w := squeeze(have), squeeze(want)
	at, best := -1, 0
	for i := range h {
		score, same := 0, 0
		for j := 0; j < len(w) && i+j < len(h); j++ {
			if h[i+j] == w[j] {
				same++
				score += 2 + 2*min(len(w[j]), 10)
			} else {
				score += alike(h[i+j], w[j])
			}
		}
		if score > best && (score > 2 || len(w) < 3) {
			at, best, equal = i, score, same
		}
	}
	return at, equal
}

// alike counts the words that two lines share, 0 when they are fewer than two
// thirds of b's.
func alike(a, b string) int {
	split := func(s string) []string {
		return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" (){}[].,:;=\"'", r) })
	}
	have, want := split(a), split(b)
	shared := 0
	for _, w := range want {
		if slices.Contains(have, w) {
			shared++
		}
	}
	if shared*3 < len(want)*2 {
		return 0
	}
	return shared
}

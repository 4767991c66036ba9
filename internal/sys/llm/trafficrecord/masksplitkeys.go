package trafficrecord

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// maskSplitKeys returns a stream of events with the keys masked that are split across several of them: a
// text of the model arrives in pieces, and a key may be cut at any byte. If the pieces of a text
// contain a key, the first piece gets the whole masked text, and the others are empty. Other
// streams are unchanged.
func maskSplitKeys(stream []byte, mask func([]byte) []byte) []byte {
	if mask == nil {
		return stream
	}
	lines := bytes.SplitAfter(stream, []byte("\n"))
	texts := map[string]*splitAnswerText{}
	values := make([]any, len(lines))
	for i, line := range lines {
		values[i] = parseEventLine(line)
		collectTextPieces(values[i], "", "", i, texts)
	}
	changed := map[int]bool{}
	for _, t := range texts {
		whole := t.joinPieces()
		if masked := string(mask([]byte(whole))); len(t.pieces) > 1 && masked != whole {
			for n, p := range t.pieces {
				p.setText(map[bool]string{true: masked}[n == 0])
				changed[p.line] = true
			}
		}
	}
	if len(changed) == 0 {
		return stream
	}
	var out bytes.Buffer
	for i, line := range lines {
		if changed[i] {
			line = encodeEventLine(line, values[i])
		}
		out.Write(line)
	}
	return out.Bytes()
}

// splitAnswerText is one text of an answer, as its pieces.
type splitAnswerText struct{ pieces []splitTextPiece }

type splitTextPiece struct {
	line int
	text string
	in   map[string]any
	name string
}

func (p splitTextPiece) setText(text string) { p.in[p.name] = text }

func (t *splitAnswerText) joinPieces() string {
	var b strings.Builder
	for _, p := range t.pieces {
		b.WriteString(p.text)
	}
	return b.String()
}

const dataPrefix = "data:"

// parseEventLine returns the data of an event, nil if the line is no event.
func parseEventLine(line []byte) any {
	data, ok := bytes.CutPrefix(line, []byte(dataPrefix))
	if !ok {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// encodeEventLine returns the line of an event with another value.
func encodeEventLine(line []byte, v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return line
	}
	end := line[len(bytes.TrimRight(line, "\r\n")):]
	return slices.Concat([]byte(dataPrefix+" "), bytes.TrimRight(b.Bytes(), "\n"), end)
}

// isTextField reports whether some API uses this name for pieces of a text.
func isTextField(name string) bool {
	switch name {
	case "text", "thinking", "partial_json", "signature", "content", "refusal", "reasoning", "reasoning_content", "arguments", "delta", "output_text":
		return true
	default:
		return false
	}
}

// collectTextPieces adds the pieces in a value to the texts that they belong to: those with the same path, in
// the same part of the answer.
func collectTextPieces(v any, at, part string, line int, texts map[string]*splitAnswerText) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			collectTextPieces(x, at+"[]", part, line, texts)
		}
	case map[string]any:
		for _, name := range []string{"index", "output_index", "content_index", "item_id"} {
			if n, ok := v[name]; ok {
				part += fmt.Sprintf(" %v", n)
			}
		}
		for name, x := range v {
			said, ok := x.(string)
			if !ok || !isTextField(name) {
				collectTextPieces(x, at+"."+name, part, line, texts)
				continue
			}
			key := at + "." + name + part
			if texts[key] == nil {
				texts[key] = &splitAnswerText{}
			}
			texts[key].pieces = append(texts[key].pieces, splitTextPiece{line, said, v, name})
		}
	}
}

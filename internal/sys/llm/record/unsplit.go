package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// unsplit returns a stream of events with the keys masked that are split across several of them: a
// text of the model arrives in pieces, and a key may be cut at any byte. If the pieces of a text
// contain a key, the first piece gets the whole masked text, and the others are empty. Other
// streams are unchanged.
func unsplit(stream []byte, mask func([]byte) []byte) []byte {
	if mask == nil {
		return stream
	}
	lines := bytes.SplitAfter(stream, []byte("\n"))
	texts := map[string]*text{}
	values := make([]any, len(lines))
	for i, line := range lines {
		values[i] = eventOf(line)
		gather(values[i], "", "", i, texts)
	}
	changed := map[int]bool{}
	for _, t := range texts {
		whole := t.whole()
		if masked := string(mask([]byte(whole))); len(t.pieces) > 1 && masked != whole {
			for n, p := range t.pieces {
				p.say(map[bool]string{true: masked}[n == 0])
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
			line = written(line, values[i])
		}
		out.Write(line)
	}
	return out.Bytes()
}

// text is one text of an answer, as its pieces.
type text struct{ pieces []piece }

type piece struct {
	line int
	text string
	in   map[string]any
	name string
}

func (p piece) say(text string) { p.in[p.name] = text }

func (t *text) whole() string {
	var b strings.Builder
	for _, p := range t.pieces {
		b.WriteString(p.text)
	}
	return b.String()
}

const prefix = "data:"

// eventOf returns the data of an event, nil if the line is no event.
func eventOf(line []byte) any {
	data, ok := bytes.CutPrefix(line, []byte(prefix))
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

// written returns the line of an event with another value.
func written(line []byte, v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return line
	}
	end := line[len(bytes.TrimRight(line, "\r\n")):]
	return slices.Concat([]byte(prefix+" "), bytes.TrimRight(b.Bytes(), "\n"), end)
}

// spoken reports whether some API uses this name for pieces of a text.
func spoken(name string) bool {
	switch name {
	case "text", "thinking", "partial_json", "signature", "content", "refusal", "reasoning", "reasoning_content", "arguments", "delta", "output_text":
		return true
	default:
		return false
	}
}

// gather adds the pieces in a value to the texts that they belong to: those with the same path, in
// the same part of the answer.
func gather(v any, at, part string, line int, texts map[string]*text) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			gather(x, at+"[]", part, line, texts)
		}
	case map[string]any:
		for _, name := range []string{"index", "output_index", "content_index", "item_id"} {
			if n, ok := v[name]; ok {
				part += fmt.Sprintf(" %v", n)
			}
		}
		for name, x := range v {
			said, ok := x.(string)
			if !ok || !spoken(name) {
				gather(x, at+"."+name, part, line, texts)
				continue
			}
			key := at + "." + name + part
			if texts[key] == nil {
				texts[key] = &text{}
			}
			texts[key].pieces = append(texts[key].pieces, piece{line, said, v, name})
		}
	}
}

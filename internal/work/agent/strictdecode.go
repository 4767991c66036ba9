package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	maxJSONDepth    = 32
	maxJSONProblems = 50
)

// DecodeStrictly decodes JSON that a model or a person submitted into v, so that it means the same to
// every reader: no key occurs twice, and every key is declared in the JSON Schema, letter by
// letter. It returns the problems, a sentence each; then v must not be used.
func DecodeStrictly(data, schema []byte, v any) []string {
	if !utf8.Valid(data) {
		return []string{"it is not UTF-8"}
	}
	d := json.NewDecoder(bytes.NewReader(data))
	r := strictSchemaDecoder{d: d, data: data}
	var s schemaKeys
	if err := json.Unmarshal(schema, &s); err != nil {
		return []string{"its schema is broken: " + err.Error()}
	}
	if err := r.readValue("", &s, 0); err != nil {
		return append(r.problems, r.locateError(err))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return append(r.problems, fmt.Sprintf("line %d: there is text after the end", r.lineOf(d.InputOffset())))
	}
	if len(r.problems) > 0 {
		return r.problems
	}
	if err := json.Unmarshal(data, v); err != nil {
		return []string{r.locateError(err)}
	}
	return nil
}

// schemaKeys is the part of a JSON Schema that declares the keys.
type schemaKeys struct {
	Properties map[string]*schemaKeys `json:"properties"`
	Items      *schemaKeys            `json:"items"`
}

type strictSchemaDecoder struct {
	d        *json.Decoder
	data     []byte
	problems []string
}

// readValue reads one value; s is nil if any value is allowed.
func (r *strictSchemaDecoder) readValue(path string, s *schemaKeys, depth int) error {
	t, err := r.d.Token()
	if err != nil {
		return err
	}
	if depth > maxJSONDepth {
		return errors.New("it is nested too deeply")
	}
	switch t {
	case json.Delim('{'):
		return r.readObject(path, s, depth)
	case json.Delim('['):
		var items *schemaKeys
		if s != nil {
			items = s.Items
		}
		for i := 0; r.d.More(); i++ {
			if err := r.readValue(fmt.Sprintf("%s[%d]", path, i), items, depth+1); err != nil {
				return err
			}
		}
		_, err = r.d.Token()
		return err
	default:
		return nil
	}
}

func (r *strictSchemaDecoder) readObject(path string, s *schemaKeys, depth int) error {
	seen := map[string]bool{}
	for r.d.More() {
		t, err := r.d.Token()
		if err != nil {
			return err
		}
		key, _ := t.(string) // the decoder guarantees a string key
		field := strings.TrimPrefix(path+"."+key, ".")
		if seen[key] {
			r.addProblem("%s is given twice", quoteField(field))
		}
		seen[key] = true
		var inner *schemaKeys
		if s != nil && s.Properties != nil {
			if inner = s.Properties[key]; inner == nil {
				known := slices.Sorted(maps.Keys(s.Properties))
				r.addProblem("unknown field %s; known there: %s", quoteField(field), strings.Join(known, ", "))
			}
		}
		if err := r.readValue(field, inner, depth+1); err != nil {
			return err
		}
	}
	_, err := r.d.Token()
	return err
}

func (r *strictSchemaDecoder) addProblem(format string, args ...any) {
	if len(r.problems) < maxJSONProblems {
		r.problems = append(r.problems, fmt.Sprintf("line %d: ", r.lineOf(r.d.InputOffset()))+fmt.Sprintf(format, args...))
	}
}

// locateError returns an error of encoding/json with its line.
func (r *strictSchemaDecoder) locateError(err error) string {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Sprintf("line %d: %s is a %s, which does not fit", r.lineOf(e.Offset), quoteField(e.Field), e.Value)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Sprintf("line %d: it ends too early", r.lineOf(int64(len(r.data))))
	}
	at := r.d.InputOffset()
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = e.Offset
	}
	return fmt.Sprintf("line %d: %s", r.lineOf(at), err)
}

func (r *strictSchemaDecoder) lineOf(offset int64) int {
	offset = max(0, min(offset, int64(len(r.data))))
	return bytes.Count(r.data[:offset], []byte("\n")) + 1
}

// quoteField returns a field's name for people; a key may be of any length.
func quoteField(field string) string {
	if len(field) > 100 {
		field = strings.ToValidUTF8(field[:100], "") + "..."
	}
	return fmt.Sprintf("%q", field)
}

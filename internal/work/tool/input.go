package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

const (
	maxInput = 8 << 20 // bytes of one call's input
	maxDepth = 64
)

func resolve(schema json.RawMessage) (*jsonschema.Resolved, error) {
	var s jsonschema.Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil, err
	}
	return s.Resolve(nil)
}

// bounds are words of a schema that only say what is checked anyway.
var bounds = regexp.MustCompile(`,"(?:additionalProperties":false|(?:min|max)(?:Length|Items|imum)":\d+)`)

// lean returns a schema as models are shown it: every request carries it, and
// what a call breaks it is told.
func lean(schema json.RawMessage) json.RawMessage { return bounds.ReplaceAll(schema, nil) }

// check reports what is wrong with an input. One that passes means the same
// to every reader: no key is there twice, and none is there that the schema
// does not name exactly.
func check(schema *jsonschema.Resolved, input json.RawMessage) error {
	value, err := parse(input)
	if err != nil {
		return err
	}
	if err := schema.Validate(value); err != nil {
		return errors.New(plain(err))
	}
	return nil
}

// plain returns the end of a validation error, which is what a model can act
// on.
func plain(err error) string {
	s := err.Error()
	s = strings.TrimPrefix(s, "validating root: ")
	return strings.ReplaceAll(s, "validating /properties/", "in ")
}

// parse reads one JSON object strictly.
func parse(input []byte) (any, error) {
	if len(input) > maxInput {
		return nil, fmt.Errorf("it has %d bytes, the most is %d", len(input), maxInput)
	}
	if !utf8.Valid(input) {
		return nil, errors.New("it is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(input))
	value, err := parseValue(d, 0)
	if err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("not JSON: there is something after the object")
	}
	if _, ok := value.(map[string]any); !ok {
		return nil, errors.New("it is not a JSON object")
	}
	return value, nil
}

func parseValue(d *json.Decoder, depth int) (any, error) {
	t, err := d.Token()
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	if depth > maxDepth {
		return nil, errors.New("it is nested too deep")
	}
	switch t {
	case json.Delim('{'):
		return parseObject(d, depth)
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := parseValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := d.Token()
		return list, err
	default:
		return t, nil
	}
}

func parseObject(d *json.Decoder, depth int) (any, error) {
	object, folded := map[string]any{}, map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		key, ok := t.(string)
		if !ok {
			return nil, fmt.Errorf("%v is not a key", t)
		}
		fold := strings.ToLower(strings.ToUpper(key)) // as a reader would that ignores case
		if folded[fold] {
			return nil, fmt.Errorf("the key %q is there twice", key)
		}
		folded[fold] = true
		if object[key], err = parseValue(d, depth+1); err != nil {
			return nil, err
		}
	}
	_, err := d.Token()
	return object, err
}

// decode reads a checked input into its type.
func decode[T any](input json.RawMessage) (T, error) {
	var v T
	d := json.NewDecoder(bytes.NewReader(input))
	d.DisallowUnknownFields()
	err := d.Decode(&v)
	return v, err
}

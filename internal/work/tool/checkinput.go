package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

const (
	maxInput = 8 << 20 // bytes of one call's input
	maxDepth = 64
)

func resolveSchema(schema json.RawMessage) (*jsonschema.Resolved, error) {
	var s jsonschema.Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil, err
	}
	return s.Resolve(nil)
}

// bounds matches the parts of a schema that are only for validation.
var bounds = regexp.MustCompile(`,"(?:additionalProperties":false|(?:min|max)(?:Length|Items|imum)":\d+)`)

// withoutBounds returns a schema in its form for models: every request contains it, and violations are
// reported.
func withoutBounds(schema json.RawMessage) json.RawMessage { return bounds.ReplaceAll(schema, nil) }

// checkInput validates an input, or returns its problems. It returns the input with the names of
// the tool itself, whatever the model called them. A valid input means the same to every
// reader: no key occurs twice, and all are exactly those of the schema.
func checkInput(tool string, schema *jsonschema.Resolved, input json.RawMessage) (map[string]any, json.RawMessage, error) {
	object, err := parseObject(input)
	if err != nil {
		return nil, nil, err
	}
	changed, err := translateInput(tool, schema.Schema(), object)
	if tool == "finish" && parseEmbeddedJSON(schema.Schema(), object) {
		changed = true
	}
	if err == nil && changed {
		input, err = json.Marshal(object)
	}
	if err != nil {
		return nil, nil, err
	}
	if err := schema.Validate(object); err != nil {
		return nil, nil, errors.New(validationMessage(err))
	}
	return object, input, nil
}

// FitInputToSchema returns an input with the names of the schema, if it fits the schema of a session's
// submission. An error explains the mismatch to a model.
func FitInputToSchema(schema, input json.RawMessage) (json.RawMessage, error) {
	s, err := resolveSchema(schema)
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	_, fits, err := checkInput("finish", s, input)
	return fits, err
}

// validationMessage returns the end of a validation error, which is the useful part for a model.
func validationMessage(err error) string {
	s := err.Error()
	s = strings.TrimPrefix(s, "validating root: ")
	return strings.ReplaceAll(s, "validating /properties/", "in ")
}

// parseObject parses one JSON object strictly.
func parseObject(input []byte) (map[string]any, error) {
	if len(input) > maxInput {
		return nil, fmt.Errorf("it has %d bytes, the maximum is %d", len(input), maxInput)
	}
	if !utf8.Valid(input) {
		return nil, errors.New("it is not UTF-8")
	}
	value, err := parseStrictJSON(input)
	if err != nil {
		return nil, err
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("it is not a JSON object")
	}
	return object, nil
}

// decodeInput decodes a checked input into its type.
func decodeInput[T any](input json.RawMessage) (T, error) {
	var v T
	d := json.NewDecoder(bytes.NewReader(input))
	d.DisallowUnknownFields()
	err := d.Decode(&v)
	return v, err
}

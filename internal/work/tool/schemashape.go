package tool

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// CoerceInputToSchema returns an input in the form of a schema, if it is unambiguous: a text in place
// of an object with one required field that is a text becomes that field. Models write "It may
// break." for {"text": "It may break."}. Any other input is returned unchanged.
func CoerceInputToSchema(schema, input json.RawMessage) json.RawMessage {
	object, err := parseObject(input)
	if err != nil {
		return input
	}
	s, err := resolveSchema(schema)
	if err != nil || !parseEmbeddedJSON(s.Schema(), object) {
		return input
	}
	data, err := json.Marshal(object)
	if err != nil {
		return input
	}
	return data
}

// parseEmbeddedJSON moves texts in an object, and in nested ones, into their fields, and reports whether
// there were any.
func parseEmbeddedJSON(s *jsonschema.Schema, in map[string]any) (changed bool) {
	for key, value := range in {
		if p := s.Properties[key]; p != nil {
			now, also := shapeValue(p, value)
			in[key], changed = now, changed || also
		}
	}
	return changed
}

func shapeValue(s *jsonschema.Schema, value any) (now any, changed bool) {
	switch v := value.(type) {
	case string:
		if field := soleTextField(s); field != "" {
			return map[string]any{field: v}, true
		}
	case map[string]any:
		return v, parseEmbeddedJSON(s, v)
	case []any:
		for i, one := range v {
			if s.Items == nil {
				break
			}
			element, also := shapeValue(s.Items, one)
			v[i], changed = element, changed || also
		}
	}
	return value, changed
}

// soleTextField returns the only required field of an object, if it is a text; "" for others.
func soleTextField(s *jsonschema.Schema) string {
	if s.Type != "object" || len(s.Required) != 1 {
		return ""
	}
	if p := s.Properties[s.Required[0]]; p == nil || p.Type != "string" {
		return ""
	}
	return s.Required[0]
}

// ValidPartOfInput returns the valid part of an input that a schema refused: fields that the schema
// does not name, and values of another type, are removed. Values beyond a limit stay. It
// returns nil if the input is no JSON object.
func ValidPartOfInput(schema, input json.RawMessage) json.RawMessage {
	object, err := parseObject(input)
	if err != nil {
		return nil
	}
	s, err := resolveSchema(schema)
	if err != nil {
		return nil
	}
	parseEmbeddedJSON(s.Schema(), object)
	kept, ok := salvageValue(s.Schema(), object)
	if !ok {
		return nil
	}
	data, err := json.Marshal(kept)
	if err != nil {
		return nil
	}
	return data
}

// salvageValue returns the valid part of a value, false if there is none.
func salvageValue(s *jsonschema.Schema, value any) (any, bool) {
	if len(s.Enum) > 0 {
		return value, slices.ContainsFunc(s.Enum, func(e any) bool { return reflect.DeepEqual(e, value) })
	}
	switch v := value.(type) {
	case map[string]any:
		return salvageObject(s, v), s.Type == "" || s.Type == "object"
	case []any:
		all := []any{}
		for _, one := range v {
			if s.Items == nil {
				all = append(all, one)
			} else if one, ok := salvageValue(s.Items, one); ok {
				all = append(all, one)
			}
		}
		return all, s.Type == "" || s.Type == "array"
	case string:
		return v, s.Type == "" || s.Type == "string"
	case bool:
		return v, s.Type == "" || s.Type == "boolean"
	case float64:
		return v, s.Type == "" || s.Type == "number" || s.Type == "integer" && v == float64(int64(v))
	default:
		return nil, false
	}
}

func salvageObject(s *jsonschema.Schema, object map[string]any) map[string]any {
	kept := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		p := s.Properties[key]
		if p == nil {
			p = s.AdditionalProperties
		}
		if p == nil || p.Not != nil {
			continue
		}
		if value, ok := salvageValue(p, object[key]); ok {
			kept[key] = value
		}
	}
	return kept
}

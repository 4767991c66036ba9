package providerhttp

import "encoding/json"

// IsStrictSchema reports whether OpenAI accepts the schema for strict mode: every object closed, every
// property required.
func IsStrictSchema(schema json.RawMessage) bool {
	var v any
	return json.Unmarshal(schema, &v) == nil && isClosedSchema(v)
}

func isClosedSchema(v any) bool {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if !isClosedSchema(e) {
				return false
			}
		}
	case map[string]any:
		for _, e := range v {
			if !isClosedSchema(e) {
				return false
			}
		}
		if v["type"] != "object" {
			return true
		}
		properties, _ := v["properties"].(map[string]any)
		required, _ := v["required"].([]any)
		return v["additionalProperties"] == false && len(required) == len(properties)
	}
	return true
}
